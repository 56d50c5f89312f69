-- name: take
-- One of the permits of a consumer that limits how many of its sessions run at once. It goes back when the
-- transaction ends, however it ends. locks: one of its advisory locks. rows: 1, or 0 when all are taken.
SELECT n FROM generate_series(1, %(concurrency)s) AS n
 WHERE pg_try_advisory_xact_lock(1129270, %(consumer)s * 65536 + n) LIMIT 1;

-- name: lock
-- Leases of a limited consumer are counted one process at a time. locks: an advisory lock. rows: 1.
SELECT pg_advisory_xact_lock(1129270, %(consumer)s * 65536);

-- name: leases
-- How many sessions of a consumer are leased now. rows: 1.
SELECT count(*) FROM comboio_lease WHERE consumer = %(consumer)s AND expires_at > clock_timestamp();
