from __future__ import annotations

from pathlib import Path

import pytest

from config import database, environment
from config.environment import Environment, EnvironmentVariableError

GOOD = {"SECRET_KEY": "k" * 50, "DATABASE_URL": "postgresql://me:secret@db:5433/inbox"}


def read(base: Path, **variables: str) -> Environment:
    return environment.read({**GOOD, **variables}, base=base)


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL"])
def test_what_production_needs_has_no_default(tmp_path: Path, name: str) -> None:
    with pytest.raises(EnvironmentVariableError, match=f"{name} is not set"):
        read(tmp_path, **{name: ""})


def test_a_short_secret_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentVariableError, match="SECRET_KEY has 49 characters"):
        read(tmp_path, SECRET_KEY="k" * 49)


def test_an_unknown_variable_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentVariableError, match=r"COMBOIO_METRIC_TOKEN: did you mean COMBOIO_METRICS_TOKEN"
    ):
        read(tmp_path, **{"COMBOIO_METRIC_TOKEN": "t"})


def test_a_variable_that_the_sources_name_is_known(tmp_path: Path) -> None:
    (tmp_path / "comboio.toml").write_text('secrets = [{ env = "COMBOIO_SECRET_SHOP" }]\n')

    assert read(tmp_path, **{"COMBOIO_SECRET_SHOP": "s"}).secret_key == GOOD["SECRET_KEY"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COMBOIO_HTTPS", "perhaps"),
        ("COMBOIO_DATABASE_POOL", "0"),
        ("COMBOIO_DATABASE_POOL", "-1"),
        ("COMBOIO_DATABASE_POOL", "²"),
        ("COMBOIO_LOG_LEVEL", "LOUD"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(EnvironmentVariableError, match=f"{name} is '{value}'"):
        read(tmp_path, **{name: value})


@pytest.mark.parametrize("value", ["a" * 201, "two\nlines"])
def test_a_release_is_one_short_line(tmp_path: Path, value: str) -> None:
    assert read(tmp_path, COMBOIO_RELEASE=" 2026-07-01 é ").release == "2026-07-01 é"
    with pytest.raises(EnvironmentVariableError, match="COMBOIO_RELEASE"):
        read(tmp_path, COMBOIO_RELEASE=value)


def test_secrets_do_not_show_when_the_environment_is_printed(tmp_path: Path) -> None:
    assert "secret" not in repr(read(tmp_path))


def test_the_database_address_becomes_djangos_settings(tmp_path: Path) -> None:
    made = database.database(
        read(tmp_path, DATABASE_URL="postgresql://me:s%40@db:5433/inbox?sslmode=require")
    )

    assert [made[key] for key in ("HOST", "PORT", "USER", "PASSWORD", "NAME")] == [
        *("db", "5433", "me", "s@", "inbox")
    ]
    assert made["OPTIONS"]["sslmode"] == "require"
    assert made["OPTIONS"]["keepalives_idle"] == 5


@pytest.mark.parametrize("url", ["mysql://host/name", "postgresql://host/", "not an address"])
def test_what_is_no_address_of_a_database_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(EnvironmentVariableError, match="DATABASE_URL"):
        database.database(read(tmp_path, DATABASE_URL=url))


def test_only_the_web_process_has_a_pool(tmp_path: Path) -> None:
    web, worker = (
        database.database(read(tmp_path, COMBOIO_ROLE=role)) for role in ("web", "worker")
    )

    assert web["OPTIONS"]["pool"]["max_size"] == 8
    assert web["OPTIONS"]["pool"]["reconnect_timeout"] <= 2
    assert "pool" not in worker["OPTIONS"]


def test_a_migration_may_take_its_time(tmp_path: Path) -> None:
    made = database.database(read(tmp_path, COMBOIO_ROLE="migrate"))

    assert "statement_timeout=0s" in made["OPTIONS"]["options"]
