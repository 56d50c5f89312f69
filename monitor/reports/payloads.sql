-- name: shown
-- The beginning of a payload and its whole length. locks: nothing. rows: 0 or 1.
SELECT m.content_type, substring(m.payload FROM 1 FOR %(count)s), octet_length(m.payload), m.source, c.name
  FROM comboio_message m JOIN comboio_consumer c ON c.id = m.consumer WHERE m.id = %(id)s;

-- name: whole
-- A payload byte for byte. locks: nothing. rows: 0 or 1.
SELECT content_type, payload FROM comboio_message WHERE id = %(id)s;
