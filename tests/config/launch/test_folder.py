from __future__ import annotations

import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from config.launch import postgres
from config.launch.errors import LaunchError
from config.launch.folder import DataFolder, Lock, source_secrets
from config.launch.process import spawn


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    return DataFolder(path=tmp_path / "var")


def test_a_full_disk_is_refused_in_words(data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")(1, 1, 100 * 2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)

    with pytest.raises(LaunchError, match=r"Only 100 MiB are free in .*; 200 MiB are needed"):
        data.prepare()


def test_a_place_that_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(LaunchError, match=r"Cannot write to the data folder .*: Not a directory"):
        DataFolder(path=tmp_path / "file" / "var").prepare()


def test_sockets_of_a_deep_folder_lie_where_the_path_is_short(tmp_path: Path) -> None:
    deep = DataFolder(path=tmp_path / ("x" * 90) / "var")

    assert len(os.fsencode(deep.run)) < 80
    assert deep.run != DataFolder(path=tmp_path / ("y" * 90) / "var").run


def test_a_secret_is_made_once_and_readable_by_its_owner_only(data: DataFolder) -> None:
    data.prepare()

    assert data.secret("key") == data.secret("key")
    assert len(data.secret("key")) >= 50
    assert (data.path / "secrets" / "key").stat().st_mode & 0o077 == 0


def test_the_second_holder_reads_the_words_of_the_first(data: DataFolder) -> None:
    with Lock(data) as held:
        held.say("http://127.0.0.1:8000/ process 1")

        with pytest.raises(LaunchError, match=r"Already running: http://127\.0\.0\.1:8000/") as no:
            Lock(data).take()

    assert no.value.status == 3
    with Lock(data):
        pass


def test_every_secret_that_the_sources_name_gets_a_value(data: DataFolder, tmp_path: Path) -> None:
    data.prepare()
    config = tmp_path / "comboio.toml"
    config.write_text(
        "[sources.a.auth]\nsecrets = [{ env = 'A_SECRET' }, { env = 'A_NEXT' }]\n"
        "[sources.b]\nurl_env = 'B_URL'\n[sources.b.auth]\nsecrets = [{ env = 'A_SECRET' }]\n"
    )

    assert set(source_secrets(config, data)) == {"A_SECRET", "A_NEXT"}


def test_broken_toml_is_refused_with_its_place(data: DataFolder, tmp_path: Path) -> None:
    config = tmp_path / "comboio.toml"
    config.write_text("[sources\n")

    with pytest.raises(LaunchError, match=r"is not valid TOML: .*line 1"):
        source_secrets(config, data)


def test_a_pid_file_whose_number_another_process_has_is_removed(tmp_path: Path) -> None:
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n{tmp_path}\n")

    postgres.settle_leftovers(tmp_path)

    assert not (tmp_path / "postmaster.pid").exists()


def test_an_orphan_that_works_in_the_folder_is_stopped(tmp_path: Path) -> None:
    orphan = spawn(
        ["sleep", "60"],
        death_signal=postgres.STOP_SIGNAL,
        environment=os.environ,
        output=tmp_path / "log",
        folder=tmp_path,
    )
    (tmp_path / "postmaster.pid").write_text(f"{orphan.pid}\n{tmp_path}\n")

    # It is our own child, so it stays a zombie, and leaves the folder, until it is waited for.
    postgres.settle_leftovers(tmp_path)

    assert orphan.wait(5) == -postgres.STOP_SIGNAL


def test_data_of_another_version_are_refused_in_words(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "PG_VERSION").write_text("9.6\n")
    cluster = postgres.Cluster(
        binaries=postgres.find_binaries(),
        data=data,
        sockets=tmp_path / "run",
        account=postgres.OURSELVES,
    )

    with pytest.raises(LaunchError, match=r"was made by PostgreSQL 9\.6"):
        postgres.initialise(cluster)
