-- name: top
-- The messages with most duplicates among the newest kept ones: a bounded sample, because the dedup
-- records have no index on their count. locks: nothing. rows: at most 10.
SELECT t.message_id, coalesce(c.name, '?'), coalesce(m.origin, ''), coalesce(m.key, ''), t.consumer,
       t.count, t.last_at
  FROM (SELECT message_id, consumer, count(*) AS count, max(at) AS last_at
          FROM (SELECT d.message_id, d.consumer, d.at FROM comboio_duplicate d
                 WHERE %(consumer)s::int IS NULL OR d.consumer = %(consumer)s
                 ORDER BY d.at DESC LIMIT %(sample)s) newest
         GROUP BY message_id, consumer ORDER BY 3 DESC, 4 DESC, 1 LIMIT 10) t
  LEFT JOIN comboio_consumer c ON c.id = t.consumer
  LEFT JOIN LATERAL (SELECT m.origin, m.key FROM comboio_message m WHERE m.id = t.message_id OFFSET 0) m
         ON true
 ORDER BY t.count DESC, t.last_at DESC, t.message_id;

-- name: producers
-- Who sent the newest kept duplicates: by the origin and type of the first message, with the commonest cause and
-- the quartiles of the gap. locks: nothing. rows: at most 10, the most first.
SELECT t.origin, t.type, count(*), mode() WITHIN GROUP (ORDER BY t.cause),
       percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY t.gap_seconds), max(t.at)
  FROM (SELECT coalesce(m.origin, '') AS origin, coalesce(m.type, '') AS type, d.cause, d.gap_seconds, d.at
          FROM (SELECT d.message_id, d.cause, d.gap_seconds, d.at FROM comboio_duplicate d
                 WHERE %(consumer)s::int IS NULL OR d.consumer = %(consumer)s
                 ORDER BY d.at DESC LIMIT %(sample)s) d
          LEFT JOIN LATERAL (SELECT m.origin, m.type FROM comboio_message m WHERE m.id = d.message_id OFFSET 0) m
                 ON true) t
 GROUP BY t.origin, t.type ORDER BY 3 DESC, 1, 2 LIMIT 10;

-- name: rates
-- Who sends how much, and how much of it twice: the newest kept duplicates and the newest messages, by origin, type
-- and minute of the duplicate (NULL: first deliveries), from the moment on that both samples reach back to, which
-- stands last. locks: nothing. rows: at most twice the sample.
WITH again AS MATERIALIZED (
    SELECT coalesce(m.origin, '') AS origin, coalesce(m.type, '') AS type, d.at
      FROM (SELECT d.message_id, d.at FROM comboio_duplicate d
             WHERE (%(consumer)s::int IS NULL OR d.consumer = %(consumer)s) AND d.at >= %(since)s
             ORDER BY d.at DESC LIMIT %(sample)s) d
      LEFT JOIN LATERAL (SELECT m.origin, m.type FROM comboio_message m WHERE m.id = d.message_id OFFSET 0) m ON true
), firsts AS MATERIALIZED (
    SELECT m.consumer, m.origin, m.type, m.received_at FROM comboio_message m ORDER BY m.id DESC LIMIT %(sample)s
), span AS MATERIALIZED (
    SELECT greatest(%(since)s, (SELECT min(a.at) FROM again a HAVING count(*) = %(sample)s),
                    (SELECT min(f.received_at) FROM firsts f HAVING count(*) = %(sample)s)) AS since
)
SELECT a.origin, a.type, date_trunc('minute', a.at), count(*), 0, span.since
  FROM again a, span WHERE a.at >= span.since GROUP BY 1, 2, 3, 6
UNION ALL
SELECT f.origin, f.type, NULL, 0, count(*), span.since
  FROM firsts f, span
 WHERE f.received_at >= span.since AND (%(consumer)s::int IS NULL OR f.consumer = %(consumer)s)
 GROUP BY 1, 2, 6;

-- name: counted
-- All duplicates of some keys, which their dedup records count. locks: nothing. rows: one per key.
SELECT d.message_id, d.duplicates
  FROM unnest(%(consumers)s::smallint[], %(keys)s::uuid[]) AS u (consumer, key)
  JOIN comboio_dedup d ON d.consumer = u.consumer AND d.key = u.key;

-- name: gaps
-- How long after the first the newest kept duplicates came, by the place of the gap among the bounds.
-- locks: nothing. rows: one per place that has any.
SELECT width_bucket(gap_seconds, %(bounds)s::float8[]), count(*), max(gap_seconds)
  FROM (SELECT d.gap_seconds FROM comboio_duplicate d
         WHERE %(consumer)s::int IS NULL OR d.consumer = %(consumer)s
         ORDER BY d.at DESC LIMIT %(sample)s) newest
 GROUP BY 1;
