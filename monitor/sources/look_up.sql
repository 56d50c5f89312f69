-- name: results
-- The recorded results of messages that are done, for duplicates that ask.
-- Locks nothing. rows: at most one per id.
SELECT id, result FROM comboio_done WHERE id = ANY(%(ids)s);

-- name: by_key
-- What became of a key of a source: one row per consumer that took it. Consumer 0 holds what nobody
-- took, of every source, so its rows count only when the message itself names the source. The dedup
-- row outlives the payload: state is then null.
-- Locks nothing. rows: one per consumer, by name.
SELECT c.name, d.message_id, d.seen_at, s.state, f.result
FROM comboio_consumer c
JOIN comboio_dedup d ON d.consumer = c.id AND d.key = %(key)s
LEFT JOIN comboio_message m ON m.id = d.message_id
LEFT JOIN LATERAL (
    SELECT state FROM comboio_message_state WHERE id = d.message_id LIMIT 1
) s ON true
LEFT JOIN comboio_done f ON f.id = d.message_id
WHERE (c.id > 0 AND c.source = %(source)s) OR (c.id = 0 AND m.source = %(source)s)
ORDER BY c.name;
