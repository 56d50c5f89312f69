"""Dockerfile, docker-compose.yml and prometheus.yml, checked without a container engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from config import environment
from monitor import conf
from tests import needs

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
COMPOSE = ROOT / "docker-compose.yml"
REQUIRED = sorted(set(re.findall(r"\$\{(\w+):\?", COMPOSE.read_text())))
OURS = ("prepare", "web", "worker", "receiver", "clock")
SERVICES = {*OURS, "postgres", "rabbitmq", "prometheus"}


def run(program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables},
    )


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    values = dict.fromkeys(REQUIRED, "x" * 50)
    command = ("-f", str(COMPOSE), "config", "--format", "json")
    done = run(str(BIN / "docker-compose"), *command, **values)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout)["services"])


def test_the_compose_file_fits_its_schema() -> None:
    done = run(
        str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(COMPOSE)
    )

    assert done.returncode == 0, done.stdout


def test_it_has_every_part_of_the_product(services: dict[str, Any]) -> None:
    assert set(services) == SERVICES


@pytest.mark.parametrize("missing", REQUIRED)
def test_no_password_has_a_default(missing: str) -> None:
    values = {name: "x" for name in REQUIRED if name != missing}

    done = run(str(BIN / "docker-compose"), "-f", str(COMPOSE), "config", "-q", **values)

    assert done.returncode != 0
    assert missing in done.stderr


def test_ports_are_bound_to_this_machine(services: dict[str, Any]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]

    assert ports
    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_nothing_runs_as_root_or_may_gain_rights(services: dict[str, Any], name: str) -> None:
    service = services[name]

    assert service["user"].split(":")[0] not in {"", "0", "root"}
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")


@pytest.mark.parametrize("name", sorted(SERVICES - {"rabbitmq"}))
def test_the_file_system_is_read_only(services: dict[str, Any], name: str) -> None:
    assert services[name]["read_only"] is True


def test_no_socket_of_the_engine_is_mounted(services: dict[str, Any]) -> None:
    assert "docker.sock" not in json.dumps(services)


@pytest.mark.parametrize("name", OURS)
def test_our_services_pass_the_check_of_their_environment(
    services: dict[str, Any], name: str, tmp_path: Path
) -> None:
    variables = dict(services[name]["environment"])
    variables["COMBOIO_CONFIG"] = str(ROOT / "config" / "compose.toml")

    read = environment.read(variables, base=tmp_path)

    assert read.database_url.endswith("@postgres/comboio")
    assert not read.admits_unsafe_database


def test_the_sources_of_the_compose_file_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMBOIO_CONFIG", str(ROOT / "config" / "compose.toml"))
    conf.reset()
    try:
        assert "orders" in str(conf.get())
    finally:
        conf.reset()


def test_hadolint_has_nothing_to_say() -> None:
    done = run(str(BIN / "hadolint"), str(ROOT / "Dockerfile"))

    assert done.returncode == 0, done.stdout


def test_the_image_runs_as_a_user_without_rights() -> None:
    assert re.findall(r"^USER (\S+)", (ROOT / "Dockerfile").read_text(), re.M) == ["10001:10001"]


def test_what_the_image_copies_first_is_enough_for_its_bootstrap(tmp_path: Path) -> None:
    (names,) = re.findall(r"^COPY (manage\.py .+) \./$", (ROOT / "Dockerfile").read_text(), re.M)
    for name in names.split():
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "config" / "launch", tmp_path / "config" / "launch")
    shutil.copy(ROOT / "config" / "__init__.py", tmp_path / "config")

    done = subprocess.run(
        [sys.executable, "-S", "-c", "import runpy; runpy.run_path('manage.py')"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_prometheus_accepts_its_configuration() -> None:
    promtool = needs.program("promtool")

    done = run(promtool, "check", "config", str(ROOT / "config" / "prometheus.yml"))

    assert done.returncode == 0, done.stderr
