-- How far the clock of the process was before the database's at its last heartbeat; NULL: written by code before this.
ALTER TABLE comboio_worker ADD COLUMN skew_seconds real;
