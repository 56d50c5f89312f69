"""The version of the product; the project file says the same, a test compares them."""

from __future__ import annotations

VERSION = "0.1.0"
