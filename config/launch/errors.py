"""The error of the launcher: a sentence for the person at the terminal, and an exit status."""

from __future__ import annotations


class LaunchError(Exception):
    """Something must be changed by a person before the command can run."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
