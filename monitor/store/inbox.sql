-- name: accept
-- Judges a batch and stores what is new, in one statement. $n of a row is its place in the batch.
-- The conditional insert into comboio_dedup is the only judge of "first"; it waits for a twin that
-- is still in flight and then sees its outcome, also after an unknown commit.
-- locks: dedup rows in the order of their keys, then new session rows in the order of their ids
-- (two batches in opposite order would deadlock). Touches neither lane nor gate: never waits for a handler.
-- One key may stand only once in a batch; "repeats" counts its equal copies.
-- rows: one per row of the batch, in no order.
WITH batch AS MATERIALIZED (
    SELECT nextval('comboio_message_id') AS id, t.*
      FROM unnest(%(consumer)b::smallint[], %(dedup_key)b::uuid[], %(fingerprint)b::bytea[],
                  %(repeats)b::integer[], %(redelivered)b::boolean[], %(session_hash)b::bigint[],
                  %(session_key)b::text[], %(source)b::text[], %(origin)b::text[], %(key)b::text[],
                  %(type)b::text[], %(sequence)b::bigint[], %(content_type)b::text[],
                  %(payload)b::bytea[], %(headers)b::text[], %(correlation_id)b::text[],
                  %(traceparent)b::text[], %(dead_reason)b::text[], %(dead_text)b::text[])
           WITH ORDINALITY
           AS t(consumer, dedup_key, fingerprint, repeats, redelivered, session_hash, session_key,
                source, origin, key, type, sequence, content_type, payload, headers,
                correlation_id, traceparent, dead_reason, dead_text, n)
     ORDER BY n
), judged AS (
    INSERT INTO comboio_dedup AS d (consumer, key, message_id, fingerprint, hash_version, duplicates)
    SELECT consumer, dedup_key, id, fingerprint, %(hash_version)b::smallint, repeats
      FROM batch ORDER BY consumer, dedup_key
    ON CONFLICT (consumer, key) DO UPDATE SET
        duplicates = d.duplicates
            + CASE WHEN d.fingerprint = EXCLUDED.fingerprint THEN 1 + EXCLUDED.duplicates ELSE 0 END,
        mismatches = d.mismatches
            + CASE WHEN d.fingerprint = EXCLUDED.fingerprint THEN 0 ELSE 1 + EXCLUDED.duplicates END
    RETURNING consumer, key, message_id, fingerprint, seen_at, duplicates
), verdicts AS MATERIALIZED (
    SELECT b.n, b.id, b.consumer, b.repeats, b.redelivered, b.source, j.message_id, j.seen_at, j.duplicates,
           j.message_id = b.id AS is_new,
           j.fingerprint = b.fingerprint AS is_same
      FROM batch b JOIN judged j ON j.consumer = b.consumer AND j.key = b.dedup_key
), fresh AS MATERIALIZED (
    -- A session's id is a hash. Should another session own it, flip one high bit: same lane, other row.
    SELECT b.*, CASE WHEN b.session_key = '' THEN -b.id
                     WHEN s.id IS NOT NULL AND (s.consumer <> b.consumer OR s.key <> b.session_key)
                     THEN b.session_hash # 2305843009213693952
                     ELSE b.session_hash END AS session,
           b.consumer * 256 + ((CASE WHEN b.session_key = '' THEN b.id ELSE b.session_hash END) & 255)::integer AS lane
      FROM batch b JOIN verdicts v ON v.n = b.n AND v.is_new
      LEFT JOIN comboio_session s ON s.id = b.session_hash AND b.session_key <> ''
), sessions AS (
    INSERT INTO comboio_session (id, consumer, key)
    SELECT DISTINCT ON (session) session, consumer, session_key
      FROM fresh WHERE session_key <> '' ORDER BY session
    ON CONFLICT DO NOTHING
), messages AS (
    INSERT INTO comboio_message (id, consumer, lane, session, source, origin, key, type, sequence,
                                 content_type, payload, headers, correlation_id, traceparent)
    SELECT id, consumer, lane, session, source, origin, key, type, sequence,
           content_type, payload, headers::jsonb, correlation_id, traceparent
      FROM fresh
), ready AS (
    INSERT INTO comboio_ready (lane, session, id)
    SELECT lane, session, id FROM fresh WHERE dead_reason = ''
), dead AS (
    INSERT INTO comboio_dead (id, consumer, lane, session, reason, error, cause)
    SELECT id, consumer, lane, session, dead_reason, dead_text, dead_reason || ': ' || source
      FROM fresh WHERE dead_reason <> ''
), known AS MATERIALIZED (
    SELECT v.*, CASE WHEN done.id IS NOT NULL THEN 'done' WHEN x.id IS NOT NULL THEN 'dead'
                     WHEN c.id IS NOT NULL THEN 'discarded' WHEN u.id IS NOT NULL THEN 'in_doubt'
                     ELSE 'ready' END AS state,
           CASE WHEN v.redelivered THEN 'redelivered' WHEN done.id IS NOT NULL THEN 'repeated'
                ELSE 'concurrent' END AS cause
      FROM verdicts v
      LEFT JOIN comboio_done done ON done.id = v.message_id
      LEFT JOIN comboio_dead x ON x.id = v.message_id
      LEFT JOIN comboio_discarded c ON c.id = v.message_id
      LEFT JOIN comboio_in_doubt u ON u.id = v.message_id
     WHERE NOT v.is_new OR v.repeats > 0
), duplicates AS (
    INSERT INTO comboio_duplicate (message_id, n, consumer, source, cause, gap_seconds)
    SELECT message_id, duplicates, consumer, source, cause,
           greatest(extract(epoch FROM clock_timestamp() - seen_at), 0)
      FROM known WHERE is_same AND duplicates <= 20
    ON CONFLICT DO NOTHING
), counters AS (
    INSERT INTO comboio_rollup_delta (consumer, name, label, value)
    SELECT consumer, 'received', 'new', count(*) FROM verdicts WHERE is_new GROUP BY consumer
    UNION ALL
    SELECT consumer, 'received', 'duplicate', sum(repeats + CASE WHEN is_new THEN 0 ELSE 1 END)
      FROM known WHERE is_same GROUP BY consumer
    UNION ALL
    SELECT consumer, 'duplicates', cause, sum(repeats + CASE WHEN is_new THEN 0 ELSE 1 END)
      FROM known WHERE is_same GROUP BY consumer, cause
), wake AS MATERIALIZED (
    SELECT pg_notify('comboio_ready', '') AS sent WHERE EXISTS (SELECT FROM fresh WHERE dead_reason = '')
)
SELECT v.n, v.message_id, v.is_new, v.is_same, v.seen_at, k.state, k.cause, (SELECT sent FROM wake) IS NULL
  FROM verdicts v LEFT JOIN known k ON k.n = v.n;

