-- name: session_settings
-- What every connection that accepts messages has, also where a host project's settings forget it: no
-- wait without an end, a server that notices a client gone, durable commits. A session that is silent for
-- longer than the pulse of a receiver (5 s) has lost its client: its lock must not stay. Also says whether
-- the server itself keeps its word. Locks nothing. rows: 1.
SELECT current_setting('fsync'),
       set_config('lock_timeout', '2s', false),
       set_config('statement_timeout', '25s', false),
       set_config('idle_in_transaction_session_timeout', '30s', false),
       set_config('idle_session_timeout', '30s', false),
       set_config('client_connection_check_interval', '1s', false),
       set_config('synchronous_commit', 'on', false);

-- name: become_active
-- The place of the one active receiver of a source, held as long as this connection lives. Held before
-- the first message is read: a successor cannot commit younger ids before the last commit of a killed
-- one is decided. rows: 1, false while another receiver has it.
SELECT pg_try_advisory_lock(hashtextextended('comboio receiver ' || %(source)s, 0));

-- name: still_there
-- Whether the connection lives, and with it the lock. Locks nothing. rows: 1.
SELECT true;
