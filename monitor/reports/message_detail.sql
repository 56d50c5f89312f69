-- name: envelope
-- What came with the payload. locks: nothing. rows: 0 or 1.
SELECT content_type, headers::text, coalesce(correlation_id, ''), coalesce(traceparent, ''),
       is_last, sent_at, not_before
  FROM comboio_message WHERE id = %(id)s;

-- name: dead
-- Why a message is dead or, when a person discarded it, was. locks: nothing. rows: 0 or 1.
SELECT reason, error_class, error, cause, attempts, at, version, NULL::timestamptz, '', ''
  FROM comboio_dead WHERE id = %(id)s
UNION ALL
SELECT reason, error_class, error, cause, attempts, dead_at, version, at, discarded_by, note
  FROM comboio_discarded WHERE id = %(id)s;

-- name: done
-- How a message was processed. locks: nothing. rows: 0 or 1.
SELECT at, ms::float8, attempts, result::text FROM comboio_done WHERE id = %(id)s;

-- name: duplicates
-- The kept duplicates of a message. locks: nothing. rows: at most 20.
SELECT n, at, source, cause, gap_seconds FROM comboio_duplicate WHERE message_id = %(id)s ORDER BY n;

-- name: mismatches
-- Other payloads under the key of a message, the newest 50. locks: nothing. rows: at most 50.
SELECT id, first_at, count, verdict, accepted_id FROM comboio_mismatch
 WHERE message_id = %(id)s ORDER BY id DESC LIMIT 50;

-- name: dedup
-- The record that judged a key: all duplicates are counted there. locks: nothing. rows: 0 or 1.
SELECT message_id, duplicates, mismatches FROM comboio_dedup
 WHERE consumer = %(consumer)s AND key = %(key)s;

-- name: events
-- The newest 200 entries of a message's timeline. locks: nothing. rows: at most 200.
SELECT at, kind, actor, attempt, detail::text FROM comboio_event
 WHERE message_id = %(id)s ORDER BY id DESC LIMIT 200;

-- name: neighbours
-- The messages next to one in its session. locks: nothing. rows: at most twice the count.
(SELECT id FROM comboio_message WHERE session = %(session)s AND id < %(id)s
  ORDER BY id DESC LIMIT %(count)s)
UNION ALL
(SELECT id FROM comboio_message WHERE session = %(session)s AND id > %(id)s
  ORDER BY id LIMIT %(count)s);
