-- name: rows
-- Messages of a list: everything but the payload, of which only the length is read.
-- locks: nothing. rows: one per id that is still there, in no order.
SELECT m.id, m.consumer, coalesce(c.name, '?'), m.source, m.origin, m.key, m.type,
       CASE WHEN m.session > 0 THEN m.session END, coalesce(s.key, ''), m.sequence, m.received_at,
       octet_length(m.payload)
  FROM comboio_message m
  LEFT JOIN comboio_consumer c ON c.id = m.consumer
  LEFT JOIN LATERAL (SELECT s.key FROM comboio_session s WHERE s.id = m.session OFFSET 0) s ON true
 WHERE m.id = ANY (%(ids)s::bigint[]);

-- name: gate
-- Why one session does not run. locks: nothing. rows: 0 or 1.
SELECT held, coalesce(held_by, ''), coalesce(held_reason, ''), dead_message, retry_at, head, attempts,
       solo_until, starts, coalesce(error, ''), since, version
  FROM comboio_gate WHERE session = %(session)s;
