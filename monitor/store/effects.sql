-- name: begin
-- An effect is known before it is called: the same key and request on every attempt.
-- rows: 1, or 0 when an earlier attempt recorded it.
INSERT INTO comboio_effect (message_id, consumer, name, key, kind, request, request_hash, settle_seconds)
VALUES (%(message)s, %(consumer)s, %(name)s, %(key)s, %(kind)s, %(request)s::jsonb, %(request_hash)s,
        %(settle_seconds)s)
ON CONFLICT (message_id, name) DO NOTHING;

-- name: of_message
-- The effect of a message by name. locks: its row. rows: 0 or 1.
SELECT id, message_id, consumer, name, key, kind, request::text, request_hash, state, last_step, calls,
       result::text, error, conflict, decided_by, settled_at, version,
       extract(epoch FROM clock_timestamp() - called_at)::float8 AS called_for, settle_seconds,
       coalesce(key_until <= clock_timestamp(), false) AS is_key_old
  FROM comboio_effect WHERE message_id = %(message)s AND name = %(name)s FOR UPDATE;

-- name: by_id
-- One effect. locks: its row. rows: 0 or 1.
SELECT id, message_id, consumer, name, key, kind, request::text, request_hash, state, last_step, calls,
       result::text, error, conflict, decided_by, settled_at, version,
       extract(epoch FROM clock_timestamp() - called_at)::float8 AS called_for, settle_seconds,
       coalesce(key_until <= clock_timestamp(), false) AS is_key_old
  FROM comboio_effect WHERE id = %(id)s FOR UPDATE;

-- name: place
-- The lane and session of an effect's message, to be locked before the effect. rows: 0 or 1.
SELECT m.lane, m.session, m.id FROM comboio_effect e JOIN comboio_message m ON m.id = e.message_id
 WHERE e.id = %(id)s;

-- name: call
-- A call goes out now. rows: 1, or 0 when the effect was settled meanwhile (a callback).
UPDATE comboio_effect
   SET calls = calls + 1, called_at = clock_timestamp(), last_step = 'called',
       key_until = coalesce(key_until, clock_timestamp() + make_interval(secs => %(window)s)),
       version = nextval('comboio_version')
 WHERE id = %(id)s AND state = 'in progress';

-- name: step
-- What was learnt without settling it. rows: 1, or 0 when it was settled meanwhile.
UPDATE comboio_effect SET last_step = %(step)s, error = %(error)s, version = nextval('comboio_version')
 WHERE id = %(id)s AND state IN ('in progress', 'in doubt');

-- name: settle
-- An open effect gets its outcome, once. rows: 1, or 0 when another was faster.
UPDATE comboio_effect
   SET state = %(state)s, result = %(result)s::jsonb, reference = %(reference)s, error = %(error)s,
       last_step = %(step)s, decided_by = %(decided_by)s, settled_at = clock_timestamp(), probe_at = NULL,
       version = nextval('comboio_version')
 WHERE id = %(id)s AND state IN ('in progress', 'in doubt');

-- name: reopen
-- For certain not done: the next attempt calls again with the same key. rows: 1 or 0.
UPDATE comboio_effect
   SET state = 'in progress', last_step = 'not done', decided_by = %(decided_by)s, probe_at = NULL,
       version = nextval('comboio_version')
 WHERE id = %(id)s AND state IN ('in progress', 'in doubt');

-- name: doubt
-- Nobody may call again before the outcome is known. probe_seconds NULL: only a person finds out. rows: 1 or 0.
UPDATE comboio_effect
   SET state = 'in doubt', probe_at = clock_timestamp() + make_interval(secs => %(probe_seconds)s::float8),
       conflict = %(conflict)s, version = nextval('comboio_version')
 WHERE id = %(id)s AND state = 'in progress';

-- name: mark_conflict
-- Evidence contradicts the decision: told, never overwritten. rows: 1.
UPDATE comboio_effect SET conflict = %(conflict)s, version = nextval('comboio_version') WHERE id = %(id)s;

-- name: add_evidence
-- What was learnt, by whom. rows: 1.
INSERT INTO comboio_evidence (effect_id, source, verdict, actor, detail)
VALUES (%(id)s, %(source)s, %(verdict)s, %(actor)s, %(detail)s::jsonb);

-- name: unknown
-- The effect of a message whose outcome nobody knows. rows: 0 or more.
SELECT id, name FROM comboio_effect
 WHERE message_id = %(message)s AND state = 'in progress' AND last_step IN ('called', 'no answer') ORDER BY id;

-- name: set_aside
-- The message waits for the outcome of its effect, and its session with it. locks: the caller holds the lane.
-- rows: 1, or the caller must roll back.
WITH gone AS (
    DELETE FROM comboio_ready WHERE lane = %(lane)s AND session = %(session)s AND id = %(message)s RETURNING id
)
INSERT INTO comboio_in_doubt (id, consumer, lane, session, effect_id, attempts)
SELECT id, %(consumer)s, %(lane)s, %(session)s, %(effect)s, %(attempts)s FROM gone;

-- name: bring_back
-- The outcome is known: the message runs again at its place, and finds the recorded result.
-- locks: the caller holds the lane. rows: 1, or 0 when it was not in doubt (or still is, by another effect).
WITH back AS (
    DELETE FROM comboio_in_doubt d WHERE d.id = %(message)s
       AND NOT EXISTS (SELECT FROM comboio_effect e WHERE e.message_id = d.id AND e.state = 'in doubt')
    RETURNING id, consumer, lane, session
)
INSERT INTO comboio_ready (lane, session, id, sequence)
SELECT lane, session, id, comboio_put_back(consumer, id) FROM back;
