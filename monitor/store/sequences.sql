-- name: advance
-- Messages of numbered sessions left the queue, done or dead: the next number is expected, a gap is closed.
-- locks: the caller holds the lanes. rows: one for each session whose gap was alerted.
WITH passed AS (
    SELECT * FROM unnest(%(sessions)b::bigint[], %(lanes)b::integer[], %(next)b::bigint[], %(ended)b::boolean[])
                  AS t(session, lane, next, ended)
), alerted AS (
    SELECT s.session FROM comboio_sequence s JOIN passed p ON p.session = s.session
     WHERE s.alerted_at IS NOT NULL AND p.next > s.next
), stored AS (
    INSERT INTO comboio_sequence AS s (session, lane, next, ended) SELECT session, lane, next, ended FROM passed
    ON CONFLICT (session) DO UPDATE SET
        next = greatest(s.next, EXCLUDED.next), ended = s.ended OR EXCLUDED.ended, gap_since = NULL,
        gap_before = NULL, alerted_at = NULL, changed_at = now()
)
SELECT session FROM alerted;

-- name: note_gap
-- A number is missing: since when, and the lowest one that waits behind it.
-- locks: the caller holds the lane. rows: 1, or 0 when it was noted already.
INSERT INTO comboio_sequence AS s (session, lane, next, gap_since, gap_before)
VALUES (%(session)s, %(lane)s, %(next)s, now(), %(before)s)
ON CONFLICT (session) DO UPDATE SET
    gap_since = coalesce(s.gap_since, now()), gap_before = EXCLUDED.gap_before, changed_at = now()
 WHERE s.gap_since IS NULL OR s.gap_before IS DISTINCT FROM EXCLUDED.gap_before;

-- name: adopt
-- Messages that came while the consumer did not number its sessions yet: they run before the numbered ones.
-- locks: these ready rows. rows: one per such message.
UPDATE comboio_ready SET sequence = id - 9223372036854775807 - 1
 WHERE lane >= %(first)s AND lane < %(end)s AND sequence IS NULL;

-- name: overdue
-- Sessions of a consumer that have waited too long for a missing number and for which no alert is open yet.
-- locks: their rows, skipping busy ones. rows: 0 to 200.
UPDATE comboio_sequence s SET alerted_at = now()
  FROM (SELECT session FROM comboio_sequence
         WHERE lane >= %(first)s AND lane < %(end)s AND gap_since < now() - make_interval(secs => %(seconds)s)
           AND alerted_at IS NULL
         LIMIT 200 FOR UPDATE SKIP LOCKED) late
  JOIN comboio_session named ON named.id = late.session
 WHERE s.session = late.session
RETURNING s.session, named.key, s.next, s.gap_before;

-- name: first_waiting
-- The lowest number that waits in a session. locks: nothing; the caller holds the lane. rows: 0 or 1.
SELECT sequence, id FROM comboio_ready
 WHERE lane = %(lane)s AND session = %(session)s AND sequence >= 0
 ORDER BY lane, session, sequence, id LIMIT 1;

-- name: skip
-- The missing numbers are given up: the session goes on with the lowest that waits.
-- locks: the caller holds the lane. rows: 1, or 0 when the session does not wait for that number any more.
UPDATE comboio_sequence SET next = %(to)s, gap_since = NULL, gap_before = NULL, alerted_at = NULL, changed_at = now()
 WHERE session = %(session)s AND next = %(seen)s AND gap_since IS NOT NULL;
