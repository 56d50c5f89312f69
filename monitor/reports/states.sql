-- name: of
-- Where each of these messages is. One probe per table and message: OFFSET 0 keeps the planner from
-- reading a whole table into a hash. A ready one is running when a process that lives announced it
-- and nothing shuts its session, or when it stands in a live lease; ten seconds without heartbeat is not
-- alive. Behind a message in doubt all others of its session are parked. due_at: delayed by its sender
-- until then; reason: why it is dead.
-- locks: nothing. rows: one per id given, also for ids that nobody knows.
SELECT u.id,
       CASE WHEN d.id IS NOT NULL THEN 'done'
            WHEN r.id IS NOT NULL AND g.is_waiting THEN 'waiting'
            WHEN r.id IS NOT NULL AND l.session IS NOT NULL THEN 'running'
            WHEN r.id IS NOT NULL AND NOT coalesce(g.holds, false) AND EXISTS (
                SELECT FROM comboio_worker p
                 WHERE p.at > statement_timestamp() - interval '10 seconds' AND u.id = ANY (p.ids)
            ) THEN 'running'
            WHEN r.id IS NOT NULL THEN 'ready'
            WHEN w.id IS NOT NULL THEN 'waiting'
            WHEN i.id = u.id THEN 'in_doubt'
            WHEN x.id IS NOT NULL THEN 'dead'
            WHEN c.id IS NOT NULL THEN 'discarded' END AS state,
       r.id IS NOT NULL AND (coalesce(g.holds, false) OR coalesce(k.held, false) OR i.id IS NOT NULL) AS parked,
       w.due_at, x.reason
  FROM unnest(%(ids)s::bigint[]) AS u (id)
  LEFT JOIN LATERAL (SELECT m.lane, m.session, m.consumer FROM comboio_message m
                      WHERE m.id = u.id OFFSET 0) m ON true
  LEFT JOIN LATERAL (SELECT r.id FROM comboio_ready r
                      WHERE r.lane = m.lane AND r.session = m.session AND r.id = u.id OFFSET 0) r ON true
  LEFT JOIN LATERAL (SELECT w.id, w.due_at FROM comboio_waiting w WHERE w.id = u.id OFFSET 0) w ON true
  LEFT JOIN LATERAL (SELECT d.id FROM comboio_done d WHERE d.id = u.id OFFSET 0) d ON true
  LEFT JOIN LATERAL (SELECT x.id, x.reason FROM comboio_dead x WHERE x.id = u.id OFFSET 0) x ON true
  LEFT JOIN LATERAL (SELECT c.id FROM comboio_discarded c WHERE c.id = u.id OFFSET 0) c ON true
  LEFT JOIN LATERAL (SELECT g.held OR g.dead_message IS NOT NULL AS holds,
                            g.head = u.id AND coalesce(g.retry_at > statement_timestamp(), false) AS is_waiting
                       FROM comboio_gate g WHERE g.session = m.session OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT i.id FROM comboio_in_doubt i WHERE i.session = m.session
                      ORDER BY i.session, i.id LIMIT 1) i ON true
  LEFT JOIN LATERAL (SELECT l.session FROM comboio_lease l
                      WHERE l.session = m.session AND l.message_id = u.id
                        AND l.expires_at > statement_timestamp() OFFSET 0) l ON true
  LEFT JOIN comboio_consumer k ON k.id = m.consumer;
