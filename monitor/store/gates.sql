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
-- Messages of these sessions stood in the batch of a process that died: each runs alone up to its id.
-- locks: the caller holds the lanes; gates in the order of their sessions. rows: one per session.
INSERT INTO comboio_gate AS g (session, lane, solo_until)
SELECT * FROM unnest(%(sessions)s::bigint[], %(lanes)s::integer[], %(until)s::bigint[]) AS t(session, lane, until)
 ORDER BY session
ON CONFLICT (session) DO UPDATE SET solo_until = greatest(g.solo_until, EXCLUDED.solo_until);

-- name: are_solo
-- Which of these sessions run alone already. rows: one per session.
SELECT session FROM comboio_gate WHERE session = ANY(%(sessions)s::bigint[]) AND solo_until IS NOT NULL;

-- name: solos
-- Sessions of a consumer that must run alone and may run now; in any order, so that workers that die again and
-- again do not all begin with the same innocent one. rows: 0 to the limit.
SELECT session, lane FROM comboio_gate
 WHERE solo_until IS NOT NULL AND lane >= %(first)s AND lane < %(end)s
   AND NOT held AND dead_message IS NULL AND coalesce(retry_at <= statement_timestamp(), true)
 ORDER BY random() LIMIT %(most)s;

-- name: solo_heads
-- The gates of suspect sessions and their heads, read again under the lane locks. rows: one per gate that still
-- lets its session run.
SELECT g.session, g.lane, g.solo_until, g.attempts, g.head, h.id, CASE WHEN g.head = h.id THEN g.starts ELSE 0 END
  FROM comboio_gate g
  LEFT JOIN LATERAL (SELECT r.id FROM comboio_ready r WHERE r.lane = g.lane AND r.session = g.session
                      ORDER BY r.session, r.id LIMIT 1) h ON true
 WHERE g.session = ANY(%(sessions)s::bigint[]) AND g.solo_until IS NOT NULL
   AND NOT g.held AND g.dead_message IS NULL AND coalesce(g.retry_at <= statement_timestamp(), true);

-- name: solo_heads_numbered
-- The same for sessions that run by sequence number, with how far each has come. rows: the same.
SELECT g.session, g.lane, g.solo_until, g.attempts, g.head, h.id, CASE WHEN g.head = h.id THEN g.starts ELSE 0 END,
       h.sequence, s.next, coalesce(s.ended, false), s.gap_before
  FROM comboio_gate g
  LEFT JOIN LATERAL (SELECT r.id, r.sequence FROM comboio_ready r
                      WHERE r.lane = g.lane AND r.session = g.session AND r.sequence IS NOT NULL
                      ORDER BY r.session, r.sequence, r.id LIMIT 1) h ON true
  LEFT JOIN comboio_sequence s ON s.session = g.session
 WHERE g.session = ANY(%(sessions)s::bigint[]) AND g.solo_until IS NOT NULL
   AND NOT g.held AND g.dead_message IS NULL AND coalesce(g.retry_at <= statement_timestamp(), true);

-- name: count_deaths
-- So many starts of a suspect ended with the death of their worker. locks: the caller holds the lane. rows: 1.
UPDATE comboio_gate
   SET starts = %(deaths)s, attempts = CASE WHEN head = %(head)s THEN attempts ELSE 0 END, head = %(head)s
 WHERE session = %(session)s AND solo_until IS NOT NULL;

-- name: end_solos
-- Nothing of these sessions is suspect any more, or their suspect heads ran and ended no worker: those that failed
-- are named as cleared, because they are still there. Ends the solo turns of a session when no other id up to
-- solo_until is left, and the retry of a head that left the queue; drops the gate when no reason is left.
-- locks: the caller holds the lanes. rows: one per gate.
WITH found AS (
    SELECT g.*, EXISTS (SELECT FROM comboio_ready r WHERE r.lane = g.lane AND r.session = g.session
                           AND r.id = g.head) AS waits,
           EXISTS (SELECT FROM comboio_ready r WHERE r.lane = g.lane AND r.session = g.session
                     AND r.id <= g.solo_until AND r.id <> ALL(%(cleared)s::bigint[])) AS more
      FROM comboio_gate g WHERE g.session = ANY(%(sessions)s::bigint[]) AND g.solo_until IS NOT NULL
), left_over AS (
    SELECT f.session, f.waits, f.more,
           f.held OR f.dead_message IS NOT NULL OR (f.retry_at IS NOT NULL AND f.waits) AS shut
      FROM found f
), shortened AS (
    UPDATE comboio_gate g
       SET solo_until = CASE WHEN l.more THEN g.solo_until END, starts = 0,
           retry_at = CASE WHEN l.waits THEN g.retry_at END, head = CASE WHEN l.waits THEN g.head END,
           attempts = CASE WHEN l.waits THEN g.attempts ELSE 0 END,
           error = CASE WHEN l.waits OR g.dead_message IS NOT NULL THEN g.error END
      FROM left_over l WHERE l.session = g.session AND (l.more OR l.shut)
    RETURNING g.session
)
DELETE FROM comboio_gate g USING left_over l WHERE l.session = g.session AND NOT l.more AND NOT l.shut;

-- name: waiting_head
-- The head that a session waits for, with what it failed by. locks: nothing; the caller holds the lane.
-- rows: 1, or 0 when it does not wait for a retry of a message that is ready.
SELECT r.id, r.sequence, g.attempts, coalesce(g.error, ''), coalesce(m.is_last, false)
  FROM comboio_gate g
  JOIN comboio_ready r ON r.lane = g.lane AND r.session = g.session AND r.id = g.head
  LEFT JOIN comboio_message m ON m.id = r.id
 WHERE g.session = %(session)s AND g.retry_at IS NOT NULL;
