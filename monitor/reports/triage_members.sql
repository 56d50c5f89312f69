-- name: members
-- The alerts of a group by the index on (kind, consumer, cause), each with what its verb needs to name: an open
-- mismatch, an effect that can be asked about, the dead head or the hold of a session. Each of the tables is
-- probed by its key, and only for the kinds that speak of it. locks: nothing. rows: at most count.
SELECT a.id, a.consumer, a.title, a.target, a.count, a.first_at, a.last_at, coalesce(s.backlog, 0),
       CASE WHEN m.version IS NOT NULL THEN 'keep_first' WHEN e.version IS NOT NULL THEN 'ask'
            WHEN g.held THEN 'resume' WHEN x.version IS NOT NULL THEN 'requeue' ELSE 'open' END,
       CASE WHEN g.held THEN 'session' WHEN x.version IS NOT NULL THEN 'message' ELSE '' END,
       CASE WHEN x.version IS NOT NULL AND NOT g.held THEN x.id ELSE a.target END,
       coalesce(m.version, e.version, CASE WHEN g.held THEN g.version END, x.version, 0)
  FROM ((SELECT * FROM comboio_alert
          WHERE NOT %(back)s::boolean AND kind = %(kind)s AND consumer = %(consumer)s
            AND coalesce(cause, subject) = %(cause)s AND (state <> 'resolved') = %(live)s::boolean AND id < %(id)s
          ORDER BY id DESC LIMIT %(count)s)
        UNION ALL
        (SELECT * FROM comboio_alert
          WHERE %(back)s::boolean AND kind = %(kind)s AND consumer = %(consumer)s
            AND coalesce(cause, subject) = %(cause)s AND (state <> 'resolved') = %(live)s::boolean AND id > %(id)s
          ORDER BY id LIMIT %(count)s)) a
  LEFT JOIN LATERAL (SELECT m.version FROM comboio_mismatch m
                      WHERE %(live)s::boolean AND a.kind = 'mismatch' AND m.id = a.target AND m.verdict IS NULL
                     OFFSET 0) m ON true
  LEFT JOIN LATERAL (SELECT e.version FROM comboio_effect e
                      WHERE %(live)s::boolean AND a.kind = 'effect in doubt' AND e.id = a.target
                        AND e.state = 'in doubt' AND (e.kind = 'queryable' OR e.probe_at IS NOT NULL OR e.probes > 0)
                     OFFSET 0) e ON true
  LEFT JOIN LATERAL (SELECT g.held, g.dead_message, g.version FROM comboio_gate g
                      WHERE %(live)s::boolean AND a.kind = 'held session' AND g.session = a.target
                     OFFSET 0) g ON true
  LEFT JOIN LATERAL (SELECT x.id, x.version FROM comboio_dead x WHERE x.id = g.dead_message OFFSET 0) x ON true
  LEFT JOIN LATERAL (SELECT s.backlog FROM comboio_session_snapshot s
                      WHERE a.kind IN ('held session', 'gap') AND s.session = a.target OFFSET 0) s ON true
 ORDER BY a.id DESC;

-- name: compared
-- The newest dead messages of a cause and consumer with what was compared: class and text from their row, own
-- frames from the event of their death. locks: nothing. rows: at most count, newest first.
SELECT x.at, x.session, x.error_class, x.error, coalesce(m.type, ''), d.own
  FROM (SELECT id, at, session, error_class, error FROM comboio_dead
         WHERE cause = %(cause)s AND consumer = %(consumer)s
         ORDER BY cause DESC, id DESC LIMIT %(count)s) x
  LEFT JOIN LATERAL (SELECT m.type FROM comboio_message m WHERE m.id = x.id OFFSET 0) m ON true
  LEFT JOIN LATERAL (SELECT (v.detail -> 'own')::text AS own FROM comboio_event v
                      WHERE v.message_id = x.id AND v.kind = 'dead' ORDER BY v.id DESC LIMIT 1) d ON true
 ORDER BY x.id DESC;
