-- name: acts
-- What people did to the session and the consumer of a message while it waited, also a hold from before that
-- still stood when it came, and who revealed it; what its own timeline tells already is left to that. At most the
-- newest 200 acts on each are looked at, by the index of the object. locks: nothing. rows: at most 300, oldest first.
WITH act AS MATERIALIZED (
    (SELECT * FROM comboio_audit WHERE object_kind = 'session' AND object_id = %(session)s
      ORDER BY id DESC LIMIT 200)
    UNION ALL
    (SELECT * FROM comboio_audit WHERE object_kind = 'consumer' AND object_id = %(consumer)s
      ORDER BY id DESC LIMIT 200)
    UNION ALL
    (SELECT * FROM comboio_audit WHERE object_kind = 'message' AND object_id = %(message)s
      ORDER BY id DESC LIMIT 200)
)
SELECT a.at, a.object_kind, a.verb, a.actor, a.reason, a.detail::text
  FROM act a
 WHERE CASE
        WHEN a.object_kind = 'message' THEN a.verb = 'reveal'
        WHEN a.at >= %(since)s THEN %(until)s::timestamptz IS NULL OR a.at <= %(until)s
        ELSE a.verb = 'hold'
             AND coalesce((a.detail ->> 'until')::timestamptz > %(since)s, true)
             AND NOT EXISTS (SELECT FROM act b WHERE b.object_kind = a.object_kind AND b.verb IN ('hold', 'resume')
                              AND b.id > a.id AND b.at < %(since)s)
       END
 ORDER BY a.id LIMIT 300;
