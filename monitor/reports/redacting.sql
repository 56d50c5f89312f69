-- name: texts
-- The beginnings of what a message was accepted with and of its newest correction, and its source: what is
-- hidden in them is masked in its errors too. locks: nothing. rows: 0 or 1.
SELECT m.source, substring(m.payload FROM 1 FOR %(count)s),
       (SELECT substring(v.payload FROM 1 FOR %(count)s) FROM comboio_revision v
         WHERE v.message_id = m.id ORDER BY v.message_id, v.revision DESC LIMIT 1)
  FROM comboio_message m WHERE m.id = %(id)s;
