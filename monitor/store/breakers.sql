-- name: count
-- So many more failures in a row of a consumer's downstream; from the limit on it is throttled.
-- locks: its row. rows: 1, whether it is throttled from now on.
INSERT INTO comboio_breaker AS b (consumer, failures, error, opened_at, probe_at)
VALUES (%(consumer)s, %(failures)s::integer, %(error)s,
        CASE WHEN %(failures)s::integer >= %(limit)s::integer THEN clock_timestamp() END,
        CASE WHEN %(failures)s::integer >= %(limit)s::integer THEN clock_timestamp() + interval '1 second' END)
ON CONFLICT (consumer) DO UPDATE SET
    failures = b.failures + EXCLUDED.failures, error = EXCLUDED.error, changed_at = clock_timestamp(),
    opened_at = coalesce(b.opened_at, CASE WHEN b.failures + EXCLUDED.failures >= %(limit)s::integer
                                           THEN clock_timestamp() END),
    probe_at = coalesce(b.probe_at, CASE WHEN b.failures + EXCLUDED.failures >= %(limit)s::integer
                                         THEN clock_timestamp() + interval '1 second' END)
RETURNING opened_at IS NOT NULL AND failures - %(failures)s::integer < %(limit)s::integer;

-- name: begin_probe
-- One process tries whether the downstream is back; the next try comes later each time, at most after 30 s.
-- locks: its row. rows: 1, or 0 when no try is due.
UPDATE comboio_breaker
   SET probe_at = clock_timestamp() + make_interval(secs => least(30, power(2, least(probes, 10)))),
       probes = probes + 1, changed_at = clock_timestamp()
 WHERE consumer = %(consumer)s AND probe_at <= clock_timestamp();

-- name: close
-- A message went through: the downstream is back. locks: its row. rows: 1 or 0.
DELETE FROM comboio_breaker WHERE consumer = %(consumer)s;
