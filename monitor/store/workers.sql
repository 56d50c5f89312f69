-- name: register
-- One row per process life. rows: 1.
INSERT INTO comboio_worker (process, host, pid, release, skew_seconds)
VALUES (%(process)s, %(host)s, %(pid)s, %(release)s,
        %(wall)s::float8 - extract(epoch FROM clock_timestamp())::float8)
RETURNING slot;

-- name: note_release
-- A release other than the newest known one is noted by who sees it first: the row before it is unique. While a
-- process of that release still lives from before the newest one, it is on its way out, and restarts are no deploy.
-- rows: 1, or 0.
INSERT INTO comboio_deploy (release, previous)
SELECT %(release)s, coalesce(last.id, 0)
  FROM (SELECT 1) AS always
  LEFT JOIN (SELECT id, release, at FROM comboio_deploy ORDER BY id DESC LIMIT 1) last ON true
 WHERE last.release IS DISTINCT FROM %(release)s
   AND NOT EXISTS (SELECT FROM comboio_worker w
                    WHERE w.release = %(release)s AND w.started_at < last.at
                      AND w.at > clock_timestamp() - interval '10 s')
ON CONFLICT (previous) DO NOTHING;

-- name: tell
-- What the children of a worker do now, as their parent sees it with each of its heartbeats. Their own heartbeat stays
-- theirs: whether one died is judged by that. locks: those rows, without any that others hold. rows: one per child.
UPDATE comboio_worker w
   SET message_id = nullif(now.id, 0), told_at = clock_timestamp(),
       since = CASE WHEN now.id <> 0 THEN clock_timestamp() - make_interval(secs => now.seconds) END
  FROM unnest(%(pids)s::integer[], %(ids)s::bigint[], %(seconds)s::float8[]) AS now (pid, id, seconds)
 WHERE w.pid = now.pid
   AND w.slot IN (SELECT slot FROM comboio_worker
                   WHERE host = %(host)s AND process = 'child' AND pid = ANY (%(pids)s::integer[])
                     FOR UPDATE SKIP LOCKED);

-- name: announce
-- The ids this process is about to run. Committed (asynchronously) before the first handler starts; a
-- batch found here after the process is gone names the suspects. rows: 1, or 0 when the row was pruned.
UPDATE comboio_worker SET ids = %(ids)b::bigint[], at = clock_timestamp() WHERE slot = %(slot)b::bigint;

-- name: live
-- The connection of a process life holds this lock for as long as both last: who may look for it knows whether
-- the life has ended. Shared, because an older connection of the same life may linger. rows: 1.
SELECT pg_advisory_lock_shared(1129271, (%(slot)s & 2147483647)::integer);

-- name: announcers
-- Other process lives that announced messages (one of those named; NULL: any), and whether each has ended. Who only
-- lost its connection lives, and withdraws by itself. A restart of the database parts everybody from their locks, so
-- of those who announced before it nothing is known (NULL) until they had a while to come back. rows: one per life.
WITH living AS MATERIALIZED (
    SELECT objid FROM pg_locks
     WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = 1129271
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
SELECT w.slot, w.ids,
       CASE WHEN (w.slot & 2147483647)::oid IN (SELECT objid FROM living) THEN false
            WHEN w.at > pg_postmaster_start_time()
              OR clock_timestamp() > pg_postmaster_start_time() + make_interval(secs => %(return_seconds)s)
            THEN true
       END
  FROM comboio_worker w
 WHERE w.slot <> %(slot)s AND w.ids <> '{}' AND coalesce(w.ids && %(ids)s::bigint[], true);

-- name: claim_ended
-- What ended lives announced, for one process to take in: nobody waits for another. locks: those rows. rows: one
-- per life that nobody else takes in now.
SELECT slot, ids FROM comboio_worker WHERE slot = ANY(%(slots)s::bigint[]) AND ids <> '{}' FOR UPDATE SKIP LOCKED;

-- name: settle_ended
-- What this life announced is taken in, but for these: no batch needs to look for the others any more. rows: 1.
UPDATE comboio_worker SET ids = %(ids)s::bigint[] WHERE slot = %(slot)s;

-- name: take_deaths
-- Lives that ended while just one of these messages ran: each such row is a death, counted once.
-- The caller holds the lanes of the messages. locks: those rows alone, so that nobody waits for another whose
-- suspects stood in the same batch. rows: one per death.
WITH counted AS (
    SELECT slot, ids[1] AS id FROM comboio_worker
     WHERE slot = ANY(%(slots)s::bigint[]) AND cardinality(ids) = 1 AND ids[1] = ANY(%(ids)s::bigint[])
       FOR UPDATE
)
UPDATE comboio_worker w SET ids = '{}' FROM counted c WHERE w.slot = c.slot RETURNING c.id;

-- name: beat
-- The process lives, and its clock says so. rows: 1, or 0 when the row was pruned.
UPDATE comboio_worker SET at = clock_timestamp(),
       skew_seconds = %(wall)s::float8 - extract(epoch FROM clock_timestamp())::float8
 WHERE slot = %(slot)s;

-- name: leave
-- A clean end leaves no suspects behind. rows: 1.
DELETE FROM comboio_worker WHERE slot = %(slot)s;

-- name: prune
-- Rows of processes that are silent for a minute and whose announced messages are all out of the queue.
-- rows: as many as went.
DELETE FROM comboio_worker w
 WHERE w.at < now() - interval '1 minute'
   AND NOT EXISTS (SELECT FROM unnest(w.ids) u(id) JOIN comboio_message m ON m.id = u.id
                     JOIN comboio_ready r ON r.lane = m.lane AND r.session = m.session AND r.id = m.id);
