-- name: find
-- A mismatch with what a verdict needs of its first message. rows: 0 or 1; no first: its body was purged
SELECT mismatch.id, mismatch.message_id, mismatch.consumer, mismatch.fingerprint, mismatch.verdict,
       mismatch.verdict_by, mismatch.verdict_at, mismatch.version, first.session, first.origin,
       first.key
  FROM comboio_mismatch AS mismatch
  LEFT JOIN comboio_message AS first ON first.id = mismatch.message_id
 WHERE mismatch.id = %(id)s;

-- name: next_message_id
-- The id of the message that a second payload becomes. rows: 1
SELECT nextval('comboio_message_id');

-- name: remember
-- The key of the second message; a sender may have used that very key. rows: 1, or 0 when it is taken
INSERT INTO comboio_dedup (consumer, key, message_id, fingerprint, hash_version)
SELECT consumer, %(dedup_key)s::uuid, %(new_id)s, fingerprint, hash_version
  FROM comboio_mismatch WHERE id = %(id)s
ON CONFLICT (consumer, key) DO NOTHING;

-- name: decide
-- The verdict; the version decides between two people. locks: the mismatch row.
-- rows: 1, or 0 when it is no longer as seen
UPDATE comboio_mismatch
   SET verdict = %(verdict)s, verdict_by = %(actor)s, verdict_at = now(),
       verdict_reason = %(reason)s, accepted_id = %(accepted_id)s::bigint,
       version = nextval('comboio_version')
 WHERE id = %(id)s AND verdict IS NULL AND version = %(seen)s;

-- name: accept
-- The second payload as a message of its own at the end of the first one's session.
-- locks: the caller holds the lane. rows: 1
WITH message AS (
    INSERT INTO comboio_message (id, consumer, lane, session, source, origin, key, type, sequence,
                                 content_type, payload, headers, correlation_id, traceparent)
    SELECT %(new_id)s::bigint, first.consumer, %(lane)s::integer, %(session)s::bigint, first.source,
           first.origin, %(key)s::text, second.type, NULL, second.content_type, second.payload,
           second.headers, second.correlation_id, second.traceparent
      FROM comboio_mismatch AS second
      JOIN comboio_message AS first ON first.id = second.message_id
     WHERE second.id = %(id)s
    RETURNING lane, session, id, consumer
)
INSERT INTO comboio_ready (lane, session, id, sequence)
SELECT m.lane, m.session, m.id,
       CASE WHEN c.policy ->> 'numbered' IS NOT NULL THEN m.id - 9223372036854775807 - 1 END
  FROM message m JOIN comboio_consumer c ON c.id = m.consumer;
