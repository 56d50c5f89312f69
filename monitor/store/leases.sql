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

-- name: renew
-- By the worker's parent, whatever its children's interpreter does. One that ran out is not revived.
-- locks: the lease rows. rows: one per lease that is still held.
UPDATE comboio_lease l
   SET expires_at = clock_timestamp() + make_interval(secs => u.seconds), renewals = l.renewals + 1
  FROM unnest(%(fences)s::bigint[], %(seconds)s::float8[]) AS u(fence, seconds)
 WHERE l.fence = u.fence AND l.expires_at > clock_timestamp()
RETURNING l.fence, l.consumer;
