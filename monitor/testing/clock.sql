-- name: age_gates
-- Retries come nearer. rows: one per gate.
UPDATE comboio_gate SET retry_at = retry_at - make_interval(secs => %(seconds)s),
       since = since - make_interval(secs => %(seconds)s);

-- name: age_leases
-- Leases run out. rows: one per lease.
UPDATE comboio_lease SET taken_at = taken_at - make_interval(secs => %(seconds)s),
       expires_at = expires_at - make_interval(secs => %(seconds)s);

-- name: age_effects
-- Settle times, key windows and the next question to a provider come nearer. rows: one per effect.
UPDATE comboio_effect SET started_at = started_at - make_interval(secs => %(seconds)s),
       called_at = called_at - make_interval(secs => %(seconds)s),
       settled_at = settled_at - make_interval(secs => %(seconds)s),
       key_until = key_until - make_interval(secs => %(seconds)s),
       probe_at = probe_at - make_interval(secs => %(seconds)s);

-- name: age_in_doubt
-- rows: one per message in doubt.
UPDATE comboio_in_doubt SET at = at - make_interval(secs => %(seconds)s);

-- name: age_holds
-- Holds of consumers end. rows: one per consumer that is held for a time.
UPDATE comboio_consumer SET held_at = held_at - make_interval(secs => %(seconds)s),
       held_until = held_until - make_interval(secs => %(seconds)s) WHERE held_until IS NOT NULL;

-- name: age_keys
-- rows: one per remembered key.
UPDATE comboio_dedup SET seen_at = seen_at - make_interval(secs => %(seconds)s);

-- name: age_messages
-- rows: one per message.
UPDATE comboio_message SET received_at = received_at - make_interval(secs => %(seconds)s);

-- name: next_due
-- Seconds until the next thing that happens by time alone; a question that five times led nowhere is not waited for. rows: 1.
SELECT extract(epoch FROM min(due) - clock_timestamp())::float8 FROM (
    SELECT retry_at AS due FROM comboio_gate WHERE retry_at IS NOT NULL AND NOT held AND dead_message IS NULL
    UNION ALL SELECT l.expires_at FROM comboio_lease l
               JOIN comboio_ready r ON r.lane = l.lane AND r.session = l.session AND r.id = l.message_id
    UNION ALL SELECT probe_at FROM comboio_effect WHERE state = 'in doubt' AND probe_at IS NOT NULL
                  AND probes < 5
    UNION ALL SELECT held_until FROM comboio_consumer WHERE held AND held_until IS NOT NULL) waiting;
