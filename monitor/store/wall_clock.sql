-- name: read
-- The clock of the database, which decides leases, retries and retention. rows: 1, in seconds since 1970.
SELECT extract(epoch FROM clock_timestamp())::float8;
