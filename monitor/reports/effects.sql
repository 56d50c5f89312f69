-- name: doubt
-- Effects in doubt, the latest begun first, by their partial index. locks: nothing. rows: at most count.
(SELECT e.id, e.started_at FROM comboio_effect e
  WHERE NOT %(back)s AND e.state = 'in doubt' AND (e.started_at, e.id) < (%(sort)s::timestamptz, %(id)s)
    AND (%(consumer)s::int IS NULL OR e.consumer = %(consumer)s)
  ORDER BY e.started_at DESC, e.id DESC LIMIT %(count)s)
UNION ALL
(SELECT e.id, e.started_at FROM comboio_effect e
  WHERE %(back)s AND e.state = 'in doubt' AND (e.started_at, e.id) > (%(sort)s::timestamptz, %(id)s)
    AND (%(consumer)s::int IS NULL OR e.consumer = %(consumer)s)
  ORDER BY e.started_at, e.id LIMIT %(count)s)
ORDER BY 2 DESC, 1 DESC;

-- name: conflict
-- Effects with evidence against their decision, the newest first, by their partial index.
-- locks: nothing. rows: at most count.
(SELECT e.id FROM comboio_effect e
  WHERE NOT %(back)s AND e.conflict <> '' AND e.id < %(id)s
    AND (%(consumer)s::int IS NULL OR e.consumer = %(consumer)s)
  ORDER BY e.id DESC LIMIT %(count)s)
UNION ALL
(SELECT e.id FROM comboio_effect e
  WHERE %(back)s AND e.conflict <> '' AND e.id > %(id)s
    AND (%(consumer)s::int IS NULL OR e.consumer = %(consumer)s)
  ORDER BY e.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: settled
-- Effects with a known outcome, the newest first, by the primary key: nearly all are.
-- locks: nothing. rows: at most count.
(SELECT e.id FROM comboio_effect e
  WHERE NOT %(back)s AND e.state IN ('completed', 'failed') AND e.id < %(id)s
    AND (%(consumer)s::int IS NULL OR e.consumer = %(consumer)s)
  ORDER BY e.id DESC LIMIT %(count)s)
UNION ALL
(SELECT e.id FROM comboio_effect e
  WHERE %(back)s AND e.state IN ('completed', 'failed') AND e.id > %(id)s
    AND (%(consumer)s::int IS NULL OR e.consumer = %(consumer)s)
  ORDER BY e.id LIMIT %(count)s)
ORDER BY 1 DESC;

-- name: bodies
-- Request and result of an effect, and how much waits behind its message while that is in doubt.
-- locks: nothing. rows: 0 or 1.
SELECT e.request::text, e.result::text,
       (SELECT count(*) FROM (
            SELECT FROM comboio_in_doubt x JOIN comboio_ready r ON r.lane = x.lane AND r.session = x.session
             WHERE x.id = e.message_id LIMIT %(count)s) w)
  FROM comboio_effect e WHERE e.id = %(id)s;
