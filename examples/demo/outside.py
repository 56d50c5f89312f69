"""What the provider of the demo did for the messages of a run, by its own ledger."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from http.client import HTTPException
from urllib.request import urlopen

from examples.demo.send import NotAnsweredError
from examples.payments.charging import PROVIDER_URL

_ANSWER_SECONDS = 10


def is_there() -> bool:
    """Whether a provider was named, so that charges can be sent."""
    return bool(os.environ.get(PROVIDER_URL))


def charged() -> dict[str, int]:
    """How often each key was charged; nothing without a provider. Raises NotAnsweredError."""
    if not is_there():
        return {}
    url = f"{os.environ[PROVIDER_URL]}/ledger"
    try:
        with urlopen(url, timeout=_ANSWER_SECONDS) as response:  # noqa: S310 - our own address
            found: dict[str, int] = json.load(response)
    except (OSError, HTTPException, ValueError) as error:
        raise NotAnsweredError(f"No ledger from the provider at {url}.") from error
    return found


def figures(keys: Iterable[str], times: Mapping[str, int]) -> dict[str, int]:
    """How many of these effects happened outside, and how often beyond once each."""
    made = [times[key] for key in keys if key in times]
    return {"effects_external": len(made), "external_doubles": sum(made) - len(made)}
