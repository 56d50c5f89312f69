-- name: acts
-- What people did to the session and the consumer of a message while it waited, and who revealed it; what its own
-- timeline tells already is left to that. At most the newest 200 acts on each are looked at, by the index of the
-- object. locks: nothing. rows: at most 300, oldest first.
SELECT a.at, a.object_kind, a.verb, a.actor, a.reason, a.detail::text
  FROM ((SELECT * FROM comboio_audit WHERE object_kind = 'session' AND object_id = %(session)s
          ORDER BY id DESC LIMIT 200)
        UNION ALL
        (SELECT * FROM comboio_audit WHERE object_kind = 'consumer' AND object_id = %(consumer)s
          ORDER BY id DESC LIMIT 200)
        UNION ALL
        (SELECT * FROM comboio_audit WHERE object_kind = 'message' AND object_id = %(message)s
          ORDER BY id DESC LIMIT 200)) a
 WHERE CASE WHEN a.object_kind = 'message' THEN a.verb = 'reveal'
            ELSE a.at >= %(since)s AND (%(until)s::timestamptz IS NULL OR a.at <= %(until)s) END
 ORDER BY a.id LIMIT 300;
