-- name: release
-- Messages that their sender delayed until now become ready, at their places; workers are told at commit.
-- locks: their rows, skipping busy ones. rows: 1, with how many.
WITH due AS (
    SELECT id FROM comboio_waiting WHERE due_at <= clock_timestamp()
     ORDER BY due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM comboio_waiting w USING due WHERE w.id = due.id
    RETURNING w.lane, w.session, w.id, w.sequence
), ready AS (
    INSERT INTO comboio_ready (lane, session, id, sequence) SELECT lane, session, id, sequence FROM gone
    RETURNING id
)
SELECT count(*), pg_notify('comboio_ready', '') FROM ready HAVING count(*) > 0;
