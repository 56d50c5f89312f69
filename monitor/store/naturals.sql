-- name: advance
-- The state of a session is now of this version, unless a newer one is stored. An equal one is stored again.
-- locks: its row; the caller holds the lane. rows: 1, or 0 when a newer one is there.
INSERT INTO comboio_natural AS n (session, version) VALUES (%(session)s, %(version)s)
ON CONFLICT (session) DO UPDATE SET version = EXCLUDED.version WHERE n.version <= EXCLUDED.version;
