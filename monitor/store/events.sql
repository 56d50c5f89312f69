-- name: write_many
-- One line in the timeline of each message, in the transaction of what it tells. rows: one for each id
INSERT INTO comboio_event (message_id, kind, actor, detail)
SELECT id, %(kind)s::text, %(actor)s::text, detail::jsonb
  FROM unnest(%(ids)s::bigint[], %(details)s::text[]) WITH ORDINALITY AS told (id, detail, n)
 ORDER BY n;

-- name: last_act
-- What a person last did to a message, for the sentence that refuses the next one. rows: 0 or 1
SELECT actor, kind, at FROM comboio_event
 WHERE message_id = %(id)s AND actor <> ''
 ORDER BY id DESC LIMIT 1;

-- name: state
-- Where a message is now. rows: 0 when there is no such message, else 1
SELECT state FROM comboio_message_state WHERE id = %(id)s;
