-- name: list
-- Sessions of the snapshot (at most 500 per consumer) and held ones that have no backlog, by
-- backlog times age at the time of the snapshot, so the order stands still between two snapshots. A message
-- without session is none of them.
-- Held sessions outside of the snapshot are looked at up to 5,000, and so are messages in doubt, sessions
-- with a gap and delayed messages.
-- locks: nothing. rows: at most count.
WITH listed AS (
    SELECT s.session, s.consumer, s.backlog, s.head, s.head_at,
           s.backlog * greatest(extract(epoch FROM s.at - coalesce(s.head_at, s.at))::float8, 0) AS impact
      FROM comboio_session_snapshot s WHERE s.session > 0
    UNION ALL
    SELECT g.session, g.lane / 256, 0, g.dead_message, NULL, 0
      FROM (SELECT g.session, g.lane, g.dead_message FROM comboio_gate g
             WHERE (g.held OR g.dead_message IS NOT NULL) AND g.session > 0
               AND NOT EXISTS (SELECT FROM comboio_session_snapshot s WHERE s.session = g.session)
             LIMIT 5000) g
    UNION ALL
    SELECT x.session, x.consumer, 0, x.id, NULL, 0
      FROM (SELECT x.session, x.consumer, x.id FROM comboio_in_doubt x
             ORDER BY x.at DESC, x.id DESC LIMIT 5000) x
     WHERE x.session > 0
       AND NOT EXISTS (SELECT FROM comboio_session_snapshot s WHERE s.session = x.session)
       AND NOT EXISTS (SELECT FROM comboio_gate g WHERE g.session = x.session
                        AND (g.held OR g.dead_message IS NOT NULL))
    UNION ALL
    SELECT o.session, o.lane / 256, 0, NULL, NULL, 0
      FROM (SELECT q.session, q.lane FROM comboio_sequence q WHERE q.gap_since IS NOT NULL LIMIT 5000) o
     WHERE NOT EXISTS (SELECT FROM comboio_session_snapshot s WHERE s.session = o.session)
       AND NOT EXISTS (SELECT FROM comboio_gate g WHERE g.session = o.session
                        AND (g.held OR g.dead_message IS NOT NULL))
       AND NOT EXISTS (SELECT FROM comboio_in_doubt x WHERE x.session = o.session)
    UNION ALL
    SELECT DISTINCT w.session, w.consumer, 0, NULL::bigint, NULL::timestamptz, 0::float8
      FROM (SELECT w.session, w.consumer FROM comboio_waiting w ORDER BY w.due_at LIMIT 5000) w
     WHERE w.session > 0 AND NOT EXISTS (SELECT FROM comboio_session_snapshot s WHERE s.session = w.session)
       AND NOT EXISTS (SELECT FROM comboio_gate g WHERE g.session = w.session
                        AND (g.held OR g.dead_message IS NOT NULL))
       AND NOT EXISTS (SELECT FROM comboio_in_doubt x WHERE x.session = w.session)
       AND NOT EXISTS (SELECT FROM comboio_sequence q WHERE q.session = w.session AND q.gap_since IS NOT NULL)
), known AS (
    SELECT l.*, g.dead_message, g.held, g.held_by, g.held_reason, g.retry_at, g.solo_until, g.error,
           coalesce(g.since, i.at) AS since, g.version, i.id AS doubted, i.effect_id,
           q.next, q.gap_since, q.gap_before
      FROM listed l LEFT JOIN comboio_gate g ON g.session = l.session
      LEFT JOIN LATERAL (SELECT x.id, x.at, x.effect_id FROM comboio_in_doubt x WHERE x.session = l.session
                          ORDER BY x.session, x.id LIMIT 1) i ON true
      LEFT JOIN LATERAL (SELECT q.next, q.gap_since, q.gap_before FROM comboio_sequence q
                          WHERE q.session = l.session OFFSET 0) q ON true
     WHERE (%(consumer)s::int IS NULL OR l.consumer = %(consumer)s)
       AND (NOT %(blocked)s OR g.held OR g.dead_message IS NOT NULL OR i.id IS NOT NULL
            OR q.gap_since IS NOT NULL)
), shown AS (
    (SELECT * FROM known WHERE NOT %(back)s AND (impact, session) < (%(sort)s::float8, %(id)s)
      ORDER BY impact DESC, session DESC LIMIT %(count)s)
    UNION ALL
    (SELECT * FROM known WHERE %(back)s AND (impact, session) > (%(sort)s::float8, %(id)s)
      ORDER BY impact, session LIMIT %(count)s)
)
SELECT k.session, k.consumer, coalesce(c.name, '?'), coalesce(s.key, ''), k.backlog,
       coalesce(k.doubted, k.dead_message, nullif(k.head, 0)), k.head_at, coalesce(k.held, false), k.dead_message, k.retry_at,
       k.solo_until, coalesce(k.held_by, ''), coalesce(k.held_reason, ''), coalesce(k.error, ''), k.since,
       coalesce(k.version, 0), k.impact, k.effect_id,
       (SELECT e.name FROM comboio_effect e WHERE e.id = k.effect_id),
       k.next, k.gap_since, k.gap_before, w.count, w.due_at
  FROM shown k
  LEFT JOIN comboio_consumer c ON c.id = k.consumer
  LEFT JOIN LATERAL (SELECT s.key FROM comboio_session s WHERE s.id = k.session OFFSET 0) s ON true
 CROSS JOIN LATERAL (SELECT count(*), min(w.due_at) AS due_at
                       FROM (SELECT w.due_at FROM comboio_waiting w WHERE w.session = k.session
                              ORDER BY w.session, w.id LIMIT 1001) w) w
 ORDER BY k.impact DESC, k.session DESC;