-- name: record_mismatch
-- Same key, other payload: one record per first message and fingerprint, counted.
-- A payload that was accepted as second is no mismatch any more: its accepted_id comes back.
-- locks: the mismatch row. rows: 1.
INSERT INTO comboio_mismatch AS m (message_id, consumer, fingerprint, hash_version, content_type,
                                   payload, headers, type, correlation_id, traceparent, count)
VALUES (%(message_id)s, %(consumer)s, %(fingerprint)s, %(hash_version)s, %(content_type)s,
        %(payload)s, %(headers)s::jsonb, %(type)s, %(correlation_id)s, %(traceparent)s, %(count)s)
ON CONFLICT (message_id, fingerprint) DO UPDATE SET
    count = m.count + CASE WHEN m.accepted_id IS NULL THEN EXCLUDED.count ELSE 0 END,
    last_at = now()
RETURNING id, count, verdict, accepted_id;

-- name: count_duplicate
-- One more delivery of a message that an operator accepted as second. locks: its dedup row. rows: 1.
WITH counted AS (
    UPDATE comboio_dedup SET duplicates = duplicates + %(count)s
     WHERE consumer = %(consumer)s AND key = %(dedup_key)s
    RETURNING message_id, duplicates, seen_at
), kept AS (
    INSERT INTO comboio_duplicate (message_id, n, consumer, source, cause, gap_seconds)
    SELECT message_id, duplicates, %(consumer)s, %(source)s, %(cause)s,
           greatest(extract(epoch FROM clock_timestamp() - seen_at), 0)
      FROM counted WHERE duplicates <= 20
    ON CONFLICT DO NOTHING
)
SELECT message_id, seen_at FROM counted;
