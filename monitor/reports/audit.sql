-- name: newest
-- Acts, the newest first, by the primary key or, for one object, by its index. first_id and end_id bound what is
-- read to the span of time that is asked for. locks: nothing. rows: at most count.
(SELECT id, at, actor, verb, object_kind, object_id, reason, detail::text FROM comboio_audit
  WHERE NOT %(back)s AND id < least(%(id)s::bigint, %(end_id)s::bigint) AND id >= %(first_id)s::bigint
    AND (%(actor)s::text IS NULL OR actor = %(actor)s)
    AND (%(verb)s::text IS NULL OR verb = %(verb)s)
    AND (%(kind)s::text IS NULL OR (object_kind = %(kind)s AND object_id = %(object)s))
    AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR at < %(until)s)
  ORDER BY id DESC LIMIT %(count)s)
UNION ALL
(SELECT id, at, actor, verb, object_kind, object_id, reason, detail::text FROM comboio_audit
  WHERE %(back)s AND id > greatest(%(id)s::bigint, %(first_id)s::bigint - 1) AND id < %(end_id)s::bigint
    AND (%(actor)s::text IS NULL OR actor = %(actor)s)
    AND (%(verb)s::text IS NULL OR verb = %(verb)s)
    AND (%(kind)s::text IS NULL OR (object_kind = %(kind)s AND object_id = %(object)s))
    AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR at < %(until)s)
  ORDER BY id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: id_at
-- The id from which on acts are of this moment or later: halving by the primary key, because ids rise with the time
-- and an index of the time would cost every act a write. They do but for long transactions and a clock that was put
-- back: ask for a span that is wider by as much, and what lies within is found. locks: nothing. rows: 1.
WITH RECURSIVE halving (low, high) AS (
    SELECT 1::bigint, coalesce((SELECT max(id) FROM comboio_audit), 0) + 1
    UNION ALL
    SELECT CASE WHEN h.is_earlier THEN h.middle + 1 ELSE h.low END,
           CASE WHEN h.is_earlier THEN h.high ELSE h.middle END
      FROM (SELECT low, high, (low + high) / 2 AS middle,
                   (SELECT a.at FROM comboio_audit a WHERE a.id >= (low + high) / 2 ORDER BY a.id LIMIT 1)
                   < %(at)s::timestamptz AS is_earlier
              FROM halving WHERE low < high) h
)
SELECT low FROM halving WHERE low = high;