-- name: snapshot_at
-- When the clock took the snapshot of sessions. locks: nothing. rows: 1.
SELECT max(at) FROM comboio_session_snapshot;

-- name: one
-- A session by id. A message without session has minus its id and no row. locks: nothing. rows: 0 or 1.
SELECT s.consumer, coalesce(c.name, '?'), s.key, s.created_at,
       coalesce(c.policy ->> 'numbered' IS NOT NULL, false)
  FROM comboio_session s LEFT JOIN comboio_consumer c ON c.id = s.consumer WHERE s.id = %(session)s;

-- name: lane
-- The lane of a session, from its newest message. locks: nothing. rows: 0 or 1.
SELECT lane FROM comboio_message WHERE session = %(session)s ORDER BY session, id DESC LIMIT 1;

-- name: counts
-- What waits and what is dead in a session, each up to the cap, and the first that waits: in the order of the
-- numbers where the consumer numbers its sessions, else of the ids.
-- locks: nothing. rows: 1.
SELECT (SELECT count(*) FROM (SELECT FROM comboio_ready r WHERE r.lane = %(lane)s
                                 AND r.session = %(session)s LIMIT %(count)s) r),
       (SELECT count(*) FROM (SELECT FROM comboio_dead x WHERE x.session = %(session)s
                               ORDER BY x.session, x.id LIMIT %(count)s) x),
       CASE WHEN %(numbered)s THEN
           (SELECT r.id FROM comboio_ready r WHERE r.lane = %(lane)s AND r.session = %(session)s
               AND r.sequence IS NOT NULL ORDER BY r.lane, r.session, r.sequence, r.id LIMIT 1)
       ELSE
           (SELECT r.id FROM comboio_ready r WHERE r.lane = %(lane)s AND r.session = %(session)s
             ORDER BY r.lane, r.session, r.id LIMIT 1)
       END,
       (SELECT x.version FROM comboio_dead x WHERE x.id = %(dead_message)s::bigint);

-- name: strip
-- The messages of a session round its head. locks: nothing. rows: at most before + after.
(SELECT id FROM comboio_message WHERE session = %(session)s AND id < %(head)s
  ORDER BY session DESC, id DESC LIMIT %(before)s)
UNION ALL
(SELECT id FROM comboio_message WHERE session = %(session)s AND id >= %(head)s
  ORDER BY session, id LIMIT %(after)s)
ORDER BY 1;

-- name: at_work
-- The process whose announced batch has one of these messages, all of which still wait: it holds the lane of the
-- session until it commits. Up to 1,000 announcements are looked at. locks: nothing. rows: 0 or 1.
SELECT w.process, w.host, w.pid, w.at, (SELECT min(u.id) FROM unnest(w.ids) u (id) WHERE u.id = ANY (%(ids)s::bigint[]))
  FROM (SELECT * FROM comboio_worker WHERE ids <> '{}' ORDER BY slot DESC LIMIT 1000) w
 WHERE w.ids && %(ids)s::bigint[] LIMIT 1;

-- name: progress
-- How far a session with numbers has come, and how many of its messages are delayed, up to the cap, with the
-- next one due. locks: nothing. rows: 1.
SELECT q.next, coalesce(q.ended, false), q.gap_since, q.gap_before, w.count, w.due_at
  FROM (SELECT count(*), min(w.due_at) AS due_at
          FROM (SELECT w.due_at FROM comboio_waiting w WHERE w.session = %(session)s
                 ORDER BY w.session, w.id LIMIT %(count)s) w) w
  LEFT JOIN comboio_sequence q ON q.session = %(session)s;
