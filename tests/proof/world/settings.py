"""The settings of a run, with consumers that only count instead of its own."""

from __future__ import annotations

from proof.settings import *  # noqa: F403
from proof.settings import INSTALLED_APPS

INSTALLED_APPS = [*(name for name in INSTALLED_APPS if name != "proof"), "tests.proof.world.app"]
