"""Found by the workers of a small world, as the consumers of any app."""

from __future__ import annotations

from tests.proof.world import counting

counting.declare()
