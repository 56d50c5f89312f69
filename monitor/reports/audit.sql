-- name: newest
-- Acts, the newest first, by the primary key or, for one object, by its index. locks: nothing.
-- rows: at most count.
(SELECT id, at, actor, verb, object_kind, object_id, reason, detail::text FROM comboio_audit
  WHERE NOT %(back)s AND id < %(id)s
    AND (%(actor)s::text IS NULL OR actor = %(actor)s)
    AND (%(verb)s::text IS NULL OR verb = %(verb)s)
    AND (%(kind)s::text IS NULL OR (object_kind = %(kind)s AND object_id = %(object)s))
  ORDER BY id DESC LIMIT %(count)s)
UNION ALL
(SELECT id, at, actor, verb, object_kind, object_id, reason, detail::text FROM comboio_audit
  WHERE %(back)s AND id > %(id)s
    AND (%(actor)s::text IS NULL OR actor = %(actor)s)
    AND (%(verb)s::text IS NULL OR verb = %(verb)s)
    AND (%(kind)s::text IS NULL OR (object_kind = %(kind)s AND object_id = %(object)s))
  ORDER BY id LIMIT %(count)s)
ORDER BY 1 DESC;
