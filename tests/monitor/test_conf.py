"""Settings come from the host project or from the file, once, and say where they are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import override_settings

from monitor import conf
from monitor.domain.errors import ConfigurationError


@pytest.fixture
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "comboio.toml"
    monkeypatch.setenv("COMBOIO_CONFIG", str(path))
    conf.reset()
    return path


@pytest.fixture(autouse=True)
def _read_again() -> Iterator[None]:
    conf.reset()
    yield
    conf.reset()


def test_the_file_of_this_repository_is_right() -> None:
    path = Path(settings.BASE_DIR) / "comboio.toml"
    assert path.is_file()
    assert {"payments", "github", "events"} <= set(conf.get().sources)


def test_a_named_file_is_read_once(config_file: Path) -> None:
    config_file.write_text("[retention]\ndedup_days = 30\n")
    first = conf.get()
    config_file.write_text("[retention]\ndedup_days = 31\n")
    assert conf.get() is first
    conf.reset()
    assert conf.get().retention.dedup_days == 31


def test_a_named_file_that_is_missing_is_refused(config_file: Path) -> None:
    with pytest.raises(ConfigurationError, match="COMBOIO_CONFIG names"):
        conf.get()


@pytest.mark.parametrize("text", ["[", "a = \xff"])
def test_a_file_that_is_no_toml_is_refused(config_file: Path, text: str) -> None:
    config_file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"comboio\.toml is not TOML"):
        conf.get()


def test_a_host_project_gives_the_same_as_a_setting() -> None:
    with override_settings(COMBOIO={"retention": {"dedup_days": 20}}):
        assert conf.get().retention.dedup_days == 20
    with (
        override_settings(COMBOIO={"retentions": {}}),
        pytest.raises(ConfigurationError, match=r"settings\.COMBOIO: retentions is unknown"),
    ):
        conf.get()
    assert "payments" in conf.get().sources
