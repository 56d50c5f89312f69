-- name: page
-- Groups with their states (comboio_groups), sorted by one number: the time of the last alert, moved back by more
-- than any time for what is looked after, and twice for what sleeps. At most `most` alerts are looked at.
-- locks: nothing. rows: at most count.
WITH found AS MATERIALIZED (
    SELECT g.*, coalesce(c.name, '?') AS name,
           extract(epoch FROM coalesce(g.resolved_at, g.last_at))::float8
           - 1e10 * CASE g.state WHEN 'ongoing' THEN 1 WHEN 'snoozed' THEN 2 ELSE 0 END AS sort
      FROM comboio_groups(%(live)s::boolean, %(most)s::int, %(growth)s::int, %(kinds)s::text[],
                          %(consumer)s::int::smallint, %(cause)s::text) g
      LEFT JOIN comboio_consumer c ON c.id = g.consumer
     WHERE (%(state)s::text IS NULL OR g.state = %(state)s)
       AND (%(owner)s::text IS NULL OR g.owner = %(owner)s)
)
SELECT * FROM (
    (SELECT * FROM found
      WHERE NOT %(back)s::boolean AND (sort, alert) < (%(sort)s::float8, %(id)s::bigint)
      ORDER BY sort DESC, alert DESC LIMIT %(count)s)
    UNION ALL
    (SELECT * FROM found
      WHERE %(back)s::boolean AND (sort, alert) > (%(sort)s::float8, %(id)s::bigint)
      ORDER BY sort, alert LIMIT %(count)s)) shown
 ORDER BY sort DESC, alert DESC;

-- name: key
-- The name of the group of an alert. locks: nothing. rows: 1 or 0.
SELECT kind, consumer, coalesce(cause, subject) FROM comboio_alert
 WHERE id = %(id)s AND kind = ANY (%(kinds)s::text[]);

-- name: group
-- Groups of one cause, found by the index on (kind, consumer, cause). locks: nothing. rows: one per group.
SELECT g.*, coalesce(c.name, '?')
  FROM comboio_groups(%(live)s::boolean, %(most)s::int, %(growth)s::int, %(kinds)s::text[],
                      %(consumer)s::int::smallint, %(cause)s::text) g
  LEFT JOIN comboio_consumer c ON c.id = g.consumer
 ORDER BY g.consumer;

-- name: sleeping
-- Which problems sleep: kinds of a consumer (of dead letters: causes) all of whose groups do. Nothing is looked at
-- while nobody snoozed anything. locks: nothing. rows: one for each.
SELECT g.kind, g.consumer, CASE WHEN g.kind = 'dead letter' THEN g.cause ELSE '' END, min(g.snoozed_until),
       max(g.snoozed_by)
  FROM comboio_groups(true, %(most)s::int, %(growth)s::int, %(kinds)s::text[],
                      %(consumer)s::int::smallint, %(cause)s::text) g
 WHERE (SELECT t.id FROM comboio_triage t WHERE t.snoozed_until > now() LIMIT 1) IS NOT NULL
 GROUP BY 1, 2, 3
HAVING bool_and(g.state = 'snoozed');

-- name: calling
-- How many groups need somebody. locks: nothing. rows: 1.
SELECT count(*) FROM comboio_groups(%(live)s::boolean, %(most)s::int, %(growth)s::int, %(kinds)s::text[],
                                    %(consumer)s::int::smallint, %(cause)s::text) g
 WHERE g.state = ANY (%(states)s::text[]);
