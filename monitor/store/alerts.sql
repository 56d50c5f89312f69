-- name: raise_many
-- Open an alert for each cause, or raise the one that is live: an acknowledged one stays
-- acknowledged and its count goes on. The version stays: it tells states apart, and a person must
-- be able to acknowledge an alert that is raised many times a second. Equal causes of one batch are
-- added up first, and the rows are locked in the order of (kind, consumer, subject), so two
-- batches cannot deadlock.
-- locks: the live alert of each cause. rows: one for each different cause
INSERT INTO comboio_alert AS alert (kind, consumer, subject, title, target, cause, count)
SELECT kind, consumer, subject, (array_agg(title ORDER BY n DESC))[1],
       (array_agg(target ORDER BY n DESC))[1], (array_agg(cause ORDER BY n DESC))[1], count(*)
  FROM unnest(%(kinds)s::text[], %(consumers)s::smallint[], %(subjects)s::text[],
              %(titles)s::text[], %(targets)s::bigint[], %(causes)s::text[])
       WITH ORDINALITY AS raised (kind, consumer, subject, title, target, cause, n)
 GROUP BY kind, consumer, subject
 ORDER BY kind, consumer, subject
    ON CONFLICT (kind, consumer, subject) WHERE state <> 'resolved'
    DO UPDATE SET count = alert.count + excluded.count, title = excluded.title,
                  target = excluded.target, cause = coalesce(excluded.cause, alert.cause),
                  last_at = now();

-- name: resolve
-- The cause is gone: close its live alert. locks: that alert. rows: 0 or 1
UPDATE comboio_alert
   SET state = 'resolved', resolved_at = now(), version = nextval('comboio_version')
 WHERE kind = %(kind)s AND consumer = %(consumer)s AND subject = %(subject)s
   AND state <> 'resolved';

-- name: lock_dead_letters
-- First half of closing alerts on dead letters: wait for whoever is raising them.
-- locks: the live alerts of these causes, in order. rows: one for each live alert
SELECT id FROM comboio_alert
 WHERE kind = 'dead letter' AND state <> 'resolved'
   AND (consumer, subject) IN (SELECT unnest(%(consumers)s::smallint[]), unnest(%(causes)s::text[]))
 ORDER BY kind, consumer, subject
   FOR UPDATE;

-- name: resolve_dead_letters
-- Second half, its snapshot taken under the lock: one that was raised meanwhile has a visible
-- dead row and stays open. rows: alerts closed
UPDATE comboio_alert AS alert
   SET state = 'resolved', resolved_at = now(), version = nextval('comboio_version')
 WHERE alert.id = ANY(%(ids)s::bigint[])
   AND NOT EXISTS (SELECT FROM comboio_dead
                    WHERE cause = alert.subject AND consumer = alert.consumer);

-- name: retarget_dead_letters
-- An alert that stays points to a message that is still dead. rows: alerts that pointed elsewhere
UPDATE comboio_alert AS alert SET target = dead.id
  FROM unnest(%(ids)s::bigint[]) AS locked (id)
  JOIN comboio_alert AS known ON known.id = locked.id
 CROSS JOIN LATERAL (SELECT id FROM comboio_dead
                      WHERE cause = known.subject AND consumer = known.consumer
                      ORDER BY id DESC LIMIT 1) AS dead
 WHERE alert.id = locked.id AND alert.state <> 'resolved'
   AND NOT EXISTS (SELECT FROM comboio_dead WHERE id = alert.target);

-- name: lock_one
-- The live alert of a cause, waiting for whoever is raising it. locks: that alert. rows: 0 or 1
SELECT id FROM comboio_alert
 WHERE kind = %(kind)s AND consumer = %(consumer)s AND subject = %(subject)s AND state <> 'resolved'
   FOR UPDATE;

-- name: resolve_decided
-- Its snapshot is taken under the lock of lock_one, as above. rows: 1, or 0 when a payload of the
-- same message still waits for its verdict
UPDATE comboio_alert AS alert
   SET state = 'resolved', resolved_at = now(), version = nextval('comboio_version')
 WHERE alert.id = %(id)s
   AND NOT EXISTS (SELECT FROM comboio_mismatch
                    WHERE message_id = %(message_id)s AND consumer = alert.consumer
                      AND verdict IS NULL);

-- name: retarget_mismatch
-- An alert that stays points to a payload that still waits for its verdict. rows: 0 or 1
UPDATE comboio_alert AS alert SET target = open.id
  FROM (SELECT id FROM comboio_mismatch WHERE message_id = %(message_id)s AND verdict IS NULL
         ORDER BY id DESC LIMIT 1) AS open
 WHERE alert.id = %(id)s AND alert.state <> 'resolved';

-- name: resolve_sessions
-- Sessions that nothing holds any more; their lanes are locked, so nobody raises these now.
-- locks: their live alerts, in order. rows: alerts closed
WITH locked AS (
    SELECT id FROM comboio_alert
     WHERE kind = 'held session' AND state <> 'resolved' AND subject = ANY(%(subjects)s::text[])
     ORDER BY kind, consumer, subject
       FOR UPDATE
)
UPDATE comboio_alert AS alert
   SET state = 'resolved', resolved_at = now(), version = nextval('comboio_version')
  FROM locked WHERE alert.id = locked.id;

-- name: find
-- One alert, locked for a verb on it. locks: that alert. rows: 0 or 1
SELECT consumer, title, state, acknowledged_by, acknowledged_at, version
  FROM comboio_alert WHERE id = %(id)s
   FOR UPDATE;

-- name: acknowledge
-- A person has seen it; the version decides between two of them. rows: 1, or 0 when it changed
UPDATE comboio_alert
   SET state = 'acknowledged', acknowledged_by = %(actor)s, acknowledged_at = now(),
       version = nextval('comboio_version')
 WHERE id = %(id)s AND state = 'open' AND version = %(seen)s;
