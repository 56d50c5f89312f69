-- name: add
-- Counters as deltas: appended, so nobody waits for a hot row; the clock folds them. rows: one per delta.
INSERT INTO comboio_rollup_delta (consumer, name, label, value)
SELECT * FROM unnest(%(consumers)s::smallint[], %(names)s::text[], %(labels)s::text[], %(values)s::float8[]);

-- name: fold
-- Deltas into minutes and totals, in one statement: a reader that adds the deltas to either sees each count once.
-- locks: the rows of the minutes and totals touched, in key order; one folder at a time (advisory lock of the clock).
-- rows: as many totals as changed.
WITH taken AS (
    DELETE FROM comboio_rollup_delta
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM comboio_rollup_delta LIMIT %(limit)s))
    RETURNING minute, consumer, name, label, value
), minutes AS (
    INSERT INTO comboio_rollup AS r (minute, consumer, name, label, value)
    SELECT minute, consumer, name, label, sum(value) FROM taken
     GROUP BY minute, consumer, name, label ORDER BY minute, consumer, name, label
    ON CONFLICT (minute, consumer, name, label) DO UPDATE SET value = r.value + EXCLUDED.value
)
INSERT INTO comboio_total AS t (consumer, name, label, value)
SELECT consumer, name, label, sum(value) FROM taken GROUP BY consumer, name, label ORDER BY consumer, name, label
ON CONFLICT (consumer, name, label) DO UPDATE SET value = t.value + EXCLUDED.value;

-- name: prune
-- Minutes older than the charts reach. rows: as many as went.
DELETE FROM comboio_rollup WHERE minute < now() - make_interval(days => %(days)s);
