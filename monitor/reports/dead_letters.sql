-- name: newest
-- Dead messages, newest first. Without filter by the index on (at, id); a cause or a session by its
-- own index. locks: nothing. rows: at most count.
(SELECT x.id, x.at FROM comboio_dead x
  WHERE NOT %(back)s AND (x.at, x.id) < (%(sort)s::timestamptz, %(id)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
    AND (%(cause)s::text IS NULL OR x.cause = %(cause)s)
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
  ORDER BY x.at DESC, x.id DESC LIMIT %(count)s)
UNION ALL
(SELECT x.id, x.at FROM comboio_dead x
  WHERE %(back)s AND (x.at, x.id) > (%(sort)s::timestamptz, %(id)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
    AND (%(cause)s::text IS NULL OR x.cause = %(cause)s)
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
  ORDER BY x.at, x.id LIMIT %(count)s)
ORDER BY 2 DESC, 1 DESC;

-- name: rows
-- Dead messages of a list; the message itself may be purged. locks: nothing. rows: one per id.
SELECT x.id, x.consumer, coalesce(c.name, '?'), coalesce(m.key, ''), coalesce(m.type, ''),
       CASE WHEN x.session > 0 THEN x.session END, coalesce(s.key, ''), x.reason, x.error_class, x.error,
       x.cause, x.attempts, x.at, coalesce(g.dead_message = x.id, false), x.version
  FROM comboio_dead x
  LEFT JOIN comboio_consumer c ON c.id = x.consumer
  LEFT JOIN LATERAL (SELECT m.key, m.type FROM comboio_message m WHERE m.id = x.id OFFSET 0) m ON true
  LEFT JOIN LATERAL (SELECT s.key FROM comboio_session s WHERE s.id = x.session OFFSET 0) s ON true
  LEFT JOIN LATERAL (SELECT g.dead_message FROM comboio_gate g WHERE g.session = x.session OFFSET 0) g
         ON true
 WHERE x.id = ANY (%(ids)s::bigint[]);

-- name: causes
-- The different causes by a loose scan of the index on (cause, id): one probe per cause, where
-- DISTINCT would read every dead message. locks: nothing. rows: at most count.
WITH RECURSIVE walk AS (
    (SELECT cause, 1 AS n FROM comboio_dead ORDER BY cause LIMIT 1)
    UNION ALL
    SELECT next.cause, walk.n + 1
      FROM walk CROSS JOIN LATERAL (SELECT x.cause FROM comboio_dead x WHERE x.cause > walk.cause
                                     ORDER BY x.cause LIMIT 1) next
     WHERE walk.n < %(count)s
)
SELECT cause FROM walk;

-- name: groups
-- Each cause counted up to the cap in the order of its ids, with its latest error as the sample; counted from the
-- index alone. max_version is the highest among the counted: a failure that comes later has a higher one.
-- Sessions held are counted from their gates, of which there are few; at most count are looked at.
-- locks: nothing. rows: one per cause that still has dead messages.
WITH held AS MATERIALIZED (
    SELECT x.cause, count(*) AS count
      FROM (SELECT g.dead_message FROM comboio_gate g WHERE g.dead_message IS NOT NULL LIMIT %(count)s) g
     CROSS JOIN LATERAL (SELECT x.cause FROM comboio_dead x
                          WHERE x.id = g.dead_message
                            AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s) OFFSET 0) x
     GROUP BY x.cause
)
SELECT u.cause, last.reason, last.error_class, last.id, last.error, counted.count, counted.first_at,
       counted.last_at, counted.max_version, counted.consumers, coalesce(held.count, 0)
  FROM unnest(%(causes)s::text[]) AS u (cause)
 CROSS JOIN LATERAL (
    SELECT x.id, x.reason, x.error_class, x.error FROM comboio_dead x
     WHERE x.cause = u.cause AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
     ORDER BY x.cause DESC, x.id DESC LIMIT 1) last
 CROSS JOIN LATERAL (
    SELECT sum(part.count)::bigint AS count, min(part.first_at) AS first_at, max(part.last_at) AS last_at,
           max(part.max_version) AS max_version,
           (SELECT array_agg(c.name ORDER BY c.name) FROM comboio_consumer c
             WHERE c.id = ANY (array_agg(part.consumer))) AS consumers
      FROM (SELECT y.consumer, count(*) AS count, min(y.at) AS first_at, max(y.at) AS last_at,
                   max(y.version) AS max_version
              FROM (SELECT x.consumer, x.at, x.version FROM comboio_dead x
                     WHERE x.cause = u.cause AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
                     ORDER BY x.cause, x.id LIMIT %(count)s) y
             GROUP BY y.consumer) part) counted
  LEFT JOIN held ON held.cause = u.cause;

-- name: callers
-- Consumers that ever called outside: one probe for each. locks: nothing. rows: as many.
SELECT c.name FROM comboio_consumer c
 WHERE (SELECT e.id FROM comboio_effect e WHERE e.consumer = c.id ORDER BY e.consumer, e.id LIMIT 1) IS NOT NULL;

-- name: effects_of_causes
-- The effects of the dead messages that a cause is counted by: outcomes that are known, and calls without
-- one. One probe per message, so it is asked for causes of callers only.
-- locks: nothing. rows: one per cause with effects.
SELECT u.cause, counted.completed, counted.unknown, counted.completed_at,
       counted.total - counted.completed - counted.unknown
  FROM unnest(%(causes)s::text[]) AS u (cause)
 CROSS JOIN LATERAL (
    SELECT count(*) AS total, count(*) FILTER (WHERE e.state = 'completed') AS completed,
           count(*) FILTER (WHERE e.state = 'in doubt' OR e.state = 'in progress'
                              AND e.called_at IS NOT NULL AND e.last_step <> 'not done') AS unknown,
           max(e.settled_at) FILTER (WHERE e.state = 'completed') AS completed_at
      FROM (SELECT x.id FROM comboio_dead x
             WHERE x.cause = u.cause AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
             ORDER BY x.cause, x.id LIMIT %(count)s) y
     CROSS JOIN LATERAL (SELECT e.state, e.called_at, e.last_step, e.settled_at FROM comboio_effect e
                          WHERE e.message_id = y.id OFFSET 0) e) counted
 WHERE counted.total > 0;
