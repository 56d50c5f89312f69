-- name: fail
-- A head failed: its session waits until the retry is due. Attempts count on when the head is the same.
-- locks: the caller holds the lane. rows: 1, the number of attempts so far.
INSERT INTO comboio_gate AS g (session, lane, retry_at, head, attempts, error)
VALUES (%(session)s, %(lane)s, statement_timestamp() + make_interval(secs => %(delay_seconds)s),
        %(head)s, %(attempts)s, %(error)s)
ON CONFLICT (session) DO UPDATE SET
    retry_at = EXCLUDED.retry_at, head = EXCLUDED.head, attempts = EXCLUDED.attempts, error = EXCLUDED.error,
    since = CASE WHEN g.head = EXCLUDED.head THEN g.since ELSE now() END;

-- name: drop_retry
-- The head left the queue: its retry is no reason any more. Other reasons stay.
-- locks: the caller holds the lane. rows: 1, or 0 when there was no gate.
WITH kept AS (
    UPDATE comboio_gate SET retry_at = NULL, head = NULL, attempts = 0, starts = 0, error = NULL
     WHERE session = %(session)s AND (held OR dead_message IS NOT NULL OR solo_until IS NOT NULL)
    RETURNING session
)
DELETE FROM comboio_gate WHERE session = %(session)s
   AND NOT held AND dead_message IS NULL AND solo_until IS NULL;

-- name: hold_for_dead
-- Policy "hold": the head is dead, the session waits for a person.
-- locks: the caller holds the lane. rows: 1.
INSERT INTO comboio_gate AS g (session, lane, dead_message, error)
VALUES (%(session)s, %(lane)s, %(dead_message)s, %(error)s)
ON CONFLICT (session) DO UPDATE SET
    dead_message = EXCLUDED.dead_message, error = EXCLUDED.error, since = now(),
    retry_at = NULL, head = NULL, attempts = 0, starts = 0, version = nextval('comboio_version');

-- name: suspect
-- A message of this session stood in the batch of a process that died: run alone up to this id.
-- locks: the caller holds the lane. rows: 1.
INSERT INTO comboio_gate AS g (session, lane, solo_until)
VALUES (%(session)s, %(lane)s, %(solo_until)s)
ON CONFLICT (session) DO UPDATE SET solo_until = greatest(g.solo_until, EXCLUDED.solo_until);

-- name: solos
-- Sessions of a consumer that must run alone and may run now. rows: 0 to 50.
SELECT session, lane FROM comboio_gate
 WHERE solo_until IS NOT NULL AND lane >= %(first)s AND lane < %(end)s
   AND NOT held AND dead_message IS NULL AND coalesce(retry_at <= statement_timestamp(), true)
 LIMIT 50;

-- name: solo_head
-- The gate of a suspect session and its head, read again under the lane lock. rows: 1, or 0 when the gate is gone.
SELECT g.solo_until, g.attempts, g.head, h.id
  FROM comboio_gate g
  LEFT JOIN LATERAL (SELECT r.id FROM comboio_ready r WHERE r.lane = g.lane AND r.session = g.session
                      ORDER BY r.session, r.id LIMIT 1) h ON true
 WHERE g.session = %(session)s AND g.solo_until IS NOT NULL
   AND NOT g.held AND g.dead_message IS NULL AND coalesce(g.retry_at <= statement_timestamp(), true);

-- name: count_start
-- One more start of a suspect, counted durably before it runs (on a connection of its own, committed at
-- once). Its first start was the batch in which the process died. rows: 1.
UPDATE comboio_gate
   SET starts = CASE WHEN head = %(head)s AND starts > 0 THEN starts + 1 ELSE 2 END,
       attempts = CASE WHEN head = %(head)s THEN attempts ELSE 0 END,
       head = %(head)s
 WHERE session = %(session)s AND solo_until IS NOT NULL
RETURNING starts;

-- name: end_solo
-- Nothing of the session is suspect any more, or its suspect head went through. Ends the solo turn when
-- no id up to solo_until is left; drops the gate when no reason is left.
-- locks: the caller holds the lane. rows: 1.
WITH left_over AS (
    SELECT g.session, g.held OR g.dead_message IS NOT NULL OR g.retry_at IS NOT NULL AS shut,
           EXISTS (SELECT FROM comboio_ready r WHERE r.lane = g.lane AND r.session = g.session
                     AND r.id <= g.solo_until) AS more
      FROM comboio_gate g WHERE g.session = %(session)s AND g.solo_until IS NOT NULL
), shortened AS (
    UPDATE comboio_gate g SET solo_until = CASE WHEN l.more THEN g.solo_until END, starts = 0
      FROM left_over l WHERE l.session = g.session AND (l.more OR l.shut)
    RETURNING g.session
)
DELETE FROM comboio_gate g USING left_over l WHERE l.session = g.session AND NOT l.more AND NOT l.shut;
