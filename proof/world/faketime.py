"""A clock that can be moved while the processes that read it run: libfaketime, where installed."""

from __future__ import annotations

from pathlib import Path

_PLACES = ("/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/lib64/faketime")
CACHE_SECONDS = 1
NOT_POSSIBLE = "The clock of the database cannot be moved: libfaketime is not installed."


class FakeClock:
    """The wall clock of one server; what counts up since the start of the machine stays true."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._library = _find()
        self.offset_seconds = 0.0
        if self._library is not None:
            self._write()

    @property
    def why_not(self) -> str:
        """Why the clock cannot be moved, in words; "" when it can."""
        return "" if self._library is not None else NOT_POSSIBLE

    def environment(self) -> dict[str, str]:
        """What the server's environment needs; nothing where it cannot be moved."""
        if self._library is None:
            return {}
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            # A look at the file for each look at the clock would cost 0.2 ms a statement.
            "FAKETIME_CACHE_DURATION": str(CACHE_SECONDS),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",  # it would outlive a killed server
            "NO_FAKE_STAT": "1",
        }

    def step(self, seconds: float) -> None:
        """Move the clock; each process of the server sees it within CACHE_SECONDS, not all at once.

        So for that long they disagree, which is worse than one host can be.
        """
        self.offset_seconds += seconds
        self._write()

    def _write(self) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{self.offset_seconds:+.3f}\n", encoding="ascii")
        fresh.chmod(0o644)
        fresh.rename(self._file)


def _find() -> Path | None:
    for place in _PLACES:
        for folder in sorted(Path("/").glob(place.lstrip("/"))):
            if (folder / "libfaketime.so.1").is_file():
                return folder / "libfaketime.so.1"
    return None
