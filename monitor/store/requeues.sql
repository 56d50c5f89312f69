-- name: find
-- A dead message, to learn its lane before that is locked. locks: nothing. rows: 0 or 1
SELECT id, consumer, lane, session, reason, left(error, 300), cause, version FROM comboio_dead WHERE id = %(id)s;

-- name: of_cause
-- The dead of one cause that existed when the page was made, oldest first. rows: at most the limit
SELECT id, consumer, lane, session, reason, left(error, 300), cause, version FROM comboio_dead
 WHERE cause = %(cause)s AND version <= %(up_to_version)s
 ORDER BY id LIMIT %(limit)s;

-- name: requeue
-- Dead messages go back to their places. A row that is gone, or died again since it was seen, stays
-- as it is. late: one of the next followers is already done, so the message runs behind its place.
-- locks: the caller holds the lanes. rows: one for each message that was moved
WITH moved AS (
    DELETE FROM comboio_dead AS dead
     USING unnest(%(ids)s::bigint[], %(versions)s::bigint[]) AS seen (id, version)
     WHERE dead.id = seen.id AND dead.version = seen.version
    RETURNING dead.id, dead.consumer, dead.lane, dead.session, dead.reason, dead.cause
), ready AS (
    INSERT INTO comboio_ready (lane, session, id, sequence)
    SELECT lane, session, id, comboio_put_back(consumer, id) FROM moved
)
SELECT moved.id, moved.consumer, moved.session, moved.reason, moved.cause, EXISTS (
           SELECT FROM (SELECT id FROM comboio_message AS message
                         WHERE message.session = moved.session AND message.id > moved.id
                         ORDER BY message.id LIMIT 20) AS follower
             JOIN comboio_done AS done ON done.id = follower.id)
  FROM moved ORDER BY moved.id;

-- name: deliveries
-- Stored deliveries of messages that are still dead as seen, to be routed again.
-- locks: nothing; the caller holds the lanes. rows: one for each that is, and whose body is kept
SELECT message.id, message.source, message.origin, message.key, message.type,
       coalesce(session.key, ''), message.sequence, message.payload, message.content_type,
       message.headers::text, message.correlation_id, message.traceparent
  FROM unnest(%(ids)s::bigint[], %(versions)s::bigint[]) AS seen (id, version)
  JOIN comboio_dead AS dead ON dead.id = seen.id AND dead.version = seen.version
  JOIN comboio_message AS message ON message.id = dead.id
  LEFT JOIN comboio_session AS session ON session.id = message.session
 ORDER BY message.id;
