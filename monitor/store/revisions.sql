-- name: newest
-- What a message runs with now, and as the how manieth text. locks: nothing. rows: 0 or 1; none: it was purged.
SELECT coalesce(v.revision, 1), coalesce(v.payload, m.payload), coalesce(v.content_type, m.content_type),
       coalesce(v.actor, ''), v.at, m.source
  FROM comboio_message m
  LEFT JOIN LATERAL (SELECT * FROM comboio_revision v WHERE v.message_id = m.id
                      ORDER BY v.revision DESC LIMIT 1) v ON true
 WHERE m.id = %(id)s;

-- name: add
-- A corrected text of a message; the accepted one stays as it came. locks: nothing; the caller holds the lane.
-- rows: 1, or 0 when another correction was faster.
INSERT INTO comboio_revision (message_id, revision, payload, content_type, fingerprint, hash_version, actor, reason)
VALUES (%(id)s, %(revision)s, %(payload)s, %(content_type)s, %(fingerprint)s, %(hash_version)s, %(actor)s,
        %(reason)s)
ON CONFLICT DO NOTHING;
