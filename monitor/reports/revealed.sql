-- name: message
-- A message with the beginning of its payload, its headers and its result. locks: nothing. rows: 0 or 1.
SELECT m.key, m.content_type, substring(m.payload FROM 1 FOR %(count)s), octet_length(m.payload),
       m.headers::text, (SELECT d.result::text FROM comboio_done d WHERE d.id = m.id)
  FROM comboio_message m WHERE m.id = %(id)s;

-- name: revisions
-- The newest corrected texts of a message, each with its beginning. locks: nothing. rows: at most 3.
SELECT revision, content_type, substring(payload FROM 1 FOR %(count)s), octet_length(payload)
  FROM comboio_revision WHERE message_id = %(id)s ORDER BY revision DESC LIMIT 3;

-- name: mismatch
-- The key of a mismatch and the headers of both deliveries. locks: nothing. rows: 0 or 1.
SELECT coalesce(f.key, ''), f.headers::text, m.headers::text
  FROM comboio_mismatch m LEFT JOIN comboio_message f ON f.id = m.message_id
 WHERE m.id = %(id)s;
