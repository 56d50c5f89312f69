-- name: write
-- One line of the record of human acts, in the transaction of the act. rows: 1
INSERT INTO comboio_audit (actor, verb, object_kind, object_id, reason, detail)
VALUES (%(actor)s, %(verb)s, %(object_kind)s, %(object_id)s, %(reason)s, %(detail)s::jsonb);

-- name: write_many
-- A bulk verb leaves one line for each object it touched. rows: one for each id
INSERT INTO comboio_audit (actor, verb, object_kind, object_id, reason)
SELECT %(actor)s::text, %(verb)s::text, %(object_kind)s::text, id, %(reason)s::text
  FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS touched (id, n) ORDER BY n;

-- name: last
-- Who did the newest act on an object, for the sentence that refuses the next person. rows: 0 or 1
SELECT actor, verb, at FROM comboio_audit
 WHERE object_kind = %(object_kind)s AND object_id = %(object_id)s
 ORDER BY id DESC LIMIT 1;
