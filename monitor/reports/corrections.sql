-- name: of_message
-- The corrected texts of a message, the newest first. locks: nothing. rows: at most 20.
SELECT revision, at, actor, reason, octet_length(payload) FROM comboio_revision
 WHERE message_id = %(id)s ORDER BY revision DESC LIMIT 20;

-- name: owner
-- The source and consumer of a message: they say what is redacted. locks: nothing. rows: 0 or 1.
SELECT m.source, c.name FROM comboio_message m JOIN comboio_consumer c ON c.id = m.consumer WHERE m.id = %(id)s;

-- name: texts
-- What was accepted and what a correction made of it. locks: nothing. rows: 0 or 1.
SELECT m.payload, v.payload FROM comboio_message m
  JOIN comboio_revision v ON v.message_id = m.id AND v.revision = %(revision)s WHERE m.id = %(id)s;

-- name: current
-- What a message runs with now: the newest correction, or the text that was accepted. One byte more than is
-- shown says whether there is more. seen: the version of the dead letter, NULL when it is dead no more.
-- locks: nothing. rows: 0 or 1.
SELECT m.key, m.consumer, CASE WHEN m.session > 0 THEN m.session END, coalesce(v.revision, 1),
       coalesce(v.actor, ''), v.at, coalesce(v.content_type, m.content_type),
       substring(coalesce(v.payload, m.payload) FROM 1 FOR %(count)s + 1),
       octet_length(coalesce(v.payload, m.payload)), x.version, m.source, c.name
  FROM comboio_message m
  JOIN comboio_consumer c ON c.id = m.consumer
  LEFT JOIN LATERAL (SELECT v.revision, v.actor, v.at, v.content_type, v.payload FROM comboio_revision v
                      WHERE v.message_id = m.id ORDER BY v.message_id, v.revision DESC LIMIT 1) v ON true
  LEFT JOIN LATERAL (SELECT x.version FROM comboio_dead x WHERE x.id = m.id OFFSET 0) x ON true
 WHERE m.id = %(id)s;
