-- name: totals
-- Counters since the beginning: the folded totals plus the deltas that the clock has not folded yet,
-- in one snapshot, so a counter never falls while they are folded. Types have no total. locks: nothing.
-- rows: one per counter and label.
SELECT consumer, name, label, sum(value)
  FROM (SELECT consumer, name, label, value FROM comboio_total
         WHERE %(names)s::text[] IS NULL OR name = ANY (%(names)s::text[])
        UNION ALL
        SELECT consumer, name, label, value FROM comboio_rollup_delta
         WHERE CASE WHEN %(names)s::text[] IS NULL THEN name NOT IN ('type_runs', 'type_seconds')
                    ELSE name = ANY (%(names)s::text[]) END) counted
 GROUP BY consumer, name, label;

-- name: minutes
-- Growth per minute since a minute, folded or not. locks: nothing.
-- rows: one per minute, counter and label.
SELECT consumer, name, label, minute, sum(value)
  FROM (SELECT consumer, name, label, minute, value FROM comboio_rollup
         WHERE minute >= %(since)s AND name = ANY (%(names)s::text[])
        UNION ALL
        SELECT consumer, name, label, minute, value FROM comboio_rollup_delta
         WHERE minute >= %(since)s AND name = ANY (%(names)s::text[])) counted
 GROUP BY consumer, name, label, minute;

-- name: now
-- The database's clock decides which minute this is. locks: nothing. rows: 1.
SELECT statement_timestamp();
