-- name: every
-- The messages before (or, going back, after) a place, newest first. A session is read by its index;
-- a consumer is looked for in a bounded stretch (window), because no index leads to its messages;
-- without consumer the window is the page.
-- Only one of the two arms is planned: back is a constant. locks: nothing. rows: at most count.
(SELECT m.id FROM (
    SELECT m.id, m.consumer FROM comboio_message m
     WHERE NOT %(back)s AND m.id < %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id DESC LIMIT %(window)s) m
  WHERE %(consumer)s::int IS NULL OR m.consumer = %(consumer)s
  ORDER BY m.id DESC LIMIT %(count)s)
UNION ALL
(SELECT m.id FROM (
    SELECT m.id, m.consumer FROM comboio_message m
     WHERE %(back)s AND m.id > %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id LIMIT %(window)s) m
  WHERE %(consumer)s::int IS NULL OR m.consumer = %(consumer)s
  ORDER BY m.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: in_state
-- The same for messages that are ready, running, waiting or done: a bounded stretch of the newest,
-- one probe per message and table. The state is read again for the rows that are shown.
-- locks: nothing. rows: at most count.
(SELECT m.id FROM (
    SELECT m.id, m.consumer, m.lane, m.session FROM comboio_message m
     WHERE NOT %(back)s AND m.id < %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id DESC LIMIT %(window)s) m
  LEFT JOIN LATERAL (SELECT r.id FROM comboio_ready r WHERE %(state)s <> 'done'
                        AND r.lane = m.lane AND r.session = m.session AND r.id = m.id OFFSET 0) r ON true
  LEFT JOIN LATERAL (SELECT d.id FROM comboio_done d
                      WHERE %(state)s = 'done' AND d.id = m.id OFFSET 0) d ON true
  LEFT JOIN LATERAL (SELECT v.id FROM comboio_waiting v
                      WHERE %(state)s = 'waiting' AND v.id = m.id OFFSET 0) v ON true
  LEFT JOIN LATERAL (SELECT g.head FROM comboio_gate g WHERE g.session = m.session
                        AND g.retry_at > statement_timestamp() OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT w.slot FROM comboio_worker w WHERE m.id = ANY (w.ids)
                        AND w.at > statement_timestamp() - interval '10 seconds' LIMIT 1) w ON true
  LEFT JOIN LATERAL (SELECT l.session FROM comboio_lease l WHERE l.session = m.session AND l.message_id = m.id
                        AND l.expires_at > statement_timestamp() OFFSET 0) l ON true
  WHERE (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
    AND CASE %(state)s WHEN 'done' THEN d.id IS NOT NULL
                       WHEN 'waiting' THEN r.id IS NOT NULL AND g.head = m.id OR v.id IS NOT NULL
                       WHEN 'running' THEN r.id IS NOT NULL AND coalesce(w.slot, l.session) IS NOT NULL
                       ELSE r.id IS NOT NULL AND g.head IS DISTINCT FROM m.id
                            AND coalesce(w.slot, l.session) IS NULL END
  ORDER BY m.id DESC LIMIT %(count)s)
UNION ALL
(SELECT m.id FROM (
    SELECT m.id, m.consumer, m.lane, m.session FROM comboio_message m
     WHERE %(back)s AND m.id > %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id LIMIT %(window)s) m
  LEFT JOIN LATERAL (SELECT r.id FROM comboio_ready r WHERE %(state)s <> 'done'
                        AND r.lane = m.lane AND r.session = m.session AND r.id = m.id OFFSET 0) r ON true
  LEFT JOIN LATERAL (SELECT d.id FROM comboio_done d
                      WHERE %(state)s = 'done' AND d.id = m.id OFFSET 0) d ON true
  LEFT JOIN LATERAL (SELECT v.id FROM comboio_waiting v
                      WHERE %(state)s = 'waiting' AND v.id = m.id OFFSET 0) v ON true
  LEFT JOIN LATERAL (SELECT g.head FROM comboio_gate g WHERE g.session = m.session
                        AND g.retry_at > statement_timestamp() OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT w.slot FROM comboio_worker w WHERE m.id = ANY (w.ids)
                        AND w.at > statement_timestamp() - interval '10 seconds' LIMIT 1) w ON true
  LEFT JOIN LATERAL (SELECT l.session FROM comboio_lease l WHERE l.session = m.session AND l.message_id = m.id
                        AND l.expires_at > statement_timestamp() OFFSET 0) l ON true
  WHERE (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
    AND CASE %(state)s WHEN 'done' THEN d.id IS NOT NULL
                       WHEN 'waiting' THEN r.id IS NOT NULL AND g.head = m.id OR v.id IS NOT NULL
                       WHEN 'running' THEN r.id IS NOT NULL AND coalesce(w.slot, l.session) IS NOT NULL
                       ELSE r.id IS NOT NULL AND g.head IS DISTINCT FROM m.id
                            AND coalesce(w.slot, l.session) IS NULL END
  ORDER BY m.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: dead
-- Dead messages by id from their own small table. locks: nothing. rows: at most count.
(SELECT x.id FROM comboio_dead x
  WHERE NOT %(back)s AND x.id < %(id)s
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
  ORDER BY x.id DESC LIMIT %(count)s)
UNION ALL
(SELECT x.id FROM comboio_dead x
  WHERE %(back)s AND x.id > %(id)s
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
  ORDER BY x.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: in_doubt
-- Messages in doubt by id from their own small table. locks: nothing. rows: at most count.
(SELECT x.id FROM comboio_in_doubt x
  WHERE NOT %(back)s AND x.id < %(id)s
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
  ORDER BY x.id DESC LIMIT %(count)s)
UNION ALL
(SELECT x.id FROM comboio_in_doubt x
  WHERE %(back)s AND x.id > %(id)s
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
  ORDER BY x.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: discarded
-- Discarded messages by id from their own small table. locks: nothing. rows: at most count.
(SELECT x.id FROM comboio_discarded x
  WHERE NOT %(back)s AND x.id < %(id)s
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
  ORDER BY x.id DESC LIMIT %(count)s)
UNION ALL
(SELECT x.id FROM comboio_discarded x
  WHERE %(back)s AND x.id > %(id)s
    AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
    AND (%(consumer)s::int IS NULL OR x.consumer = %(consumer)s)
  ORDER BY x.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: edge
-- The last message that a bounded search looked at, when there are more behind it.
-- locks: nothing. rows: 1, or 0 when the search saw the end of the list.
(SELECT m.id FROM comboio_message m
  WHERE NOT %(back)s AND m.id < %(id)s AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
  ORDER BY m.id DESC OFFSET %(window)s - 1 LIMIT 1)
UNION ALL
(SELECT m.id FROM comboio_message m
  WHERE %(back)s AND m.id > %(id)s AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
  ORDER BY m.id OFFSET %(window)s - 1 LIMIT 1);

-- name: find_keys
-- Messages whose key begins with a text, by the index in byte order. locks: nothing. rows: at most count.
SELECT m.id FROM comboio_message m
 WHERE m.key COLLATE "C" LIKE %(pattern)s
 ORDER BY m.key COLLATE "C", m.id DESC LIMIT %(count)s;

-- name: find_sessions
-- Sessions whose key begins with a text. locks: nothing. rows: at most count.
SELECT s.id, s.consumer, coalesce(c.name, '?'), s.key
  FROM comboio_session s LEFT JOIN comboio_consumer c ON c.id = s.consumer
 WHERE s.key COLLATE "C" LIKE %(pattern)s
 ORDER BY s.key COLLATE "C", s.id LIMIT %(count)s;
