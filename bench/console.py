"""How fast the console is on a large inbox. Run it with: .venv/bin/python -m bench.console

On an embedded PostgreSQL with fsync on, filled with a made-up history (5,000,000 messages, 200,000
of them dead, 50,000 sessions), through the real web server on loopback, with the clock running:
the time of every page while 500 messages come and are run each second; what 20 tabs cost the web
process that nobody touches (a poll each 15 s) and that are used (each 2 s); and how much slower a
worker gets by 20 used tabs, in pairs by turns. Believe ratios and shares, not rates.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bench import console_pages, drain
from bench.server import durable_database
from bench.tabs import Tabs
from bench.traffic import SESSIONS
from bench.web import cookie, cpu_seconds, process, web
from monitor.seeding import history
from monitor.seeding.shape import Shape

INFLOW = 500  # messages a second beside the pages
PAGE_MILLISECONDS = 150.0
IDLE_SHARE, ACTIVE_SHARE = 0.05, 0.15
IDLE_SECONDS, ACTIVE_SECONDS = 15.0, 2.0
THROUGHPUT_RATIO = 0.90
_SLICE = 15_000  # messages a worker runs in one half of a pair


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTime:
    """Times of one page in milliseconds."""

    name: str
    median: float
    p95: float
    most: float
    kilobytes: float


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 0 when every goal is reached."""
    options = _parse(arguments)
    with tempfile.TemporaryDirectory(prefix="comboio-static-") as static:
        os.environ["COMBOIO_STATIC"] = static
        os.environ["COMBOIO_HTTPS"] = "0"
        with durable_database() as durability:
            _say(options, durability)
            _fill(options)
            return _measure(options, durability)


def _measure(options: argparse.Namespace, durability: str) -> int:
    signed_in = cookie()
    with (
        web() as (server, port),
        process("clock", "manage.py", "clock", "--skip-checks"),
        process("worker", "-m", "bench.traffic", "drain", talks=True) as worker,
        process("worker", "-m", "bench.traffic", "feed", talks=True) as feeder,
    ):
        times = _pages(options, port, signed_in, worker, feeder)
        found = {
            "durability": durability,
            "messages": options.messages,
            "pages": {each.name: [each.median, each.p95, each.most] for each in times},
        }
        _print_pages(options, times)
        shares = {}
        for name, every in (("idle", IDLE_SECONDS), ("active", ACTIVE_SECONDS)):
            shares[name] = _share(options, name, server.pid, Tabs(port, signed_in, every))
        ratio = _throughput(options, port, signed_in, worker, feeder)
    slow = [each.name for each in times if each.p95 >= PAGE_MILLISECONDS]
    goals = {
        f"p95 of each page below {PAGE_MILLISECONDS:.0f} ms": not slow,
        f"20 idle tabs below {IDLE_SHARE:.0%} of a core": shares["idle"] < IDLE_SHARE,
        f"20 active tabs below {ACTIVE_SHARE:.0%}": shares["active"] < ACTIVE_SHARE,
        f"throughput at least {THROUGHPUT_RATIO:.0%}": ratio >= THROUGHPUT_RATIO,
    }
    for goal, is_reached in goals.items():
        _say(options, f"{'reached' if is_reached else 'MISSED':<8} {goal}")
    if options.json:
        found |= {"shares": shares, "throughput_ratio": ratio, "slow": slow}
        sys.stdout.write(json.dumps(found) + "\n")
    return 0 if all(goals.values()) else 1


def _fill(options: argparse.Namespace) -> None:
    begun = time.perf_counter()
    shape = Shape.of(
        options.messages, dead=options.dead, sessions=options.sessions, seed=1, days=options.days
    )
    made = history.fill(shape)
    drain.prepare(SESSIONS)
    _say(options, f"{made} in {time.perf_counter() - begun:.0f} s")


def _pages(
    options: argparse.Namespace,
    port: int,
    signed_in: str,
    worker: subprocess.Popen[bytes],
    feeder: subprocess.Popen[bytes],
) -> list[PageTime]:
    """Every page in turns, while messages come and are run."""
    reader = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def read(address: str) -> str:
        return _get(reader, address, signed_in)

    asked = console_pages.pages(read)
    for _name, address in asked:  # the first look compiles templates
        read(address)
    running = options.rounds * len(asked) * 0.15 + 10
    _order(feeder, f"{int(INFLOW * running)} {INFLOW}")
    _order(worker, f"{int(INFLOW * running)}")
    spent: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, int] = {}
    for _round in range(options.rounds):
        random.shuffle(asked)
        for name, address in asked:
            begun = time.perf_counter()
            sizes[name] = len(read(address))
            spent[name].append((time.perf_counter() - begun) * 1_000)
    _answer(feeder)
    _answer(worker)
    return sorted(
        (_page_time(name, values, sizes[name]) for name, values in spent.items()),
        key=lambda each: -each.p95,
    )


