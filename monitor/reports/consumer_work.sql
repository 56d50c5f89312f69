-- name: types
-- Types by their time in handlers since an hour; what is beyond the types kept comes as one. locks: nothing.
-- rows: at most count.
SELECT type, is_rest, sum(runs), sum(seconds), sum(sum(seconds)) OVER (), count(*) OVER ()
  FROM comboio_type_hour WHERE consumer = %(consumer)s AND hour >= %(since)s
 GROUP BY type, is_rest ORDER BY sum(seconds) DESC, type LIMIT %(count)s;

-- name: workers
-- Live children that run, or have announced, messages of a consumer: what each does as its parent told last, else the
-- first of its announced batch. locks: nothing. rows: at most 200.
SELECT w.slot, w.host, w.pid, w.release, w.started_at, w.message_id, m.session_key, w.since, cardinality(w.ids)
  FROM (SELECT * FROM comboio_worker w
         WHERE greatest(w.at, w.told_at) > statement_timestamp() - make_interval(secs => %(seconds)s)
           AND (w.message_id IS NOT NULL OR w.ids <> '{}')
         ORDER BY w.slot LIMIT 200) w
 CROSS JOIN LATERAL (SELECT m.consumer, coalesce(s.key, '') AS session_key FROM comboio_message m
                       LEFT JOIN comboio_session s ON s.id = m.session
                      WHERE m.id = coalesce(w.message_id, w.ids[1]) OFFSET 0) m
 WHERE m.consumer = %(consumer)s
 ORDER BY w.since NULLS LAST, w.slot;
