"""What the sessions of a test's own database do; its server has others, of other tests."""

from __future__ import annotations

HERE = "datname = current_database()"

BLOCKED = f"SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND {HERE}"
IDLE = f"""SELECT count(*) FROM pg_stat_activity
            WHERE state LIKE 'idle in transaction%%' AND {HERE}"""
LOCKS = f"""SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
             WHERE l.locktype = 'advisory' AND l.granted AND {HERE}"""
