-- name: clear
-- The last snapshot goes in the transaction that makes the next one. rows: 1 per consumer and session shown.
WITH sessions AS (DELETE FROM comboio_session_snapshot)
DELETE FROM comboio_consumer_snapshot;

-- name: take
-- One index-only pass over the queue gives every figure of the console: backlog, parked, waiting, sessions,
-- the oldest message, and the largest sessions of each consumer. Nobody counts while messages come in.
-- A session with a message in doubt counts as held, and what waits behind that message, or behind a gap, as parked.
-- locks: none that others wait for. rows: one per consumer.
WITH per_session AS MATERIALIZED (
    SELECT r.lane / 256 AS consumer, r.session, count(*) AS backlog, min(r.id) AS head
      FROM comboio_ready r GROUP BY r.lane, r.session
), gated AS MATERIALIZED (
    SELECT p.*, coalesce(g.held OR g.dead_message IS NOT NULL, false) OR i.session IS NOT NULL AS is_held,
           coalesce(g.retry_at IS NOT NULL AND g.head = p.head, false) AS is_waiting,
           s.session IS NOT NULL AS has_gap
      FROM per_session p LEFT JOIN comboio_gate g ON g.session = p.session
      LEFT JOIN comboio_sequence s ON s.session = p.session AND s.gap_since IS NOT NULL
      LEFT JOIN (SELECT DISTINCT session FROM comboio_in_doubt) i ON i.session = p.session
), largest AS (
    SELECT g.*, row_number() OVER (PARTITION BY consumer ORDER BY backlog DESC, head) AS place FROM gated g
), shown AS (
    INSERT INTO comboio_session_snapshot (session, consumer, backlog, head, head_at)
    SELECT l.session, l.consumer, l.backlog, l.head, m.received_at
      FROM largest l LEFT JOIN LATERAL (SELECT received_at FROM comboio_message WHERE id = l.head OFFSET 0) m ON true
     WHERE l.place <= %(sessions)s OR l.is_held
), held_empty AS (
    INSERT INTO comboio_session_snapshot (session, consumer, backlog, head, head_at)
    SELECT g.session, g.lane / 256, 0, coalesce(g.dead_message, 0), g.since
      FROM comboio_gate g
     WHERE (g.held OR g.dead_message IS NOT NULL)
       AND NOT EXISTS (SELECT FROM per_session p WHERE p.session = g.session)
    UNION ALL
    SELECT i.session, i.consumer, 0, min(i.id), min(i.at)
      FROM comboio_in_doubt i
     WHERE i.session > 0 AND NOT EXISTS (SELECT FROM per_session p WHERE p.session = i.session)
       AND NOT EXISTS (SELECT FROM comboio_gate g WHERE g.session = i.session
                          AND (g.held OR g.dead_message IS NOT NULL))
     GROUP BY i.session, i.consumer
), per_consumer AS (
    SELECT consumer, sum(backlog)::bigint AS backlog, min(head) AS head, count(*) AS sessions,
           coalesce(sum(backlog) FILTER (WHERE is_held OR has_gap), 0)::bigint AS parked,
           count(*) FILTER (WHERE is_waiting) AS waiting
      FROM gated GROUP BY consumer
), held AS (
    SELECT consumer, count(*) AS n
      FROM (SELECT lane / 256 AS consumer, session FROM comboio_gate WHERE held OR dead_message IS NOT NULL
            UNION SELECT consumer, session FROM comboio_in_doubt WHERE session > 0) either
     GROUP BY 1
)
, delayed AS (
    SELECT consumer, count(*) AS n FROM comboio_waiting GROUP BY consumer
)
INSERT INTO comboio_consumer_snapshot (consumer, backlog, parked, waiting, sessions, held_sessions, oldest_at,
                                       delayed)
SELECT c.id, coalesce(p.backlog, 0), coalesce(p.parked, 0), coalesce(p.waiting, 0),
       coalesce(p.sessions, 0), coalesce(h.n, 0), m.received_at, coalesce(d.n, 0)
  FROM comboio_consumer c
  LEFT JOIN per_consumer p ON p.consumer = c.id
  LEFT JOIN held h ON h.consumer = c.id
  LEFT JOIN delayed d ON d.consumer = c.id
  LEFT JOIN LATERAL (SELECT received_at FROM comboio_message WHERE id = p.head OFFSET 0) m ON true;
