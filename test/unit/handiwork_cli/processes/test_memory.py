"""The growth of a process's memory leaves its warm-up out, and a process that was started again is another one."""

from __future__ import annotations

import math
import os
import subprocess

import pytest

from handiwork_cli.processes.memory import Memory, MemoryWatch, memory_lines, resident_bytes


def test_memory_slope_ignores_the_warm_up_and_short_lives() -> None:
    warm = [(float(t), 1e8 * t) for t in range(0, 100, 10)]
    steady = [(120.0 + t, 1e9 + 1e6 * t / 3600.0) for t in range(0, 600, 10)]
    grown = Memory("n", 1, (*warm, *steady))
    assert grown.slope_mb_per_h == pytest.approx(1.0)
    assert math.isnan(Memory("n", 1, tuple(warm)).slope_mb_per_h)
    assert math.isnan(Memory("n", 1, ()).slope_mb_per_h)


def test_a_share_of_a_long_run_is_warm_up_too() -> None:
    rising = [(float(t), 1e5 * t) for t in range(0, 900, 10)]
    steady = [(float(t), 9e7) for t in range(900, 3610, 10)]
    assert Memory("n", 1, (*rising, *steady), 0.25).slope_mb_per_h == pytest.approx(0.0, abs=1e-6)
    assert Memory("n", 1, (*rising, *steady)).slope_mb_per_h > 10.0


def test_a_node_that_was_started_again_is_another_process() -> None:
    now_s, pids = [0.0], {"mine": os.getpid(), "gone": None}
    watch = MemoryWatch(["mine", "gone"], pids.get, clock=lambda: now_s[0])
    for step in range(30):
        now_s[0] = 10.0 * step
        watch.sample()
    pids["mine"] = os.getppid()
    watch.sample()
    assert [(one.node, len(one.samples)) for one in watch.found] == [("mine", 30), ("mine", 1)]
    assert [line.split(":")[0] for line in memory_lines(watch.found)] == [f"memory of mine ({os.getpid()})"]


@pytest.mark.processes
def test_memory_of_a_process_that_has_ended_is_unknown() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert resident_bytes(process.pid) is None
