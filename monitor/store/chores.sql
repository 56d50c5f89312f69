-- name: try_lock
-- One process at a time does a chore; the lock ends with the transaction. rows: 1.
SELECT pg_try_advisory_xact_lock(hashtextextended('comboio chore ' || %(name)s, 0));

-- name: limit_seconds
-- A chore may take longer than a request. rows: 1.
SELECT set_config('statement_timeout', %(milliseconds)s, true);

-- name: end_holds
-- Holds of consumers whose end has come. rows: as many as ended.
UPDATE comboio_consumer
   SET held = false, held_by = NULL, held_reason = NULL, held_at = NULL, held_until = NULL,
       version = nextval('comboio_version')
 WHERE held AND held_until <= now();
