"""The provider as a process: python -m examples.provider --ledger FILE [--port N]."""

from __future__ import annotations

import argparse
from pathlib import Path

from examples.provider.faults import Faults
from examples.provider.ledger import Ledger
from examples.provider.server import Provider


def main() -> None:
    """Serve until the process is told to stop."""
    parser = argparse.ArgumentParser(prog="python -m examples.provider", description=__doc__)
    parser.add_argument("--ledger", type=Path, required=True, help="the file of what was charged")
    parser.add_argument("--port", type=int, default=0, help="by default any free one")
    parser.add_argument("--seed", default="0", help="the same seed gives the same faults")
    parser.add_argument("--unavailable", type=float, default=0.0, help="share answered with 503")
    parser.add_argument("--drop", type=float, default=0.0, help="share done, then cut off")
    parser.add_argument("--closed", type=float, default=0.0, help="the same, and books closed")
    parser.add_argument("--slow", type=float, default=0.0, help="share done or answered late")
    parser.add_argument("--slow-seconds", type=float, default=1.0, help="how late")
    parser.add_argument(
        "--closed-seconds", type=float, default=0.0, help="how long the books are closed"
    )
    found = parser.parse_args()
    found.ledger.parent.mkdir(parents=True, exist_ok=True)
    faults = Faults(
        seed=found.seed,
        unavailable=found.unavailable,
        drop=found.drop,
        closed=found.closed,
        slow=found.slow,
        slow_seconds=found.slow_seconds,
    )
    provider = Provider(
        Ledger(found.ledger), port=found.port, faults=faults, closed_seconds=found.closed_seconds
    )
    print(provider.url, flush=True)  # noqa: T201
    provider.serve_forever()


if __name__ == "__main__":
    main()
