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
                  %(traceparent)b::text[], %(dead_reason)b::text[], %(dead_text)b::text[],
                  %(is_numbered)b::boolean[], %(is_last)b::boolean[], %(not_before)b::timestamptz[],
                  %(sent_at)b::timestamptz[], %(window_seconds)b::float8[], %(old_is_dead)b::boolean[])
           WITH ORDINALITY
           AS t(consumer, dedup_key, fingerprint, repeats, redelivered, session_hash, session_key,
                source, origin, key, type, sequence, content_type, payload, headers,
                correlation_id, traceparent, given_reason, given_text, is_numbered, is_last, not_before,
                sent_at, window_seconds, old_is_dead, n)
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
           j.fingerprint = b.fingerprint AS is_same,
           -- Older than our memory by its sender's clock: an earlier copy would have been forgotten.
           j.message_id = b.id AND coalesce(b.sent_at < now() - make_interval(secs => b.window_seconds), false) AS is_old,
           b.old_is_dead
      FROM batch b JOIN judged j ON j.consumer = b.consumer AND j.key = b.dedup_key
), fresh AS MATERIALIZED (
    -- A session's id is a hash. Should another session own it, flip one high bit: same lane, other row.
    SELECT b.*, CASE WHEN b.session_key = '' THEN -b.id
                     WHEN s.id IS NOT NULL AND (s.consumer <> b.consumer OR s.key <> b.session_key)
                     THEN b.session_hash # 2305843009213693952
                     ELSE b.session_hash END AS session,
           b.consumer * 256 + ((CASE WHEN b.session_key = '' THEN b.id ELSE b.session_hash END) & 255)::integer AS lane,
           CASE WHEN b.given_reason = '' AND v.is_old AND b.old_is_dead THEN 'stale'
                ELSE b.given_reason END AS dead_reason,
           CASE WHEN b.given_reason = '' AND v.is_old AND b.old_is_dead
                THEN 'Its sender dates it ' || b.sent_at || '; that is before anything that is still remembered, so it may '
                     || 'be a copy of one that was done. Requeue it if it is none. Where the dates of a sender are old on '
                     || 'purpose, say too_old = "accept" in the settings of the source.'
                ELSE b.given_text END AS dead_text,
           CASE WHEN NOT b.is_numbered THEN NULL
                WHEN b.session_key = '' THEN b.id - 9223372036854775807 - 1 ELSE b.sequence END AS place,
           coalesce(b.not_before > now(), false) AS is_delayed
      FROM batch b JOIN verdicts v ON v.n = b.n AND v.is_new
      LEFT JOIN comboio_session s ON s.id = b.session_hash AND b.session_key <> ''
), sessions AS (
    INSERT INTO comboio_session (id, consumer, key)
    SELECT DISTINCT ON (session) session, consumer, session_key
      FROM fresh WHERE session_key <> '' ORDER BY session
    ON CONFLICT DO NOTHING
), messages AS (
    INSERT INTO comboio_message (id, consumer, lane, session, source, origin, key, type, sequence,
                                 content_type, payload, headers, correlation_id, traceparent,
                                 is_last, not_before, sent_at)
    SELECT id, consumer, lane, session, source, origin, key, type, sequence,
           content_type, payload, headers::jsonb, correlation_id, traceparent, is_last, not_before, sent_at
      FROM fresh
), ready AS (
    INSERT INTO comboio_ready (lane, session, id, sequence)
    SELECT lane, session, id, place FROM fresh WHERE dead_reason = '' AND NOT is_delayed
), waiting AS (
    INSERT INTO comboio_waiting (id, consumer, lane, session, sequence, due_at)
    SELECT id, consumer, lane, session, place, not_before FROM fresh WHERE dead_reason = '' AND is_delayed
), dead AS (
    INSERT INTO comboio_dead (id, consumer, lane, session, reason, error, cause)
    SELECT id, consumer, lane, session, dead_reason, dead_text, dead_reason || ': ' || source
      FROM fresh WHERE dead_reason <> ''
), known AS MATERIALIZED (
    SELECT v.*, CASE WHEN done.id IS NOT NULL THEN 'done' WHEN x.id IS NOT NULL THEN 'dead'
                     WHEN c.id IS NOT NULL THEN 'discarded' WHEN u.id IS NOT NULL THEN 'in_doubt'
                     WHEN w.id IS NOT NULL THEN 'waiting' WHEN gone.is_gone THEN NULL
                     ELSE 'ready' END AS state,
           CASE WHEN v.redelivered THEN 'redelivered' WHEN done.id IS NOT NULL OR gone.is_gone THEN 'repeated'
                ELSE 'concurrent' END AS cause
      FROM verdicts v
     -- Its message was purged: it ended, and nobody knows any more how. One of the last minute may only be unseen yet.
     CROSS JOIN LATERAL (SELECT v.seen_at < now() - interval '1 minute'
                            AND (SELECT m.id FROM comboio_message m WHERE m.id = v.message_id) IS NULL AS is_gone
                         OFFSET 0) gone
      LEFT JOIN comboio_done done ON done.id = v.message_id
      LEFT JOIN comboio_dead x ON x.id = v.message_id
      LEFT JOIN comboio_discarded c ON c.id = v.message_id
      LEFT JOIN comboio_in_doubt u ON u.id = v.message_id
      LEFT JOIN comboio_waiting w ON w.id = v.message_id
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
    UNION ALL
    SELECT consumer, 'accepted_after_window', '', count(*)
      FROM verdicts WHERE is_old AND NOT old_is_dead GROUP BY consumer
), wake AS MATERIALIZED (
    SELECT pg_notify('comboio_ready', '') AS sent WHERE EXISTS (SELECT FROM fresh WHERE dead_reason = '' AND NOT is_delayed)
)
SELECT v.n, v.message_id, v.is_new, v.is_same, v.seen_at, k.state, k.cause, coalesce(f.dead_reason, ''),
       coalesce(f.dead_text, ''), (SELECT sent FROM wake) IS NULL
  FROM verdicts v LEFT JOIN known k ON k.n = v.n LEFT JOIN fresh f ON f.n = v.n;

-- name: move_behind
-- Messages that this transaction has just accepted take the next ids, in their order: nobody saw the old ones.
-- locks: their own new rows. rows: one per id, the old and the new one.
WITH moved AS MATERIALIZED (
    SELECT u.id, nextval('comboio_message_id') AS new_id
      FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY u(id, n) ORDER BY u.n
), messages AS (
    UPDATE comboio_message t SET id = m.new_id FROM moved m WHERE t.id = m.id RETURNING t.consumer
), ready AS (
    UPDATE comboio_ready t SET id = m.new_id FROM moved m, comboio_message old
     WHERE old.id = m.id AND t.lane = old.lane AND t.session = old.session AND t.id = m.id
), waiting AS (
    UPDATE comboio_waiting t SET id = m.new_id FROM moved m WHERE t.id = m.id
), dead AS (
    UPDATE comboio_dead t SET id = m.new_id FROM moved m WHERE t.id = m.id
), duplicates AS (
    UPDATE comboio_duplicate t SET message_id = m.new_id FROM moved m WHERE t.message_id = m.id
), dedup AS (
    UPDATE comboio_dedup t SET message_id = m.new_id
      FROM moved m, unnest(%(consumers)s::smallint[], %(keys)s::uuid[]) k(consumer, key)
     WHERE t.consumer = k.consumer AND t.key = k.key AND t.message_id = m.id
)
SELECT id, new_id FROM moved;

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
