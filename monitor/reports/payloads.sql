-- name: shown
-- The beginning of a payload and its whole length. locks: nothing. rows: 0 or 1.
SELECT content_type, substring(payload FROM 1 FOR %(count)s), octet_length(payload)
  FROM comboio_message WHERE id = %(id)s;

-- name: whole
-- A payload byte for byte. locks: nothing. rows: 0 or 1.
SELECT content_type, payload FROM comboio_message WHERE id = %(id)s;
