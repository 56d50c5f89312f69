-- name: held_sessions
-- Held sessions of each consumer with the worst of them: most messages behind it, then longest held.
-- Up to 10,000 of them are looked at. locks: nothing. rows: one per consumer that has any.
SELECT DISTINCT ON (h.consumer)
       h.consumer, coalesce(c.name, '?'), h.session, coalesce(k.key, ''), h.held, h.dead_message,
       h.version, x.version, x.reason, x.error,
       count(*) OVER of_consumer, sum(h.backlog) OVER of_consumer, min(h.since) OVER of_consumer,
       coalesce(h.held_by, ''), coalesce(h.held_reason, '')
  FROM (SELECT g.session, g.lane / 256 AS consumer, g.held, g.held_by, g.held_reason, g.dead_message, g.version,
               g.since,
               coalesce(s.backlog, 0) AS backlog
          FROM (SELECT * FROM comboio_gate WHERE held OR dead_message IS NOT NULL LIMIT 10000) g
          LEFT JOIN comboio_session_snapshot s ON s.session = g.session) h
  LEFT JOIN comboio_consumer c ON c.id = h.consumer
  LEFT JOIN LATERAL (SELECT k.key FROM comboio_session k WHERE k.id = h.session OFFSET 0) k ON true
  LEFT JOIN LATERAL (SELECT x.version, x.reason, x.error FROM comboio_dead x
                      WHERE x.id = h.dead_message OFFSET 0) x ON true
WINDOW of_consumer AS (PARTITION BY h.consumer)
 ORDER BY h.consumer, h.backlog DESC, h.since, h.session;

-- name: in_doubt
-- Messages in doubt of each consumer with the one that has waited longest, and what waits behind them.
-- Up to 10,000 of them are looked at. locks: nothing. rows: one per consumer that has any.
SELECT DISTINCT ON (x.consumer)
       x.consumer, coalesce(c.name, '?'), x.effect_id, coalesce(e.name, '?'),
       coalesce(e.kind = 'queryable' OR e.probe_at IS NOT NULL OR e.probes > 0, false),
       count(*) OVER of_consumer, sum(x.backlog) OVER of_consumer, min(x.at) OVER of_consumer,
       coalesce(e.version, 0), coalesce(e.key, ''),
       count(*) FILTER (WHERE x.at > statement_timestamp() - make_interval(secs => %(seconds)s)) OVER of_consumer
  FROM (SELECT i.consumer, i.id, i.effect_id, i.at, coalesce(s.backlog, 0) AS backlog
          FROM (SELECT * FROM comboio_in_doubt ORDER BY at DESC, id DESC LIMIT 10000) i
          LEFT JOIN comboio_session_snapshot s ON s.session = i.session) x
  LEFT JOIN comboio_consumer c ON c.id = x.consumer
  LEFT JOIN LATERAL (SELECT e.name, e.kind, e.version, e.key, e.probe_at, e.probes FROM comboio_effect e
                      WHERE e.id = x.effect_id OFFSET 0) e ON true
WINDOW of_consumer AS (PARTITION BY x.consumer)
 ORDER BY x.consumer, x.at, x.id;

-- name: gaps
-- Sessions that have waited too long for a number, with the one that has waited longest of each consumer. Up
-- to 10,000 of them are looked at. locks: nothing. rows: one per consumer that has any.
SELECT DISTINCT ON (o.consumer)
       o.consumer, coalesce(c.name, '?'), o.session, coalesce(k.key, ''), o.next, o.gap_before, o.gap_since,
       count(*) OVER of_consumer, sum(o.backlog) OVER of_consumer
  FROM (SELECT q.lane / 256 AS consumer, q.session, q.next, q.gap_before, q.gap_since,
               coalesce(s.backlog, 0) AS backlog
          FROM (SELECT * FROM comboio_sequence
                 WHERE gap_since IS NOT NULL AND alerted_at IS NOT NULL LIMIT 10000) q
          LEFT JOIN comboio_session_snapshot s ON s.session = q.session) o
  LEFT JOIN comboio_consumer c ON c.id = o.consumer
  LEFT JOIN LATERAL (SELECT k.key FROM comboio_session k WHERE k.id = o.session OFFSET 0) k ON true
WINDOW of_consumer AS (PARTITION BY o.consumer)
 ORDER BY o.consumer, o.gap_since, o.session;

-- name: conflicts
-- Effects with evidence against their decision whose alert nobody has acknowledged, the latest first.
-- locks: nothing. rows: at most count.
SELECT a.consumer, coalesce(c.name, '?'), a.target, a.title, a.first_at
  FROM (SELECT * FROM comboio_alert
         WHERE state <> 'resolved' AND state = 'open' AND kind = 'conflict'
         ORDER BY last_at DESC, id DESC LIMIT %(count)s) a
  LEFT JOIN comboio_consumer c ON c.id = a.consumer
 ORDER BY a.last_at DESC, a.id DESC;

-- name: held_consumers
-- Consumers that an operator holds. locks: nothing. rows: one per held consumer.
SELECT id, held_at, coalesce(held_by, ''), coalesce(held_reason, '') FROM comboio_consumer WHERE held;

-- name: causes
-- The causes whose alerts are open, the latest first. locks: nothing. rows: at most count.
SELECT a.subject, a.consumer, min(a.first_at) FROM (
    SELECT subject, consumer, first_at, last_at FROM comboio_alert
     WHERE state <> 'resolved' AND state = 'open' AND kind = 'dead letter'
     ORDER BY last_at DESC, id DESC LIMIT %(count)s) a
 GROUP BY 1, 2;

-- name: mismatches
-- Open mismatches by consumer, up to 10,000, with the oldest of them. locks: nothing.
-- rows: one per consumer that has any.
SELECT m.consumer, coalesce(c.name, '?'), count(*), min(m.first_at), min(m.id),
       (SELECT f.key FROM comboio_message f WHERE f.id = min(m.message_id)),
       (SELECT x.version FROM comboio_mismatch x WHERE x.id = min(m.id)),
       count(*) FILTER (WHERE m.first_at > statement_timestamp() - make_interval(secs => %(seconds)s))
  FROM (SELECT consumer, first_at, id, message_id FROM comboio_mismatch WHERE verdict IS NULL
         ORDER BY last_at DESC, id DESC LIMIT 10000) m
  LEFT JOIN comboio_consumer c ON c.id = m.consumer
 GROUP BY m.consumer, c.name;

-- name: anything_ready
-- Whether anything waits right now, whatever the snapshot says. EXISTS would drop the ORDER BY and
-- read the queue from its dead beginning. locks: nothing. rows: 1.
SELECT (SELECT r.id FROM comboio_ready r ORDER BY r.lane, r.session, r.id LIMIT 1) IS NOT NULL;
