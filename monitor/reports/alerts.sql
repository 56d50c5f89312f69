-- name: live
-- Open or acknowledged alerts, the latest first; found by the partial index of live ones, of which
-- there is one per cause. locks: nothing. rows: at most count.
SELECT a.id, a.kind, a.consumer, coalesce(c.name, '?'), a.subject, a.title, a.target, a.count, a.first_at,
       a.last_at, a.state, coalesce(a.acknowledged_by, ''), a.acknowledged_at, a.resolved_at, a.version
  FROM ((SELECT * FROM comboio_alert
          WHERE NOT %(back)s AND state <> 'resolved' AND state = %(state)s
            AND (last_at, id) < (%(sort)s::timestamptz, %(id)s)
            AND (%(kind)s::text IS NULL OR kind = %(kind)s)
            AND (%(consumer)s::int IS NULL OR consumer = %(consumer)s)
          ORDER BY last_at DESC, id DESC LIMIT %(count)s)
        UNION ALL
        (SELECT * FROM comboio_alert
          WHERE %(back)s AND state <> 'resolved' AND state = %(state)s
            AND (last_at, id) > (%(sort)s::timestamptz, %(id)s)
            AND (%(kind)s::text IS NULL OR kind = %(kind)s)
            AND (%(consumer)s::int IS NULL OR consumer = %(consumer)s)
          ORDER BY last_at, id LIMIT %(count)s)) a
  LEFT JOIN comboio_consumer c ON c.id = a.consumer
 ORDER BY a.last_at DESC, a.id DESC;

-- name: resolved
-- Resolved alerts, the newest first, by the primary key. locks: nothing. rows: at most count.
SELECT a.id, a.kind, a.consumer, coalesce(c.name, '?'), a.subject, a.title, a.target, a.count, a.first_at,
       a.last_at, a.state, coalesce(a.acknowledged_by, ''), a.acknowledged_at, a.resolved_at, a.version
  FROM ((SELECT * FROM comboio_alert
          WHERE NOT %(back)s AND state = 'resolved'
            AND id < %(id)s
            AND (%(kind)s::text IS NULL OR kind = %(kind)s)
            AND (%(consumer)s::int IS NULL OR consumer = %(consumer)s)
          ORDER BY id DESC LIMIT %(count)s)
        UNION ALL
        (SELECT * FROM comboio_alert
          WHERE %(back)s AND state = 'resolved'
            AND id > %(id)s
            AND (%(kind)s::text IS NULL OR kind = %(kind)s)
            AND (%(consumer)s::int IS NULL OR consumer = %(consumer)s)
          ORDER BY id LIMIT %(count)s)) a
  LEFT JOIN comboio_consumer c ON c.id = a.consumer
 ORDER BY a.id DESC;

-- name: one
-- One alert. locks: nothing. rows: 0 or 1.
SELECT a.id, a.kind, a.consumer, coalesce(c.name, '?'), a.subject, a.title, a.target, a.count, a.first_at,
       a.last_at, a.state, coalesce(a.acknowledged_by, ''), a.acknowledged_at, a.resolved_at, a.version
  FROM comboio_alert a LEFT JOIN comboio_consumer c ON c.id = a.consumer
 WHERE a.id = %(id)s;

-- name: open_awake
-- How many alerts are open, of at most count, without those of groups that sleep. Each sleeping group is looked up
-- by its name, for a snooze may have ended early. locks: nothing. rows: 1.
WITH asleep AS MATERIALIZED (
    SELECT g.kind, g.consumer, g.cause
      FROM comboio_triage t
     CROSS JOIN LATERAL comboio_groups(true, 10000, %(growth)s::int, ARRAY[t.kind], t.consumer, t.cause) g
     WHERE t.snoozed_until > now() AND g.state = 'snoozed'
)
SELECT count(*)
  FROM (SELECT kind, consumer, coalesce(cause, subject) AS cause FROM comboio_alert
         WHERE state <> 'resolved' AND state = 'open' LIMIT %(count)s) a
 WHERE (a.kind, a.consumer, a.cause) NOT IN (SELECT kind, consumer, cause FROM asleep);

-- name: open_by_kind
-- Open alerts by kind, of at most count alerts. locks: nothing. rows: one per kind that has any.
SELECT kind, count(*)
  FROM (SELECT kind FROM comboio_alert WHERE state <> 'resolved' AND state = 'open' LIMIT %(count)s) a
 GROUP BY kind;
