-- name: register
-- One row per process life. rows: 1.
INSERT INTO comboio_worker (process, host, pid) VALUES (%(process)s, %(host)s, %(pid)s) RETURNING slot;

-- name: announce
-- The ids this process is about to run. Committed (asynchronously) before the first handler starts; a
-- batch found here after the process is gone names the suspects. rows: 1, or 0 when the row was pruned.
UPDATE comboio_worker SET ids = %(ids)b::bigint[], at = clock_timestamp() WHERE slot = %(slot)b::bigint;

-- name: beat
-- The process lives. rows: 1, or 0 when the row was pruned.
UPDATE comboio_worker SET at = clock_timestamp() WHERE slot = %(slot)s;

-- name: leave
-- A clean end leaves no suspects behind. rows: 1.
DELETE FROM comboio_worker WHERE slot = %(slot)s;

-- name: prune
-- Rows of processes that are silent for a minute and whose announced messages are all out of the queue.
-- rows: as many as went.
DELETE FROM comboio_worker w
 WHERE w.at < now() - interval '1 minute'
   AND NOT EXISTS (SELECT FROM unnest(w.ids) u(id) JOIN comboio_message m ON m.id = u.id
                     JOIN comboio_ready r ON r.lane = m.lane AND r.session = m.session AND r.id = m.id);
