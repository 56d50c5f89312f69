-- name: moving
-- What will still move by itself; what only a person can decide does not. rows: 1.
SELECT (SELECT count(*) FROM comboio_ready)
     + (SELECT count(*) FROM comboio_in_doubt x JOIN comboio_effect e ON e.id = x.effect_id
         WHERE e.kind = 'queryable' AND e.conflict = '');
