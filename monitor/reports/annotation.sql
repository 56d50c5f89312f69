-- name: deploys
-- Releases that came after another one, newest first. locks: nothing. rows: at most count.
SELECT d.at, d.release, before.release
  FROM comboio_deploy d JOIN comboio_deploy before ON before.id = d.previous
 WHERE d.at >= %(since)s
 ORDER BY d.at DESC LIMIT %(count)s;

-- name: holds
-- Holds and resumes of consumers, each with the time of the next act on the same one: by the index of the object, the
-- newest of each. locks: nothing. rows: at most count for each consumer.
SELECT a.at, a.verb, a.actor, a.reason, c.id, c.name, (a.detail ->> 'until')::timestamptz,
       lead(a.at) OVER (PARTITION BY c.id ORDER BY a.id)
  FROM comboio_consumer c
 CROSS JOIN LATERAL (SELECT x.id, x.at, x.verb, x.actor, x.reason, x.detail FROM comboio_audit x
                      WHERE x.object_kind = 'consumer' AND x.object_id = c.id AND x.verb IN ('hold', 'resume')
                      ORDER BY x.id DESC LIMIT %(count)s) a
 WHERE (%(consumer)s::smallint IS NULL OR c.id = %(consumer)s)
   AND (a.at >= %(since)s OR (a.detail ->> 'until')::timestamptz >= %(since)s)
 ORDER BY a.id DESC;

-- name: requeues
-- Requeues of many; for one consumer those of it, and those of every consumer that had a message of it among the first
-- 100 of their set. locks: nothing. rows: at most count.
SELECT b.started_at, b.actor, b.reason, b.id, b.total, c.name
  FROM comboio_bulk b
  LEFT JOIN comboio_consumer c ON c.id = b.consumer
 WHERE b.started_at >= %(since)s
   AND (%(consumer)s::smallint IS NULL OR b.consumer = %(consumer)s
        OR b.consumer IS NULL AND EXISTS (
            SELECT FROM (SELECT i.id FROM comboio_bulk_item i WHERE i.bulk = b.id ORDER BY i.id LIMIT 100) i
             CROSS JOIN LATERAL (SELECT m.consumer FROM comboio_message m WHERE m.id = i.id OFFSET 0) m
             WHERE m.consumer = %(consumer)s))
 ORDER BY b.started_at DESC LIMIT %(count)s;
