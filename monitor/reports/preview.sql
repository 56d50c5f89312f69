-- name: standings
-- What decides what runs next in some sessions: how far their numbers have come, their gates, a message in
-- doubt, a held consumer. A head counts while it waits for a retry. One probe per session and table.
-- locks: nothing. rows: one per session given.
SELECT u.session, coalesce(c.policy ->> 'numbered' IS NOT NULL, false),
       coalesce(s.next, (c.policy #>> '{numbered,starts_at}')::bigint, 1), coalesce(s.ended, false), s.gap_since,
       s.gap_before, coalesce(c.held AND coalesce(c.held_until > statement_timestamp(), true), false),
       coalesce(g.held, false), coalesce(g.held_by, ''), g.dead_message, h.id, i.id
  FROM unnest(%(sessions)s::bigint[], %(consumers)s::integer[], %(lanes)s::integer[]) AS u (session, consumer, lane)
  LEFT JOIN comboio_consumer c ON c.id = u.consumer
  LEFT JOIN LATERAL (SELECT g.held, g.held_by, g.dead_message, g.head, g.retry_at
                       FROM comboio_gate g WHERE g.session = u.session OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT s.next, s.ended, s.gap_since, s.gap_before
                       FROM comboio_sequence s WHERE s.session = u.session OFFSET 0) s ON true
  LEFT JOIN LATERAL (SELECT r.id FROM comboio_ready r
                      WHERE r.lane = u.lane AND r.session = u.session AND r.id = g.head
                        AND g.retry_at IS NOT NULL OFFSET 0) h ON true
  LEFT JOIN LATERAL (SELECT i.id FROM comboio_in_doubt i WHERE i.session = u.session
                      ORDER BY i.session, i.id LIMIT 1) i ON true;

-- name: queued
-- The first messages that wait in some sessions, in the order in which they run: by number where the consumer
-- numbers its sessions (below 0: put back), else by id. locks: nothing. rows: at most count per session.
SELECT u.session, q.id, q.place, m.sequence, coalesce(m.is_last, false), coalesce(m.key, '')
  FROM unnest(%(sessions)s::bigint[], %(lanes)s::integer[], %(numbered)s::boolean[]) AS u (session, lane, numbered)
 CROSS JOIN LATERAL (
    (SELECT r.id, r.sequence AS place FROM comboio_ready r
      WHERE u.numbered AND r.lane = u.lane AND r.session = u.session AND r.sequence IS NOT NULL
      ORDER BY r.lane, r.session, r.sequence, r.id LIMIT %(count)s)
    UNION ALL
    (SELECT r.id, r.id FROM comboio_ready r
      WHERE NOT u.numbered AND r.lane = u.lane AND r.session = u.session
      ORDER BY r.lane, r.session, r.id LIMIT %(count)s)) q
  LEFT JOIN LATERAL (SELECT m.sequence, m.is_last, m.key FROM comboio_message m WHERE m.id = q.id OFFSET 0) m
         ON true;

-- name: delayed
-- Messages of a session that their sender delayed and whose numbers lie in a stretch, of the first 1,000.
-- locks: nothing. rows: at most 5.
SELECT id, sequence, due_at
  FROM (SELECT id, sequence, due_at FROM comboio_waiting WHERE session = %(session)s ORDER BY id LIMIT 1000) w
 WHERE sequence BETWEEN %(first)s AND %(last)s
 ORDER BY sequence LIMIT 5;

-- name: dead
-- A dead message as it would stand in the queue again, and whether one of its next 20 followers is done:
-- then it runs late. locks: nothing. rows: 0 or 1.
SELECT m.sequence, m.is_last, m.key, EXISTS (
           SELECT FROM (SELECT f.id FROM comboio_message f
                         WHERE f.session = m.session AND f.id > m.id AND m.session > 0
                         ORDER BY f.session, f.id LIMIT 20) f
             JOIN comboio_done d ON d.id = f.id)
  FROM comboio_message m WHERE m.id = %(id)s;
