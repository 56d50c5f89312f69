-- name: find
-- A discarded message, to learn its lane before that is locked. locks: nothing. rows: 0 or 1
SELECT id, consumer, lane, session, reason, left(error, 300), cause, version
  FROM comboio_discarded WHERE id = %(id)s;

-- name: discard
-- Dead messages that shall not run. Keeps all that "restore" needs.
-- locks: the caller holds the lanes. rows: one for each message that was moved
WITH moved AS (
    DELETE FROM comboio_dead AS dead
     USING unnest(%(ids)s::bigint[], %(versions)s::bigint[], %(notes)s::text[])
           AS seen (id, version, note)
     WHERE dead.id = seen.id AND dead.version = seen.version
    RETURNING dead.*, seen.note
)
INSERT INTO comboio_discarded (id, consumer, lane, session, reason, error_class, error, cause,
                               attempts, dead_at, discarded_by, note)
SELECT id, consumer, lane, session, reason, error_class, error, cause, attempts, at,
       %(actor)s::text, note FROM moved
RETURNING id;

-- name: restore
-- A discarded message is dead again, with the time and error it died with; holds no session.
-- locks: the caller holds the lane. rows: 1, or 0 when it is no longer as seen
WITH moved AS (
    DELETE FROM comboio_discarded WHERE id = %(id)s AND version = %(version)s RETURNING *
)
INSERT INTO comboio_dead (id, consumer, lane, session, reason, error_class, error, cause, attempts, at)
SELECT id, consumer, lane, session, reason, error_class, error, cause, attempts, dead_at FROM moved;
