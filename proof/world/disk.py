"""A disk of the run's own, small enough to be filled: a file mounted as a file system by root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from proof.world import keeper

_BLOCK = 4096


class SmallDisk:
    """A file system in a sparse file. mount, fill and unmount belong to the keeper's thread."""

    def __init__(self, image: Path, place: Path, size_bytes: int) -> None:
        self.place = place
        self._image = image
        self._size = size_bytes
        self._ballast = -1
        self.why_not = "The disk cannot be filled: it is not mounted."

    def mount(self) -> None:
        """Make and mount it; refused, it stays an ordinary folder, and why_not says why."""
        self.place.mkdir(mode=0o711, parents=True, exist_ok=True)
        if os.getuid() != 0:
            self.why_not = "The disk cannot be filled: only root may mount one of its own."
            return
        try:
            keeper.own_mounts()
            with self._image.open("wb") as file:
                file.truncate(self._size)
            # -m 0: nothing is set aside, so full means full for everybody.
            _run("mkfs.ext4", "-q", "-F", "-m", "0", "-i", "65536", str(self._image))
            options = "loop,nodev,nosuid,noinit_itable"  # nothing is written in the background
            _run("mount", "-o", options, str(self._image), str(self.place))
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", b"") or str(error).encode()
            self.why_not = f"The disk cannot be filled: {said.decode(errors='replace').strip()}"
            self._image.unlink(missing_ok=True)
            return
        self.place.chmod(0o711)
        self.why_not = ""

    def fill(self) -> None:
        """Take every free block."""
        if self._ballast < 0:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._ballast = os.open(self.place / "ballast", flags, 0o600)
        chunk = self.free_bytes()
        while chunk >= _BLOCK:
            try:
                os.posix_fallocate(self._ballast, os.fstat(self._ballast).st_size, chunk)
            except OSError:
                chunk //= 2

    def free(self) -> None:
        """Give the blocks back. Also while the keeper waits for a server that finds no room."""
        if self._ballast >= 0:
            os.ftruncate(self._ballast, 0)

    @property
    def is_full(self) -> bool:
        """Whether it was filled and not freed."""
        return self._ballast >= 0 and os.fstat(self._ballast).st_size > 0

    def free_bytes(self) -> int:
        """What is left for everybody."""
        found = os.statvfs(self.place)
        return found.f_bavail * found.f_frsize

    def unmount(self) -> None:
        """Take it away, with all that is on it."""
        if self._ballast >= 0:
            os.close(self._ballast)
            self._ballast = -1
        if not self.why_not:
            with contextlib.suppress(subprocess.CalledProcessError):
                _run("umount", "-l", str(self.place))
        self._image.unlink(missing_ok=True)
        shutil.rmtree(self.place, ignore_errors=True)


def _run(*command: str) -> None:
    path = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if path is None:
        raise OSError(f"{command[0]} is not installed")
    subprocess.run([path, *command[1:]], check=True, capture_output=True)  # noqa: S603
