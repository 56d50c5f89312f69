-- name: take
-- A session for one process, under a new fence. Only a free one, or one whose lease ran out by the clock of
-- the database, is given. starts counts how often this message began without an end.
-- locks: the lease row; the caller holds the lane. rows: 1, or 0 when another holds it.
INSERT INTO comboio_lease AS l (session, lane, consumer, message_id, slot, expires_at)
VALUES (%(session)s, %(lane)s, %(consumer)s, %(message)s, %(slot)s,
        clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (session) DO UPDATE SET
    lane = EXCLUDED.lane, consumer = EXCLUDED.consumer, slot = EXCLUDED.slot, fence = EXCLUDED.fence,
    renewals = 0, taken_at = clock_timestamp(), expires_at = EXCLUDED.expires_at,
    starts = CASE WHEN l.message_id = EXCLUDED.message_id THEN l.starts + 1 ELSE 1 END,
    message_id = EXCLUDED.message_id
 WHERE l.expires_at <= clock_timestamp()
RETURNING fence, starts;

-- name: expired
-- Sessions of a consumer whose holder is gone: they come before the backlog, or a takeover would wait for it.
-- locks: nothing. rows: 0 to 10, in any order, so that one that cannot be taken hides no other.
SELECT session, lane FROM comboio_lease
 WHERE consumer = %(consumer)s AND expires_at <= clock_timestamp() ORDER BY random() LIMIT 10;

-- name: forget
-- A lease that ran out and whose message left the queue meanwhile. locks: the caller holds the lane. rows: 1 or 0.
DELETE FROM comboio_lease WHERE session = %(session)s AND expires_at <= clock_timestamp();

-- name: shut
-- Which of these sessions another process works on, or wait for the outcome of an effect. rows: 0 to all.
SELECT session FROM comboio_lease WHERE session = ANY(%(sessions)s::bigint[]) AND expires_at > clock_timestamp()
UNION SELECT session FROM comboio_in_doubt WHERE session = ANY(%(sessions)s::bigint[]);

-- name: holds
-- Whether the lease is still ours, kept so until the transaction ends. locks: the lease row, shared. rows: 1 or 0.
SELECT 1 FROM comboio_lease
 WHERE session = %(session)s AND fence = %(fence)s AND expires_at > clock_timestamp() FOR SHARE;

-- name: end
-- The last act of a holder. locks: the lease row. rows: 1, or the caller must roll back: the lease was lost.
DELETE FROM comboio_lease
 WHERE session = %(session)s AND fence = %(fence)s AND expires_at > clock_timestamp();

-- name: give_back
-- By a holder that lost its connection, and whose handler is over: nobody needs to wait for the rest of the
-- time. A handler that began counts as a start, one that never did does not.
-- locks: the lease row, so it waits for an earlier commit of ours. rows: 1, or 0 when that ended it.
UPDATE comboio_lease
   SET expires_at = least(expires_at, clock_timestamp() + make_interval(secs => %(seconds)s)),
       starts = greatest(starts - %(unstarted)s, 0)
 WHERE session = %(session)s AND fence = %(fence)s;

-- name: renew
-- By the worker's parent, whatever its children's interpreter does. One that ran out is not revived. One
-- that is locked, by its holder's last act or a successor, is left out: it must not cost the others theirs.
-- locks: the lease rows that are free. rows: one per lease that was prolonged.
WITH free AS MATERIALIZED (
    SELECT l.session, u.seconds
      FROM unnest(%(fences)s::bigint[], %(seconds)s::float8[]) AS u(fence, seconds)
      JOIN comboio_lease l ON l.fence = u.fence
     WHERE l.expires_at > clock_timestamp()
       FOR UPDATE OF l SKIP LOCKED
)
UPDATE comboio_lease l
   SET expires_at = clock_timestamp() + make_interval(secs => free.seconds), renewals = l.renewals + 1
  FROM free WHERE l.session = free.session
RETURNING l.fence, l.consumer;
