-- name: take
-- A click counts once: the second one waits for the first, and finds it when that one committed.
-- locks: its row until the transaction ends. rows: 1, or 0 when it was carried out already.
INSERT INTO comboio_operation (client_key, actor) VALUES (%(click)s, %(actor)s) ON CONFLICT DO NOTHING;

-- name: find
-- Who carried out a click, and when. locks: nothing. rows: 1 or 0.
SELECT actor, at FROM comboio_operation WHERE client_key = %(click)s;
