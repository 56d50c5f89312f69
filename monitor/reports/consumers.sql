-- name: rows
-- Every consumer with its snapshot, its dead letters, messages in doubt, open mismatches and sessions with a
-- gap counted up to a cap, and how long it has been throttled. locks: nothing. rows: one per consumer.
SELECT c.id, c.name, c.active, c.held, coalesce(s.backlog, 0), coalesce(s.parked, 0), coalesce(s.waiting, 0),
       coalesce(s.sessions, 0), coalesce(s.held_sessions, 0), s.oldest_at, dead.count, mismatches.count, c.version,
       coalesce(doubts.count, 0), coalesce(s.delayed, 0), gaps.count, b.opened_at, b.failures, b.probe_at, b.error,
       coalesce(top.backlog, 0)
  FROM comboio_consumer c
  LEFT JOIN comboio_consumer_snapshot s ON s.consumer = c.id
 CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM comboio_dead x WHERE x.consumer = c.id
                                            ORDER BY x.consumer, x.id LIMIT %(count)s) x) dead
 CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM comboio_mismatch m
                                            WHERE m.verdict IS NULL AND m.consumer = c.id
                                            LIMIT %(count)s) m) mismatches
  LEFT JOIN (SELECT i.consumer, count(*) FROM (SELECT consumer FROM comboio_in_doubt
                                                  ORDER BY at DESC, id DESC LIMIT %(count)s) i
              GROUP BY i.consumer) doubts ON doubts.consumer = c.id
 CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM comboio_sequence q
                                            WHERE q.gap_since IS NOT NULL
                                              AND q.lane >= c.id * 256 AND q.lane < c.id * 256 + 256
                                            LIMIT %(count)s) q) gaps
  LEFT JOIN (SELECT consumer, max(backlog) AS backlog FROM comboio_session_snapshot GROUP BY consumer) top
         ON top.consumer = c.id
  LEFT JOIN comboio_breaker b ON b.consumer = c.id AND b.opened_at IS NOT NULL
 ORDER BY c.name;

-- name: workers
-- How many processes are at work for each consumer: those whose announced batch still waits (it commits as a whole),
-- and those that hold a lease. Up to 1,000 of each are looked at. locks: nothing. rows: one per consumer at work.
SELECT consumer, count(DISTINCT slot)
  FROM (SELECT m.consumer, w.slot
          FROM (SELECT slot, ids[1] AS id FROM comboio_worker WHERE ids <> '{}' LIMIT 1000) w
         CROSS JOIN LATERAL (SELECT m.consumer, m.lane, m.session FROM comboio_message m
                              WHERE m.id = w.id OFFSET 0) m
         WHERE (SELECT r.id FROM comboio_ready r
                 WHERE r.lane = m.lane AND r.session = m.session AND r.id = w.id) IS NOT NULL
        UNION ALL
        SELECT l.consumer, l.slot
          FROM (SELECT consumer, slot, expires_at FROM comboio_lease ORDER BY session LIMIT 1000) l
         WHERE l.expires_at > statement_timestamp()) busy
 GROUP BY consumer;

-- name: detail
-- One consumer's policy and who holds it. locks: nothing. rows: 0 or 1.
SELECT source, types, when_dead, policy::text, held, held_at, coalesce(held_by, ''),
       coalesce(held_reason, ''), held_until, created_at
  FROM comboio_consumer WHERE id = %(id)s;

-- name: names
-- Every consumer's name. locks: nothing. rows: one per consumer.
SELECT id, name FROM comboio_consumer ORDER BY name;

-- name: snapshot_at
-- When the clock took the snapshot. locks: nothing. rows: 1.
SELECT max(at) FROM comboio_consumer_snapshot;
