-- name: by_index
-- A prepared plan is made while a table is still nearly empty and kept when it has grown: a sequential scan
-- that cost nothing then reads the whole table for each message now, until somebody analyses it. The inbox's
-- hot statements are all meant to go by index, so they are planned as if there were no other way.
SET LOCAL enable_seqscan = off;

-- name: as_usual
-- A handler's own statements are planned as its database is set up.
SET LOCAL enable_seqscan TO DEFAULT;
