-- name: bury
-- A message leaves the queue for the dead letters; its session's followers are untouched.
-- locks: the caller holds the lane. rows: 1, or the caller must roll back.
WITH gone AS (
    DELETE FROM comboio_ready WHERE lane = %(lane)s AND session = %(session)s AND id = %(id)s
    RETURNING id
)
INSERT INTO comboio_dead (id, consumer, lane, session, reason, error_class, error, cause, attempts)
SELECT id, %(consumer)s, %(lane)s, %(session)s, %(reason)s, %(error_class)s, %(error)s, %(cause)s,
       %(attempts)s FROM gone;

-- name: note_failure
-- One failed attempt in the timeline of its message. rows: 1.
INSERT INTO comboio_event (message_id, kind, attempt, detail)
VALUES (%(id)s, %(kind)s, %(attempt)s, %(detail)s::jsonb);
