-- name: since
-- What came, was done, or called the outside since a moment, in the order of arrival: what a backup of that moment
-- does not know. Read from end to end, by a person, after a disaster. locks: nothing. rows: as many as there are.
SELECT c.name, m.origin, m.key, m.id, s.state, m.received_at, d.at, coalesce(e.effects, '[]')
  FROM comboio_message m
  JOIN comboio_consumer c ON c.id = m.consumer
  LEFT JOIN comboio_done d ON d.id = m.id
  LEFT JOIN LATERAL (SELECT state FROM comboio_message_state WHERE id = m.id LIMIT 1) s ON true
  LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('name', name, 'key', key, 'state', state, 'reference', reference)
                         ORDER BY id) AS effects,
               max(greatest(called_at, settled_at)) AS last_at
          FROM comboio_effect WHERE message_id = m.id) e ON true
 WHERE m.received_at >= %(since)s OR d.at >= %(since)s OR e.last_at >= %(since)s
 ORDER BY m.id;
