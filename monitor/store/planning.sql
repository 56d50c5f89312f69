-- name: by_index
-- A prepared plan is made while a table is still nearly empty and kept when it has grown: a sequential scan
-- that cost nothing then reads the whole table for each message now, until somebody analyses it. The inbox's
-- hot statements are all meant to go by index, so they are planned as if there were no other way.
-- And what the transaction commits shall be on the disk, whatever the server's default: with
-- synchronous_commit off a crash of the server forgets what was answered. rows: 1.
SELECT set_config('enable_seqscan', 'off', true),
       set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true);

-- name: as_usual
-- A handler's own statements are planned as its database is set up.
SET LOCAL enable_seqscan TO DEFAULT;
