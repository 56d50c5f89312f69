-- name: has_messages
-- Whether the inbox holds anything already. rows: 1.
SELECT (SELECT id FROM comboio_message ORDER BY id LIMIT 1) IS NOT NULL;

-- name: prepare
-- For this transaction: no limit of time, by index while the statistics are those of empty tables, memory for
-- the sums at the end, and chance that comes out the same for the same seed. rows: 1.
SELECT set_config('statement_timeout', '0', true), set_config('enable_seqscan', 'off', true),
       set_config('work_mem', '64MB', true), set_config('synchronous_commit', 'off', true), setseed(%(seed)s);

-- name: reserve
-- The ids of so many messages, in one piece. rows: 1, the first of them.
SELECT setval('comboio_message_id', nextval('comboio_message_id') + %(count)s::bigint - 1) - %(count)s::bigint + 1;

-- name: messages
-- rows: as many as are copied; so below.
COPY comboio_message (id, consumer, lane, session, source, origin, key, type, sequence, content_type, payload,
                      headers, correlation_id, traceparent, received_at, sent_at, not_before) FROM STDIN;

-- name: records
COPY comboio_dedup (consumer, key, message_id, fingerprint, hash_version, seen_at, duplicates, mismatches) FROM STDIN;

-- name: ready
COPY comboio_ready (lane, session, id, sequence) FROM STDIN;

-- name: waiting
COPY comboio_waiting (id, consumer, lane, session, due_at) FROM STDIN;

-- name: dead
COPY comboio_dead (id, consumer, lane, session, reason, error_class, error, cause, attempts, at) FROM STDIN;

-- name: discarded
COPY comboio_discarded (id, consumer, lane, session, reason, error_class, error, cause, attempts, dead_at, at,
                        discarded_by, note) FROM STDIN;

-- name: gates
COPY comboio_gate (session, lane, held, held_by, held_reason, dead_message, retry_at, head, attempts, error,
                   since) FROM STDIN;

-- name: sequences
COPY comboio_sequence (session, lane, next, gap_since, gap_before, alerted_at) FROM STDIN;

-- name: mismatches
COPY comboio_mismatch (message_id, consumer, fingerprint, hash_version, content_type, payload, headers, type, count,
                       first_at, last_at, verdict, verdict_by, verdict_at, verdict_reason, accepted_id) FROM STDIN;

-- name: sessions
-- Sessions that had none of their messages yet. rows: as many.
INSERT INTO comboio_session (id, consumer, key, created_at)
SELECT * FROM unnest(%(ids)s::bigint[], %(consumers)s::smallint[], %(keys)s::text[], %(times)s::timestamptz[])
ON CONFLICT DO NOTHING;

-- name: tidy
-- As autovacuum leaves it: statistics, and pages known to be visible to all. Outside of any transaction.
VACUUM (ANALYZE);
