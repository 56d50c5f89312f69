-- name: known
-- Every consumer row by name. rows: one per consumer ever declared, and row 0.
SELECT id, name, source, types, when_dead, policy::text, active FROM comboio_consumer;

-- name: lock
-- Only one process at a time may add consumers, so that ids stay dense. locks: until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('comboio consumers', 0));

-- name: add
-- A consumer that was never declared before, with its 256 lanes. rows: 256, or 0 when another was faster.
WITH added AS (
    INSERT INTO comboio_consumer (id, name, source, types, when_dead, policy)
    SELECT (SELECT max(id) + 1 FROM comboio_consumer), %(name)s, %(source)s, %(types)s::text[],
           %(when_dead)s, %(policy)s::jsonb
    ON CONFLICT (name) DO NOTHING
    RETURNING id
)
INSERT INTO comboio_lane SELECT id * 256 + n FROM added, generate_series(0, 255) n;

-- name: renew
-- What the running code says about a consumer. rows: 1.
UPDATE comboio_consumer
   SET source = %(source)s, types = %(types)s::text[], when_dead = %(when_dead)s,
       policy = %(policy)s::jsonb, active = true
 WHERE name = %(name)s;

-- name: retire
-- Consumers that the running code does not declare any more. rows: as many.
UPDATE comboio_consumer SET active = false WHERE active AND NOT name = ANY(%(names)s::text[]);

-- name: runnable
-- Consumers with something in their lanes that are not held by an operator; a hold with an end ends by itself.
-- A throttled one only when its next try is due. One index probe each: its cost does not grow with the
-- backlog. rows: at most one per id, whether its downstream was away, and whether it is throttled.
SELECT c.id, b.consumer IS NOT NULL, b.opened_at IS NOT NULL
  FROM comboio_consumer c
  LEFT JOIN comboio_breaker b ON b.consumer = c.id
 CROSS JOIN LATERAL (SELECT 1 FROM comboio_ready r
                      WHERE r.lane >= c.id * 256 AND r.lane < c.id * 256 + 256
                      ORDER BY r.lane, r.session, r.id LIMIT 1) waiting
 WHERE c.id = ANY(%(ids)s::smallint[])
   AND coalesce(b.probe_at <= statement_timestamp(), true)
   AND NOT (c.held AND (c.held_until IS NULL OR c.held_until > statement_timestamp()));

-- name: urgent
-- Consumers with something that a dead worker left: suspects of its crash that may run, and leases that ran
-- out. Both tables hold only what is in the way now. rows: one per consumer.
SELECT DISTINCT lane / 256 FROM comboio_gate
 WHERE solo_until IS NOT NULL AND NOT held AND dead_message IS NULL
   AND coalesce(retry_at <= statement_timestamp(), true)
 UNION
SELECT consumer FROM comboio_lease WHERE expires_at <= clock_timestamp();
