-- name: plan
-- What a requeue of these dead letters would touch, by the index of its scope, which is read once; by reason and by
-- consumer the largest first. locks: nothing. rows: 1; at most count dead letters are looked at.
WITH scope AS MATERIALIZED (
    SELECT x.consumer, x.session, x.at, x.version, x.reason FROM comboio_dead x
     WHERE (%(cause)s::text IS NULL OR x.cause = %(cause)s)
       AND (%(consumer)s::smallint IS NULL OR x.consumer = %(consumer)s)
       AND (%(session)s::bigint IS NULL OR x.session = %(session)s)
     ORDER BY x.id LIMIT %(count)s
)
SELECT count(*), coalesce(max(version), 0), min(at), max(at), count(DISTINCT session) FILTER (WHERE session > 0),
       count(*) FILTER (WHERE consumer = 0),
       (SELECT count(*) FROM comboio_gate g WHERE g.held AND g.session IN (SELECT session FROM scope)),
       (SELECT count(*) FROM comboio_gate g
         WHERE g.dead_message IS NOT NULL AND g.session IN (SELECT session FROM scope)),
       (SELECT coalesce(jsonb_agg(jsonb_build_array(r.reason, r.count) ORDER BY r.count DESC, r.reason), '[]')::text
          FROM (SELECT reason, count(*) FROM scope GROUP BY reason) r),
       (SELECT coalesce(jsonb_agg(jsonb_build_array(o.name, o.count) ORDER BY o.count DESC, o.name), '[]')::text
          FROM (SELECT c.name, p.count FROM (SELECT consumer, count(*) FROM scope GROUP BY consumer) p
                  JOIN comboio_consumer c ON c.id = p.consumer) o)
  FROM scope;

-- name: newest
-- Requeues of many, the newest first, by the primary key. locks: nothing. rows: at most count.
SELECT b.id, b.state, b.why, coalesce(b.cause, ''), coalesce(c.name, ''), b.session, coalesce(s.key, ''), b.actor,
       b.reason, b.per_second, b.failure_limit, b.started_at, b.ended_at, b.total, b.moved, b.processed,
       b.failed_again, b.gone, b.refused, b.version
  FROM ((SELECT * FROM comboio_bulk WHERE NOT %(back)s AND id < %(id)s ORDER BY id DESC LIMIT %(count)s)
        UNION ALL
        (SELECT * FROM comboio_bulk WHERE %(back)s AND id > %(id)s ORDER BY id LIMIT %(count)s)) b
  LEFT JOIN comboio_consumer c ON c.id = b.consumer
  LEFT JOIN comboio_session s ON s.id = b.session
 ORDER BY b.id DESC;

-- name: one
-- One of them. locks: nothing. rows: 0 or 1.
SELECT b.id, b.state, b.why, coalesce(b.cause, ''), coalesce(c.name, ''), b.session, coalesce(s.key, ''), b.actor,
       b.reason, b.per_second, b.failure_limit, b.started_at, b.ended_at, b.total, b.moved, b.processed,
       b.failed_again, b.gone, b.refused, b.version
  FROM comboio_bulk b
  LEFT JOIN comboio_consumer c ON c.id = b.consumer
  LEFT JOIN comboio_session s ON s.id = b.session
 WHERE b.id = %(id)s;

-- name: busy
-- Those whose turn came while their session was busy. locks: nothing. rows: 1; at most 1,001 are counted.
SELECT count(*) FROM (SELECT FROM comboio_bulk_item
                       WHERE bulk = %(id)s AND state = 'left' AND tries > 0 LIMIT 1001) i;

-- name: members
-- What did not go well, in the order of the ids. locks: nothing. rows: at most count.
SELECT i.id, i.state, coalesce(m.key, ''), coalesce(x.error, i.note)
  FROM (SELECT id, state, note FROM comboio_bulk_item
         WHERE bulk = %(id)s AND state = ANY (%(states)s::text[]) ORDER BY state, id LIMIT %(count)s) i
  LEFT JOIN comboio_message m ON m.id = i.id
  LEFT JOIN comboio_dead x ON x.id = i.id;
