"""How large a run is, and what it must reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

PROVIDER_URL = "PROVIDER_URL"  # the variable that names where the provider listens
LEASE_SECONDS = 2.0  # of the external consumers of a run

SHARES: Mapping[str, float] = MappingProxyType(
    {
        "append": 0.25,
        "slow": 0.05,
        "flaky": 0.03,
        "poison": 0.01,
        "keyed": 0.02,
        "queryable": 0.02,
        "neither": 0.02,
        # the rest: transfers
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The size of a run. The first sender publishes to the broker, the others post over HTTP."""

    name: str
    messages: int
    seconds: float  # how long the senders take when nothing holds them up
    senders: int = 8
    batch: int = 40
    shares: Mapping[str, float] = field(default_factory=lambda: SHARES)
    long_runs: int = 6  # handlers that work longer than their lease
    duplicates: float = 0.25
    mismatches: float = 0.02
    reordered: float = 0.05
    accounts: int = 1000
    drain_seconds: float = 30.0
    takeover_seconds: float = 2.0
    takeover_leased_seconds: float = LEASE_SECONDS + 2.0
    first_commit_seconds: float = 3.0
    targets: Mapping[str, int] = field(default_factory=dict)  # figures that must be reached


# What fails, waits or calls costs many times a plain message: among a million there are fewer.
_LONG = {
    **{"append": 0.25, "slow": 0.02, "flaky": 0.02, "poison": 0.01},
    **{"keyed": 0.005, "queryable": 0.005, "neither": 0.005},
}

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        # For tests, beside whatever else the machine does: its times say nothing.
        "smoke": Profile(
            name="smoke",
            messages=2000,
            seconds=10,
            long_runs=1,
            drain_seconds=120.0,
            takeover_seconds=120.0,
            takeover_leased_seconds=120.0,
            first_commit_seconds=60.0,
            targets={"messages": 2000, "worker_kills": 8, "postgres_kills": 1},
        ),
        "ci": Profile(
            name="ci",
            messages=40_800,
            seconds=200,
            long_runs=3,
            targets={
                "messages": 40_000,
                "external": 2000,
                "queue": 5000,
                "worker_kills": 400,
                "postgres_kills": 8,
                "broker_kills": 2,
                "commits_cut": 100,
                "pauses": 20,
                "clock_steps": 2,
                "disk_full": 1,
            },
        ),
        "long": Profile(
            name="long",
            messages=1_000_000,
            seconds=1900,
            batch=80,
            shares=_LONG,
            long_runs=40,
            targets={
                "messages": 1_000_000,
                "worker_kills": 5000,
                "postgres_kills": 150,
                "broker_kills": 30,
                "commits_cut": 2000,
                "pauses": 300,
            },
        ),
    }
)
