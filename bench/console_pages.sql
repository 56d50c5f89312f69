-- name: dead
-- The dead letter in the middle of the list. rows: 1.
SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'), id FROM comboio_dead
 ORDER BY at DESC, id DESC OFFSET (SELECT count(*) / 2 FROM comboio_dead) LIMIT 1;

-- name: messages
SELECT (max(id) / 2)::text, max(id) / 2 FROM comboio_message;

-- name: audit
SELECT (max(id) / 2)::text, max(id) / 2 FROM comboio_audit;

-- name: settled
SELECT (max(id) / 2)::text, max(id) / 2 FROM comboio_effect;

-- name: key
-- The key of an old message. rows: 1.
SELECT key FROM comboio_message WHERE id >= (SELECT max(id) / 3 FROM comboio_message) ORDER BY id LIMIT 1;

-- name: cause
-- The commonest cause. rows: 1.
SELECT cause FROM comboio_dead GROUP BY cause ORDER BY count(*) DESC LIMIT 1;
