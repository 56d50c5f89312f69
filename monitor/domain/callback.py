"""What a callback is: how the provider of an effect proves that it is the one who tells."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.domain.errors import ConfigurationError
from monitor.domain.source import DAY_SECONDS, Auth

BODY_BYTES = 65_536  # an outcome, a reference and a result; not a document
NAME_BYTES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """The signed entrance /effects/<name>/callback of the effect of that name. auth is needed."""

    name: str
    auth: Auth
    tolerance_seconds: int = 300
    future_seconds: int = 300
    body_limit_bytes: int = BODY_BYTES

    def __post_init__(self) -> None:
        if not self.name.isprintable() or "/" in self.name or not self._is_short(self.name):
            raise ConfigurationError(
                f"the name {self.name!r}: 1 to {NAME_BYTES} bytes of printable text without “/” "
                "are needed, the name that the effect is declared with."
            )
        for setting, low, high in (
            ("tolerance_seconds", 1, DAY_SECONDS),
            ("future_seconds", 0, DAY_SECONDS),
            ("body_limit_bytes", 1, BODY_BYTES),
        ):
            value = getattr(self, setting)
            if not low <= value <= high:
                raise ConfigurationError(f"{setting} = {value}: it must be from {low} to {high}.")

    @staticmethod
    def _is_short(name: str) -> bool:
        return 1 <= len(name.encode()) <= NAME_BYTES
