-- name: about
-- Version and time of the database, and how many counter rows wait for the clock (up to 100,000).
-- locks: nothing. rows: 1.
SELECT current_setting('server_version'), statement_timestamp(),
       (SELECT count(*) FROM (SELECT FROM comboio_rollup_delta LIMIT 100000) d);

-- name: live
-- Workers with a recent heartbeat: the parents, not the children that each of them has.
-- locks: nothing. rows: 1.
SELECT count(*) FROM comboio_worker
 WHERE process = 'worker' AND at > statement_timestamp() - make_interval(secs => %(seconds)s);

-- name: last_heartbeat
-- The newest heartbeat. locks: nothing. rows: 1.
SELECT max(at) FROM comboio_worker;

-- name: workers
-- Process lives, the live ones first. locks: nothing. rows: at most 200.
SELECT slot, process, host, pid, started_at, at,
       at > statement_timestamp() - make_interval(secs => %(seconds)s), ids, skew_seconds
  FROM comboio_worker ORDER BY 7 DESC, process, slot LIMIT 200;

-- name: states
-- Messages that are ready or delayed by their sender, dead, discarded and in doubt, each counted up to a cap; the
-- dead ones, which may be many, from their index.
-- locks: nothing. rows: 1.
SELECT (SELECT count(*) FROM (SELECT FROM comboio_ready UNION ALL SELECT FROM comboio_waiting
                              LIMIT %(count)s) r),
       (SELECT count(*) FROM (SELECT FROM comboio_dead ORDER BY id LIMIT %(count)s) x),
       (SELECT count(*) FROM (SELECT FROM comboio_discarded LIMIT %(count)s) c),
       (SELECT count(*) FROM (SELECT FROM comboio_in_doubt LIMIT %(count)s) i);
