"""Django's PostgreSQL backend, with savepoints that keep prepared statements (see base.py)."""
