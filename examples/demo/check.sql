-- name: watermark
-- The last message id given out so far: what comes later has a higher one. rows: 1.
SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM comboio_message_id;

-- name: unfinished
-- Messages after the watermark that still may move by themselves: ready, running or waiting, their
-- session not held, and those in doubt whose provider will be asked. locks: none. rows: 1.
SELECT (SELECT count(*)
          FROM comboio_ready r
          LEFT JOIN comboio_gate g ON g.session = r.session
         WHERE r.id > %(watermark)s AND NOT coalesce(g.held OR g.dead_message IS NOT NULL, false)
           AND NOT EXISTS (SELECT FROM comboio_in_doubt x WHERE x.session = r.session))
     + (SELECT count(*)
          FROM comboio_in_doubt x
          JOIN comboio_effect e ON e.id = x.effect_id
         WHERE x.id > %(watermark)s AND e.probe_at IS NOT NULL);

-- name: messages
-- Every message with one of these keys: where it is, and how often it came again.
-- The collation is that of the index on key. locks: none. rows: one per message.
SELECT m.id, c.name, m.key, coalesce(s.key, ''), coalesce(d.duplicates, 0), coalesce(d.mismatches, 0),
       CASE WHEN done.id IS NOT NULL THEN 'done' WHEN x.id IS NOT NULL THEN 'dead'
            WHEN gone.id IS NOT NULL THEN 'discarded' WHEN doubt.id IS NOT NULL THEN 'in doubt'
            WHEN g.held OR g.dead_message IS NOT NULL THEN 'parked' ELSE 'ready' END
  FROM comboio_message m
  JOIN comboio_consumer c ON c.id = m.consumer
  LEFT JOIN comboio_session s ON s.id = m.session
  LEFT JOIN comboio_dedup d ON d.message_id = m.id AND d.consumer = m.consumer
  LEFT JOIN comboio_done done ON done.id = m.id
  LEFT JOIN comboio_dead x ON x.id = m.id
  LEFT JOIN comboio_discarded gone ON gone.id = m.id
  LEFT JOIN comboio_in_doubt doubt ON doubt.id = m.id
  LEFT JOIN comboio_gate g ON g.session = m.session
 WHERE m.key COLLATE "C" = ANY (%(keys)s);

-- name: effect_keys
-- The keys of the calls that these messages made to the outside. locks: none. rows: one per effect.
SELECT key FROM comboio_effect WHERE message_id = ANY (%(ids)s);

-- name: alerts
-- Live alerts that these messages raised: for a cause of death, a held session, an effect or a mismatch.
-- locks: none. rows: 1.
SELECT count(*)
  FROM comboio_alert a
 WHERE a.state <> 'resolved' AND CASE a.kind
       WHEN 'dead letter' THEN EXISTS (SELECT FROM comboio_dead x WHERE x.id = ANY (%(ids)s)
                                        AND x.consumer = a.consumer AND x.cause = a.subject)
       WHEN 'held session' THEN EXISTS (SELECT FROM comboio_message m WHERE m.id = ANY (%(ids)s)
                                         AND m.session::text = a.subject)
       WHEN 'effect in doubt' THEN EXISTS (SELECT FROM comboio_effect e WHERE e.message_id = ANY (%(ids)s)
                                            AND e.id::text = a.subject)
       WHEN 'conflict' THEN EXISTS (SELECT FROM comboio_effect e WHERE e.message_id = ANY (%(ids)s)
                                     AND e.id::text = a.subject)
       ELSE a.subject = ANY (%(texts)s) END;