def _get(reader: http.client.HTTPConnection, address: str, signed_in: str) -> str:
    reader.request("GET", address, headers={"Cookie": signed_in})
    answer = reader.getresponse()
    text = answer.read().decode()
    if answer.status >= http.client.BAD_REQUEST:
        raise SystemExit(f"{address} answered {answer.status}.")
    return text


def _page_time(name: str, values: list[float], size: int) -> PageTime:
    ordered = sorted(values)
    return PageTime(
        name=name,
        median=round(statistics.median(ordered), 1),
        p95=round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 1),
        most=round(ordered[-1], 1),
        kilobytes=round(size / 1_024, 1),
    )


def _share(options: argparse.Namespace, name: str, pid: int, tabs: Tabs) -> float:
    """What the tabs cost the web process, as a share of one core."""
    with tabs:
        time.sleep(tabs.every_seconds + 1)  # every tab has asked once
        cpu, begun = cpu_seconds(pid), time.perf_counter()
        answered, unchanged = tabs.answered, tabs.unchanged
        time.sleep(max(tabs.every_seconds * 2, 20))
        share = (cpu_seconds(pid) - cpu) / (time.perf_counter() - begun)
        answered, unchanged = tabs.answered - answered, tabs.unchanged - unchanged
    if tabs.failed:
        raise SystemExit(f"{tabs.failed} polls failed.")
    _say(
        options,
        f"20 {name} tabs: {share:.1%} of a core, {answered} polls, {unchanged} of them unchanged",
    )
    return round(share, 4)


def _throughput(
    options: argparse.Namespace,
    port: int,
    signed_in: str,
    worker: subprocess.Popen[bytes],
    feeder: subprocess.Popen[bytes],
) -> float:
    """The median of what a worker does beside 20 active tabs, against without them."""
    ratios = []
    for pair in range(1, options.pairs + 1):
        _order(feeder, f"{_SLICE * 2} 0")
        _answer(feeder)
        rates = {}
        for with_tabs in (True, False) if pair % 2 else (False, True):
            tabs = Tabs(port, signed_in, ACTIVE_SECONDS)
            if with_tabs:
                with tabs:
                    rates[True] = _drained(worker)
            else:
                rates[False] = _drained(worker)
        ratios.append(rates[True] / rates[False])
        _say(options, f"pair {pair}: {rates[True]:,.0f}/s with, {rates[False]:,.0f}/s without tabs")
    median = round(statistics.median(ratios), 3)
    _say(options, f"median ratio of the worker's throughput: {median}")
    return median


def _drained(worker: subprocess.Popen[bytes]) -> float:
    _order(worker, str(_SLICE))
    return _SLICE / _answer(worker)


def _order(subject: subprocess.Popen[bytes], line: str) -> None:
    if subject.stdin is None:
        raise AssertionError
    subject.stdin.write(line.encode() + b"\n")
    subject.stdin.flush()


def _answer(subject: subprocess.Popen[bytes]) -> float:
    if subject.stdout is None:
        raise AssertionError
    line = subject.stdout.readline()
    if not line:
        raise SystemExit("A process of the traffic has ended.")
    return float(line)


def _print_pages(options: argparse.Namespace, times: list[PageTime]) -> None:
    _say(options, f"{'page':<24}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}{'kB':>8}")
    for each in times:
        figures = f"{each.median:>9.1f}{each.p95:>9.1f}{each.most:>9.1f}{each.kilobytes:>8.1f}"
        _say(options, f"{each.name:<24}{figures}")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=5_000_000)
    parser.add_argument("--dead", type=int, help="default: 1 of 25 messages")
    parser.add_argument("--sessions", type=int, help="default: 1 of 100 messages")
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=20, help="looks at each page")
    parser.add_argument("--pairs", type=int, default=5, help="of the worker's throughput")
    parser.add_argument("--json", action="store_true", help="one line of JSON at the end")
    return parser.parse_args(arguments)


def _say(options: argparse.Namespace, text: str) -> None:
    out = sys.stderr if options.json else sys.stdout
    out.write(text + "\n")
    out.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
