-- name: wait_at_most
-- How long this transaction waits for any one lock: a batch that runs may keep its lanes for seconds.
-- rows: 1
SELECT set_config('lock_timeout', %(milliseconds)s::text, true);

-- name: lock
-- Lanes, waiting for the batches that hold them. Always before any other row.
-- locks: these lane rows, lowest first. rows: one for each lane that exists
SELECT lane FROM comboio_lane WHERE lane = ANY(%(lanes)s::integer[]) ORDER BY lane FOR UPDATE;

-- name: lock_free
-- Those of the lanes that nobody holds, without waiting.
-- locks: these lane rows, lowest first. rows: 0 to one for each lane
SELECT lane FROM comboio_lane WHERE lane = ANY(%(lanes)s::integer[]) ORDER BY lane
   FOR UPDATE SKIP LOCKED;

-- name: wake
-- Tells the workers at commit that something may run now. rows: 1
SELECT pg_notify('comboio_ready', '');
