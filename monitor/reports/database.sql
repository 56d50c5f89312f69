-- name: tables
-- Sizes of our tables with indexes, and what autovacuum left and did, partitions added to their parent; rows as the
-- last ANALYZE estimated them, NULL when there was none. locks: nothing that anybody waits for. rows: one per table.
SELECT coalesce(p.relname, c.relname)::text, sum(pg_total_relation_size(c.oid))::bigint,
       CASE WHEN bool_or(c.reltuples >= 0)
            THEN (sum(c.reltuples) FILTER (WHERE c.reltuples >= 0))::bigint END,
       coalesce(sum(s.n_dead_tup), 0)::bigint,
       max(greatest(s.last_vacuum, s.last_autovacuum)), max(greatest(s.last_analyze, s.last_autoanalyze)),
       count(p.oid)
  FROM pg_class c
  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
  LEFT JOIN pg_class p ON p.oid = i.inhparent
  LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
 WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
   AND starts_with(c.relname::text, 'comboio_')
 GROUP BY 1 ORDER BY 2 DESC, 1;

-- name: partitions
-- The partitions of our tables, with what each may hold. locks: nothing that anybody waits for.
-- rows: one per partition, at most 200.
SELECT p.relname::text, c.relname::text, pg_get_expr(c.relpartbound, c.oid), pg_total_relation_size(c.oid)::bigint,
       CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END
  FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid AND c.relkind = 'r'
  JOIN pg_class p ON p.oid = i.inhparent
 WHERE c.relnamespace = current_schema()::regnamespace AND starts_with(p.relname::text, 'comboio_')
 ORDER BY 1, c.oid LIMIT 200;

-- name: transactions
-- Other transactions of this database that are open, the oldest first: while one is, nothing that died since can be
-- cleaned away. Their statements are left out, for they may hold payloads. Of other roles only a superuser or
-- pg_monitor sees the beginning. locks: nothing. rows: at most 5.
SELECT a.pid, coalesce(a.application_name, ''), coalesce(a.state, ''), a.xact_start,
       coalesce(a.wait_event_type, ''), a.backend_xmin IS NOT NULL
  FROM pg_stat_activity a
 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL
 ORDER BY a.xact_start LIMIT 5;

-- name: prepared
-- Transactions prepared and never ended, which hold everything back until somebody ends them. locks: nothing.
-- rows: 1.
SELECT count(*), min(prepared) FROM pg_prepared_xacts WHERE database = current_database();

-- name: oldest_kept
-- When the oldest stored message came and the oldest done one was done, by the primary keys: ids rise with time.
-- locks: nothing. rows: 1.
SELECT (SELECT received_at FROM comboio_message ORDER BY id LIMIT 1),
       (SELECT at FROM comboio_done ORDER BY id LIMIT 1);

-- name: now
-- The clock of the database. locks: nothing. rows: 1, in seconds since 1970.
SELECT extract(epoch FROM clock_timestamp())::float8;
