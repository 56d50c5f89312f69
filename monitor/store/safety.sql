-- name: settings
-- What decides whether a commit survives a power cut. rows: 1
SELECT current_setting('server_version_num')::integer, current_setting('fsync'),
       current_setting('full_page_writes'), current_setting('synchronous_commit');
