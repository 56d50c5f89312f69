-- name: binned
-- Growth of these counters since a moment, by bins of equal length that every reader cuts alike, folded or not.
-- locks: nothing. rows: one per bin, counter and label.
SELECT date_bin(make_interval(secs => %(seconds)s), minute, 'epoch'), name, label, sum(value)
  FROM (SELECT name, label, minute, value FROM comboio_rollup
         WHERE minute >= %(since)s AND name = ANY (%(names)s::text[])
           AND (%(consumer)s::smallint IS NULL OR consumer = %(consumer)s)
        UNION ALL
        SELECT name, label, minute, value FROM comboio_rollup_delta
         WHERE minute >= %(since)s AND name = ANY (%(names)s::text[])
           AND (%(consumer)s::smallint IS NULL OR consumer = %(consumer)s)) counted
 GROUP BY 1, 2, 3;

-- name: known_since
-- Since when there is anything to count: of one consumer, or of the whole. locks: nothing. rows: 1.
SELECT min(created_at) FROM comboio_consumer WHERE %(consumer)s::smallint IS NULL OR id = %(consumer)s;
