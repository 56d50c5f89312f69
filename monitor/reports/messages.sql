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

-- name: ready
-- The same for messages that are ready: a bounded stretch of the newest, one probe per message, and further
-- ones only for those that stand in the queue. The state is read again for the rows that are shown.
-- locks: nothing. rows: at most count.
(SELECT m.id FROM (
    SELECT m.id, m.consumer, m.lane, m.session FROM comboio_message m
     WHERE NOT %(back)s AND m.id < %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id DESC LIMIT %(window)s) m
 CROSS JOIN LATERAL (SELECT FROM comboio_ready r
                      WHERE r.lane = m.lane AND r.session = m.session AND r.id = m.id OFFSET 0) r
  WHERE (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
    AND NOT EXISTS (SELECT FROM comboio_gate g WHERE g.session = m.session AND g.head = m.id
                       AND g.retry_at > statement_timestamp() OFFSET 0)
    AND NOT EXISTS (SELECT FROM comboio_worker w WHERE m.id = ANY (w.ids)
                       AND w.at > statement_timestamp() - interval '10 seconds' OFFSET 0)
    AND NOT EXISTS (SELECT FROM comboio_lease l WHERE l.session = m.session AND l.message_id = m.id
                       AND l.expires_at > statement_timestamp() OFFSET 0)
  ORDER BY m.id DESC LIMIT %(count)s)
UNION ALL
(SELECT m.id FROM (
    SELECT m.id, m.consumer, m.lane, m.session FROM comboio_message m
     WHERE %(back)s AND m.id > %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id LIMIT %(window)s) m
 CROSS JOIN LATERAL (SELECT FROM comboio_ready r
                      WHERE r.lane = m.lane AND r.session = m.session AND r.id = m.id OFFSET 0) r
  WHERE (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
    AND NOT EXISTS (SELECT FROM comboio_gate g WHERE g.session = m.session AND g.head = m.id
                       AND g.retry_at > statement_timestamp() OFFSET 0)
    AND NOT EXISTS (SELECT FROM comboio_worker w WHERE m.id = ANY (w.ids)
                       AND w.at > statement_timestamp() - interval '10 seconds' OFFSET 0)
    AND NOT EXISTS (SELECT FROM comboio_lease l WHERE l.session = m.session AND l.message_id = m.id
                       AND l.expires_at > statement_timestamp() OFFSET 0)
  ORDER BY m.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: done
-- The same for messages that are done. locks: nothing. rows: at most count.
(SELECT m.id FROM (
    SELECT m.id, m.consumer FROM comboio_message m
     WHERE NOT %(back)s AND m.id < %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id DESC LIMIT %(window)s) m
 CROSS JOIN LATERAL (SELECT FROM comboio_done d WHERE d.id = m.id OFFSET 0) d
  WHERE (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
  ORDER BY m.id DESC LIMIT %(count)s)
UNION ALL
(SELECT m.id FROM (
    SELECT m.id, m.consumer FROM comboio_message m
     WHERE %(back)s AND m.id > %(id)s
       AND (%(session)s::bigint IS NULL OR m.session = %(session)s)
     ORDER BY m.id LIMIT %(window)s) m
 CROSS JOIN LATERAL (SELECT FROM comboio_done d WHERE d.id = m.id OFFSET 0) d
  WHERE (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
  ORDER BY m.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: waiting
-- Messages that their sender delayed or that wait for their retry, from the small tables that say so. A search
-- through the newest messages would not find those that have waited for long. Of the shut sessions at most
-- window are looked at. locks: nothing. rows: at most count.
SELECT w.id FROM (
    (SELECT w.id FROM comboio_waiting w
      WHERE NOT %(back)s AND w.id < %(id)s
        AND (%(session)s::bigint IS NULL OR w.session = %(session)s)
        AND (%(consumer)s::int IS NULL OR w.consumer = %(consumer)s)
      ORDER BY w.id DESC LIMIT %(count)s)
    UNION ALL
    (SELECT w.id FROM comboio_waiting w
      WHERE %(back)s AND w.id > %(id)s
        AND (%(session)s::bigint IS NULL OR w.session = %(session)s)
        AND (%(consumer)s::int IS NULL OR w.consumer = %(consumer)s)
      ORDER BY w.id LIMIT %(count)s)
    UNION ALL
    SELECT g.head
      FROM (SELECT g.lane, g.session, g.head FROM comboio_gate g
             WHERE g.retry_at > statement_timestamp()
               AND (%(session)s::bigint IS NULL OR g.session = %(session)s)
               AND (%(consumer)s::int IS NULL OR g.lane / 256 = %(consumer)s)
             LIMIT %(window)s) g
     CROSS JOIN LATERAL (SELECT FROM comboio_ready r
                          WHERE r.lane = g.lane AND r.session = g.session AND r.id = g.head OFFSET 0) r
     WHERE CASE WHEN %(back)s THEN g.head > %(id)s ELSE g.head < %(id)s END) w
 ORDER BY CASE WHEN %(back)s THEN w.id ELSE - w.id END LIMIT %(count)s;

-- name: running
-- Messages that a process that lives has announced or leased, of those that still stand in the queue. At most
-- window leases are looked at. locks: nothing. rows: at most count.
SELECT m.id FROM (
    SELECT unnest(w.ids) AS id FROM comboio_worker w WHERE w.at > statement_timestamp() - interval '10 seconds'
    UNION
    SELECT l.message_id FROM (SELECT * FROM comboio_lease ORDER BY session LIMIT %(window)s) l
     WHERE l.expires_at > statement_timestamp()) u
 CROSS JOIN LATERAL (SELECT m.id, m.lane, m.session, m.consumer FROM comboio_message m
                      WHERE m.id = u.id OFFSET 0) m
 CROSS JOIN LATERAL (SELECT FROM comboio_ready r
                      WHERE r.lane = m.lane AND r.session = m.session AND r.id = m.id OFFSET 0) r
 WHERE (%(session)s::bigint IS NULL OR m.session = %(session)s)
   AND (%(consumer)s::int IS NULL OR m.consumer = %(consumer)s)
   AND CASE WHEN %(back)s THEN m.id > %(id)s ELSE m.id < %(id)s END
 ORDER BY CASE WHEN %(back)s THEN m.id ELSE - m.id END LIMIT %(count)s;

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
