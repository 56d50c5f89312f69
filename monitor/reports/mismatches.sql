-- name: open
-- Mismatches without verdict, the latest first, by their partial index. locks: nothing.
-- rows: at most count.
(SELECT m.id, m.last_at FROM comboio_mismatch m
  WHERE NOT %(back)s AND m.verdict IS NULL AND (m.last_at, m.id) < (%(sort)s::timestamptz, %(id)s)
    AND (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
  ORDER BY m.last_at DESC, m.id DESC LIMIT %(count)s)
UNION ALL
(SELECT m.id, m.last_at FROM comboio_mismatch m
  WHERE %(back)s AND m.verdict IS NULL AND (m.last_at, m.id) > (%(sort)s::timestamptz, %(id)s)
    AND (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
  ORDER BY m.last_at, m.id LIMIT %(count)s)
ORDER BY 2 DESC, 1 DESC;

-- name: decided
-- Mismatches with a verdict, the newest first. locks: nothing. rows: at most count.
(SELECT m.id FROM comboio_mismatch m
  WHERE NOT %(back)s AND m.verdict IS NOT NULL AND m.id < %(id)s
    AND (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
  ORDER BY m.id DESC LIMIT %(count)s)
UNION ALL
(SELECT m.id FROM comboio_mismatch m
  WHERE %(back)s AND m.verdict IS NOT NULL AND m.id > %(id)s
    AND (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
  ORDER BY m.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: rows
-- Mismatches of a list with what is known of their first message. locks: nothing. rows: one per id.
SELECT m.id, m.message_id, m.consumer, coalesce(c.name, '?'), coalesce(f.key, ''),
       coalesce(f.origin, ''), m.type, f.session, coalesce(s.key, ''), m.count, m.first_at, m.last_at,
       m.verdict, coalesce(m.verdict_by, ''), m.verdict_at, coalesce(m.verdict_reason, ''),
       m.accepted_id, m.version
  FROM comboio_mismatch m
  LEFT JOIN comboio_consumer c ON c.id = m.consumer
  LEFT JOIN LATERAL (SELECT f.key, f.origin, CASE WHEN f.session > 0 THEN f.session END AS session
                       FROM comboio_message f WHERE f.id = m.message_id OFFSET 0) f ON true
  LEFT JOIN LATERAL (SELECT s.key FROM comboio_session s WHERE s.id = f.session OFFSET 0) s ON true
 WHERE m.id = ANY (%(ids)s::bigint[]);

-- name: sides
-- Both deliveries of a mismatch but their payloads. locks: nothing. rows: 0 or 1.
SELECT f.received_at, coalesce(f.type, ''), coalesce(f.content_type, ''), coalesce(f.correlation_id, ''),
       coalesce(f.traceparent, ''), f.headers::text,
       m.first_at, m.type, m.content_type, coalesce(m.correlation_id, ''), coalesce(m.traceparent, ''),
       m.headers::text, encode(m.fingerprint, 'hex'), m.count
  FROM comboio_mismatch m LEFT JOIN comboio_message f ON f.id = m.message_id
 WHERE m.id = %(id)s;

-- name: first_judged
-- The fingerprint of the first payload of a key, and how often that was delivered. locks: nothing. rows: 0 or 1.
SELECT encode(fingerprint, 'hex'), duplicates + 1 FROM comboio_dedup WHERE consumer = %(consumer)s AND key = %(key)s;

-- name: payloads
-- Both payloads of a mismatch; a body has at most the source's limit. locks: nothing. rows: 0 or 1.
SELECT coalesce(f.content_type, ''), f.payload, m.content_type, m.payload, coalesce(c.name, '')
  FROM comboio_mismatch m LEFT JOIN comboio_consumer c ON c.id = m.consumer
  LEFT JOIN comboio_message f ON f.id = m.message_id
 WHERE m.id = %(id)s;
