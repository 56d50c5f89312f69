"""What the environment says, typed and checked: the only place that reads its variables."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PREFIX = "COMBOIO_"
_SECRET_KEY_LENGTH = 50
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"", "0", "false", "no", "off"}
_KNOWN = {
    "COMBOIO_CONFIG": "the file that declares the sources (comboio.toml)",
    "COMBOIO_DATA": "the folder of everything `up` keeps (var)",
    "COMBOIO_DATABASE_POOL": "most connections of one web process (8)",
    "COMBOIO_DEBUG": "Django's debug pages; never where others can reach them",
    "COMBOIO_HTTPS": "0 when browsers reach the console by plain http (1)",
    "COMBOIO_LOG_LEVEL": "DEBUG, INFO, WARNING or ERROR (INFO)",
    "COMBOIO_METRICS_TOKEN": "bearer token of /metrics; without it only loopback may read it",
    "COMBOIO_ENVIRONMENT": "a word every page shows: production, staging",
    "COMBOIO_RELEASE": "what is deployed, in your words: the charts show when another one came",
    "COMBOIO_READY": "the file a worker writes its process id to when it takes work",
    "COMBOIO_ROLE": "what this process is: web, worker, receiver, clock or a command's name",
    "COMBOIO_STATIC": "the folder collectstatic fills",
    "COMBOIO_TEST_PG_BIN": "the PostgreSQL binaries of the test run",
    "COMBOIO_TEST_REQUIRE_ALL": "1: a test fails, not skips, when a system part is missing",
    "COMBOIO_TRUST_PROXY": "1 when a proxy in front sets X-Forwarded-Proto",
    "COMBOIO_UNSAFE_DATABASE": "1 admits a database with fsync off: the test server only",
}
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_LONGEST_RELEASE = 200


class EnvironmentVariableError(Exception):
    """An environment variable is missing, unknown or wrong; the message says what to set."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Environment:
    """The settings that differ between installations. No repr: some of them are secrets."""

    secret_key: str
    database_url: str
    broker_url: str
    allowed_hosts: tuple[str, ...]
    config: Path
    data: Path
    static: Path
    role: str
    label: str
    release: str
    log_level: str
    database_pool: int
    metrics_token: str
    is_debug: bool
    is_https: bool
    is_behind_proxy: bool
    admits_unsafe_database: bool


def read(variables: Mapping[str, str], *, base: Path) -> Environment:
    """The checked environment. EnvironmentVariableError names the first wrong variable."""
    config = Path(variables.get("COMBOIO_CONFIG") or base / "comboio.toml")
    refuse_unknown(variables, config)
    data = Path(variables.get("COMBOIO_DATA") or base / "var")
    return Environment(
        secret_key=_secret_key(variables),
        database_url=_required(variables, "DATABASE_URL", "postgresql://user@host/comboio"),
        broker_url=variables.get("BROKER_URL") or "memory://",
        allowed_hosts=_words(variables.get("ALLOWED_HOSTS") or "127.0.0.1,localhost"),
        config=config,
        data=data,
        static=Path(variables.get("COMBOIO_STATIC") or data / "static"),
        role=variables.get("COMBOIO_ROLE") or "command",
        label=variables.get("COMBOIO_ENVIRONMENT", ""),
        release=_release(variables),
        log_level=_one_of(variables, "COMBOIO_LOG_LEVEL", _LEVELS, default="INFO"),
        database_pool=_whole_number(variables, "COMBOIO_DATABASE_POOL", default=8),
        metrics_token=variables.get("COMBOIO_METRICS_TOKEN", ""),
        is_debug=_switch(variables, "COMBOIO_DEBUG", default=False),
        is_https=_switch(variables, "COMBOIO_HTTPS", default=True),
        is_behind_proxy=_switch(variables, "COMBOIO_TRUST_PROXY", default=False),
        admits_unsafe_database=_switch(variables, "COMBOIO_UNSAFE_DATABASE", default=False),
    )


def refuse_unknown(variables: Mapping[str, str], config: Path) -> None:
    """A misspelt variable would silently do nothing: refuse it and name the nearest known one.

    A variable that the sources' file names (the secret of a source) is known too.
    """
    unknown = [name for name in variables if name.startswith(PREFIX) and name not in _KNOWN]
    if not unknown:
        return
    named = config.read_text(encoding="utf-8") if config.is_file() else ""
    for name in sorted(unknown):
        if f'"{name}"' in named or f"'{name}'" in named:
            continue
        nearest = difflib.get_close_matches(name, _KNOWN, n=1, cutoff=0)
        raise EnvironmentVariableError(
            f"Unknown environment variable {name}: did you mean {nearest[0]} "
            f"({_KNOWN[nearest[0]]})? Correct it, or unset it."
        )


def _secret_key(variables: Mapping[str, str]) -> str:
    key = _required(variables, "SECRET_KEY", f"at least {_SECRET_KEY_LENGTH} random characters")
    if len(key) < _SECRET_KEY_LENGTH:
        raise EnvironmentVariableError(
            f"SECRET_KEY has {len(key)} characters; it needs at least {_SECRET_KEY_LENGTH}."
        )
    return key


def _release(variables: Mapping[str, str]) -> str:
    text = variables.get("COMBOIO_RELEASE", "").strip()
    if len(text) > _LONGEST_RELEASE or not text.isprintable():
        raise EnvironmentVariableError(
            f"COMBOIO_RELEASE must be at most {_LONGEST_RELEASE} printable characters in one line."
        )
    return text


def _required(variables: Mapping[str, str], name: str, example: str) -> str:
    value = variables.get(name, "")
    if not value:
        raise EnvironmentVariableError(
            f"{name} is not set. Set it ({example}), or run ./manage.py up, which sets everything."
        )
    return value


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _one_of(
    variables: Mapping[str, str], name: str, allowed: tuple[str, ...], *, default: str
) -> str:
    value = variables.get(name) or default
    if value not in allowed:
        raise EnvironmentVariableError(f"{name} is {value!r}; it must be {', '.join(allowed)}.")
    return value


def _whole_number(variables: Mapping[str, str], name: str, *, default: int) -> int:
    value = variables.get(name) or str(default)
    if not value.isascii() or not value.isdigit() or int(value) == 0:
        raise EnvironmentVariableError(f"{name} is {value!r}; it must be a number from 1.")
    return int(value)


def _switch(variables: Mapping[str, str], name: str, *, default: bool) -> bool:
    value = variables.get(name)
    if value is None:
        return default
    if value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise EnvironmentVariableError(f"{name} is {value!r}; it must be 1 or 0.")
