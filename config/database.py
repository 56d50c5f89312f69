"""The database address as Django settings, with the session settings every connection has."""

from __future__ import annotations

from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from config.environment import Environment, EnvironmentVariableError

# The lease of a message being processed is 30 s: no statement may outlive it.
_STATEMENT_SECONDS = {"web": 10, "migrate": 0, "prepare": 0}
_RECONNECT_SECONDS = 2.0  # then the next request tries anew
_SESSION = {
    "lock_timeout": "2s",
    # A little more than the longest handler (30 s): the handler's own limit must come first.
    "idle_in_transaction_session_timeout": "35s",
    "client_connection_check_interval": "1s",
}
_CONNECTION = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds: keepalives say nothing while data is on its way
}
_OWN_FIELDS = {
    "host": "HOST",
    "port": "PORT",
    "user": "USER",
    "password": "PASSWORD",
    "dbname": "NAME",
}


def database(environment: Environment) -> dict[str, Any]:
    """The entry of DATABASES. EnvironmentVariableError when DATABASE_URL is not an address."""
    parts = _parse(environment.database_url)
    settings: dict[str, Any] = {"ENGINE": "config.postgresql"}
    settings |= {ours: str(parts.pop(theirs, "") or "") for theirs, ours in _OWN_FIELDS.items()}
    options = {**_CONNECTION, "application_name": f"comboio-{environment.role}", **parts}
    options["options"] = " ".join(
        [_session(environment.role), str(parts.get("options", ""))]
    ).strip()
    if environment.role == "web":
        # Only here: a pool that is open before a fork is broken in the children.
        options["pool"] = {
            "min_size": 1,
            "max_size": environment.database_pool,
            "timeout": 5,
            # The pool doubles its waits up to this. With its default of 5 minutes ingest stays away
            # for about as long again as the database was.
            "reconnect_timeout": _RECONNECT_SECONDS,
        }
    return {
        **settings,
        "OPTIONS": options,
        "CONN_MAX_AGE": 0 if environment.role == "web" else None,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }


def _parse(url: str) -> dict[str, Any]:
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise EnvironmentVariableError(
            f"DATABASE_URL is not an address of a database: {error}"
        ) from error
    if not parts.get("dbname"):
        raise EnvironmentVariableError("DATABASE_URL names no database (postgresql://host/NAME).")
    return parts


def _session(role: str) -> str:
    seconds = _STATEMENT_SECONDS.get(role, 25)
    session = {**_SESSION, "statement_timeout": f"{seconds}s"}
    return " ".join(f"-c {name}={value}" for name, value in session.items())
