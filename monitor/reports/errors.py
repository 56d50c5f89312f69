"""What a report may refuse: it took too long, or its page link is damaged."""

from __future__ import annotations

from monitor.domain.errors import ComboioError


class ReportTimeoutError(ComboioError):
    """A report was stopped by its time limit; the text says what to do."""


class CursorError(ComboioError):
    """The cursor of a page link cannot be read; open the list from its start."""
