-- name: about_to_be_done
-- Keys of messages that the open transaction marks as done: seen by it, not yet by anyone else.
-- rows: one per such message, in the order of arrival.
SELECT m.id, m.key FROM comboio_done d JOIN comboio_message m ON m.id = d.id
 WHERE d.id = ANY(%(ids)s::bigint[]) ORDER BY d.id;

-- name: still_there
-- How many of these server processes have not ended yet. rows: 1.
SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%(pids)s::integer[]);
