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
       at > statement_timestamp() - make_interval(secs => %(seconds)s), ids
  FROM comboio_worker ORDER BY 7 DESC, process, slot LIMIT 200;

-- name: tables
-- Sizes of our tables with indexes, partitions added to their parent; rows as the last ANALYZE
-- estimated them, NULL when there was none. locks: nothing that anybody waits for. rows: one per table.
SELECT coalesce(p.relname, c.relname)::text, sum(pg_total_relation_size(c.oid))::bigint,
       CASE WHEN bool_or(c.reltuples >= 0)
            THEN (sum(c.reltuples) FILTER (WHERE c.reltuples >= 0))::bigint END
  FROM pg_class c
  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
  LEFT JOIN pg_class p ON p.oid = i.inhparent
 WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
   AND starts_with(c.relname::text, 'comboio_')
 GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: states
-- Messages that are ready or delayed by their sender, dead, discarded and in doubt, each counted up to a cap; the
-- dead ones, which may be many, from their index.
-- locks: nothing. rows: 1.
SELECT (SELECT count(*) FROM (SELECT FROM comboio_ready UNION ALL SELECT FROM comboio_waiting
                              LIMIT %(count)s) r),
       (SELECT count(*) FROM (SELECT FROM comboio_dead ORDER BY id LIMIT %(count)s) x),
       (SELECT count(*) FROM (SELECT FROM comboio_discarded LIMIT %(count)s) c),
       (SELECT count(*) FROM (SELECT FROM comboio_in_doubt LIMIT %(count)s) i);
