"""The benchmark of memory: a fitted line, and the memory of real processes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.nodes.memory import GoalCount, Watch, family, name_of
from benchmarks.nodes.straight_line import Growth, growth, table

from handiwork_cli.processes.memory import resident_bytes

GROWS = """
import sys
kept = []
for line in sys.stdin:
    kept.append(b"x" * 20_000_000)
    print(len(kept), flush=True)
"""


def test_a_known_slope_is_found_and_the_warm_up_does_not_count() -> None:
    times = np.arange(0.0, 3600.0, 10.0)
    rss = 100e6 + 5e6 * times / 3600.0
    rss[times < 600.0] += 80e6 * (1.0 - times[times < 600.0] / 600.0)
    line = growth(times, rss, 600.0)
    assert line is not None
    assert line.slope_mb_h == pytest.approx(5.0, abs=1e-6)
    assert line.error_mb_h == pytest.approx(0.0, abs=1e-6)
    with_warm_up = growth(times, rss, 0.0)
    assert with_warm_up is not None and with_warm_up.slope_mb_h < -10.0


def test_noise_shows_in_the_standard_error() -> None:
    rng, times = np.random.default_rng(0), np.arange(0.0, 3600.0, 10.0)
    line = growth(times, 100e6 + rng.normal(0.0, 2e6, len(times)), 0.0)
    assert line is not None
    assert abs(line.slope_mb_h) < 4.0 * line.error_mb_h
    assert 0.1 < line.error_mb_h < 1.0


def test_residuals_that_are_alike_give_a_greater_standard_error() -> None:
    rng, times = np.random.default_rng(0), np.arange(0.0, 3600.0, 10.0)
    walk = np.zeros(len(times))
    for i, step in enumerate(rng.normal(0.0, 1e5, len(times) - 1), start=1):
        walk[i] = 0.9 * walk[i - 1] + step
    alike, shuffled = growth(times, 1e8 + walk, 0.0), growth(times, 1e8 + rng.permutation(walk), 0.0)
    assert alike is not None and shuffled is not None
    assert alike.error_mb_h > 2.0 * shuffled.error_mb_h
    assert abs(alike.slope_mb_h) < 4.0 * alike.error_mb_h


def test_the_goals_of_a_soak_are_counted_and_growth_is_given_for_a_thousand() -> None:
    count = GoalCount(["episode 1/9 seed 0: ok, 1.0 s\n", "[planner_node] ready\n"])
    count.join()
    assert count.goals == 3
    row = table({"node": Growth(9, 1.0, 2.0, 4.0, 0.1, 1.0)}, goals_h=2000.0).splitlines()[-1]
    assert row.endswith("| +4.00 | 0.10 | +2.00 |")


def test_too_short_a_life_gives_no_line() -> None:
    assert growth(np.arange(10.0), np.full(10, 1e6), 8.0) is None


@pytest.mark.processes
def test_a_process_that_grows_is_seen_among_the_children() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", GROWS, "--ros-args", "-r", "__node:=greedy"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        watch = Watch(os.getpid())
        for _ in range(6):
            child.stdin.write("more\n")
            child.stdin.flush()
            child.stdout.readline()
            watch.sample()
        assert child.pid in family(os.getpid())
        assert name_of(child.pid) == "greedy"
        found = watch.growths(0.0)[f"greedy ({child.pid})"]
        child.stdin.close()
    assert found.last_mb - found.first_mb == pytest.approx(100.0, abs=10.0)
    assert found.slope_mb_h > 0.0
    assert f"| greedy ({child.pid}) | 6 |" in table({f"greedy ({child.pid})": found})


@pytest.mark.processes
def test_a_process_that_has_ended_has_no_memory() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert resident_bytes(child.pid) is None
    assert name_of(child.pid) == "ended"
