from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from proof import history


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))
    monkeypatch.setattr(history, "_pid", 0)
    return tmp_path


def test_lines_of_a_killed_child_are_kept_in_a_file_of_its_own(folder: Path) -> None:
    history.write("begin", key="k-1")
    child = os.fork()
    if child == 0:
        history.write("start", key="k-2")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    lines = history.in_time(folder)
    assert [(each["pid"], each["event"], each["key"]) for each in lines] == [
        (os.getpid(), "begin", "k-1"),
        (child, "start", "k-2"),
    ]
    assert len(list(folder.iterdir())) == 2


def test_half_a_line_at_the_end_is_left_out(folder: Path) -> None:
    history.write("whole")
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes() + b'{"mono_ns": 1, "ev')
    assert [each["event"] for each in history.read(folder)] == ["whole"]


def test_the_digest_changes_with_any_byte(folder: Path) -> None:
    history.write("one")
    before = history.digest(folder)
    assert history.digest(folder) == before
    history.write("two")
    assert history.digest(folder) != before


def test_without_a_folder_nothing_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(history.FOLDER)
    history.write("nowhere")
    assert list(folder.iterdir()) == []
