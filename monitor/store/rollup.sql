-- name: add
-- Counters as deltas: appended, so nobody waits for a hot row; the clock folds them. rows: one per delta.
INSERT INTO comboio_rollup_delta (consumer, name, label, value)
SELECT * FROM unnest(%(consumers)s::smallint[], %(names)s::text[], %(labels)s::text[], %(values)s::float8[]);

-- name: fold
-- Deltas into minutes and totals, in one statement: a reader that adds the deltas to either sees each count once.
-- Types go to their hour alone: those that it has, then new ones up to the cap, the others into its rest.
-- locks: the rows of the minutes, types and totals touched, in key order; one folder at a time (advisory lock of the
-- clock). rows: as many totals as changed.
WITH taken AS (
    DELETE FROM comboio_rollup_delta
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM comboio_rollup_delta LIMIT %(limit)s))
    RETURNING minute, consumer, name, label, value
), counted AS (
    SELECT * FROM taken WHERE name NOT IN ('type_runs', 'type_seconds')
), typed AS (
    SELECT consumer, date_bin('1 hour', minute, 'epoch') AS hour, label AS type,
           coalesce(sum(value) FILTER (WHERE name = 'type_runs'), 0) AS runs,
           coalesce(sum(value) FILTER (WHERE name = 'type_seconds'), 0) AS seconds
      FROM taken WHERE name IN ('type_runs', 'type_seconds') GROUP BY 1, 2, 3
), placed AS (
    SELECT t.*, k.type IS NULL AND row_number() OVER (PARTITION BY t.consumer, t.hour, k.type IS NULL ORDER BY t.type)
                + (SELECT count(*) FROM comboio_type_hour h
                    WHERE h.consumer = t.consumer AND h.hour = t.hour AND NOT h.is_rest) > %(types)s AS is_rest
      FROM typed t
      LEFT JOIN comboio_type_hour k
             ON k.consumer = t.consumer AND k.hour = t.hour AND k.type = t.type AND NOT k.is_rest
), types AS (
    INSERT INTO comboio_type_hour AS h (consumer, hour, type, is_rest, runs, seconds)
    SELECT consumer, hour, CASE WHEN is_rest THEN '' ELSE type END, is_rest, sum(runs), sum(seconds) FROM placed
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (consumer, hour, type, is_rest)
    DO UPDATE SET runs = h.runs + EXCLUDED.runs, seconds = h.seconds + EXCLUDED.seconds
), minutes AS (
    INSERT INTO comboio_rollup AS r (minute, consumer, name, label, value)
    SELECT minute, consumer, name, label, sum(value) FROM counted
     GROUP BY minute, consumer, name, label ORDER BY minute, consumer, name, label
    ON CONFLICT (minute, consumer, name, label) DO UPDATE SET value = r.value + EXCLUDED.value
)
INSERT INTO comboio_total AS t (consumer, name, label, value)
SELECT consumer, name, label, sum(value) FROM counted GROUP BY consumer, name, label ORDER BY consumer, name, label
ON CONFLICT (consumer, name, label) DO UPDATE SET value = t.value + EXCLUDED.value;

-- name: compact
-- Minutes that no chart shows one by one any more, summed by the hour: a week is read as fast as an hour. In one
-- statement, so a reader sees each count once. locks: the rows of the hours touched, in key order. rows: as many
-- hours as changed.
WITH taken AS (
    DELETE FROM comboio_rollup
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM comboio_rollup
                              WHERE minute < date_bin('1 hour', now(), 'epoch') - make_interval(hours => %(hours)s)
                                AND minute <> date_bin('1 hour', minute, 'epoch') LIMIT %(limit)s))
    RETURNING minute, consumer, name, label, value
)
INSERT INTO comboio_rollup AS r (minute, consumer, name, label, value)
SELECT date_bin('1 hour', minute, 'epoch'), consumer, name, label, sum(value) FROM taken
 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (minute, consumer, name, label) DO UPDATE SET value = r.value + EXCLUDED.value;

-- name: prune_types
-- Types of hours older than the charts reach. rows: as many as went.
DELETE FROM comboio_type_hour WHERE hour < now() - make_interval(days => %(days)s);

-- name: prune
-- Minutes older than the charts reach. rows: as many as went.
DELETE FROM comboio_rollup WHERE minute < now() - make_interval(days => %(days)s);
