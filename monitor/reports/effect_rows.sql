-- name: rows
-- Effects of a list with the newest evidence of each; request and result stay where they are.
-- locks: nothing. rows: one per id that is there, in no order.
SELECT e.id, e.message_id, e.consumer, coalesce(c.name, '?'), coalesce(m.key, ''), m.session,
       coalesce(s.key, ''), e.name, e.key, e.kind, e.state, e.last_step, e.calls, e.reference, e.error,
       e.settle_seconds, e.key_until, e.started_at, e.called_at, e.settled_at, e.probes, e.probe_at,
       e.decided_by, e.conflict, e.escalated_by, e.version,
       v.at, v.source, v.verdict, v.actor, v.detail::text
  FROM comboio_effect e
  LEFT JOIN comboio_consumer c ON c.id = e.consumer
  LEFT JOIN LATERAL (SELECT m.key, CASE WHEN m.session > 0 THEN m.session END AS session
                       FROM comboio_message m WHERE m.id = e.message_id OFFSET 0) m ON true
  LEFT JOIN LATERAL (SELECT s.key FROM comboio_session s WHERE s.id = m.session OFFSET 0) s ON true
  LEFT JOIN LATERAL (SELECT v.at, v.source, v.verdict, v.actor, v.detail FROM comboio_evidence v
                      WHERE v.effect_id = e.id ORDER BY v.effect_id DESC, v.id DESC LIMIT 1) v ON true
 WHERE e.id = ANY (%(ids)s::bigint[]);

-- name: of_message
-- The effects of a message, by their unique index. locks: nothing. rows: one per effect, up to 100.
SELECT id FROM comboio_effect WHERE message_id = %(id)s ORDER BY started_at, id LIMIT 100;

-- name: evidence
-- What was learnt about effects, oldest first. locks: nothing. rows: at most 100 per effect.
SELECT u.id, v.at, v.source, v.verdict, v.actor, v.detail::text
  FROM unnest(%(ids)s::bigint[]) AS u (id)
 CROSS JOIN LATERAL (SELECT * FROM comboio_evidence v WHERE v.effect_id = u.id
                      ORDER BY v.effect_id DESC, v.id DESC LIMIT 100) v
 ORDER BY v.id;

-- name: recorded
-- What a retry of each message would meet: outcomes that are known, and calls without one. A call that
-- was told not to have happened counts for neither. locks: nothing. rows: one per message with effects.
SELECT u.id, e.completed, e.unknown, e.completed_at, e.total - e.completed - e.unknown
  FROM unnest(%(ids)s::bigint[]) AS u (id)
 CROSS JOIN LATERAL (
    SELECT count(*) AS total, count(*) FILTER (WHERE e.state = 'completed') AS completed,
           count(*) FILTER (WHERE e.state = 'in doubt' OR e.state = 'in progress'
                              AND e.called_at IS NOT NULL AND e.last_step <> 'not done') AS unknown,
           max(e.settled_at) FILTER (WHERE e.state = 'completed') AS completed_at
      FROM comboio_effect e WHERE e.message_id = u.id) e
 WHERE e.total > 0;

-- name: doubt
-- The message in doubt of a session, by its index. locks: nothing. rows: 0 or 1.
SELECT x.id, x.effect_id, coalesce(e.name, '?'), x.at, x.attempts
  FROM comboio_in_doubt x LEFT JOIN comboio_effect e ON e.id = x.effect_id
 WHERE x.session = %(session)s ORDER BY x.session, x.id LIMIT 1;

-- name: lease
-- The lease of a session with the process that holds it. locks: nothing. rows: 0 or 1.
SELECT l.message_id, l.fence, coalesce(w.host || ' ' || w.pid, '?'), l.starts, l.renewals, l.taken_at,
       l.expires_at, l.expires_at > statement_timestamp()
  FROM comboio_lease l LEFT JOIN comboio_worker w ON w.slot = l.slot
 WHERE l.session = %(session)s;
