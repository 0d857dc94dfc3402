"""Kernels on disk: they are taken from there, but not when a kernel inside them has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

INNER = "from planner_node.engines.cpu.jit import kernel\n\n@kernel\ndef inner(x):\n    return x + {}\n"
MIDDLE = (
    "from planner_node.engines.cpu.jit import kernel\nfrom .inner import inner\n\n"
    "@kernel\ndef middle(x):\n    return 10.0 * inner(x)\n"
)
OUTER = (
    "from planner_node.engines.cpu.jit import kernel\nfrom .middle import middle\n\n"
    "@kernel\ndef outer(x):\n    return -middle(x)\n"
)
SAY = "from kernels.outer import outer; print(outer(1.0), sum(outer.stats.cache_hits.values()))"


def said(folder: Path) -> list[str]:
    """What a fresh process computes, and how many kernels it found on disk."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", SAY], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_change_two_kernels_down_is_seen_in_the_next_process(tmp_path: Path) -> None:
    package = tmp_path / "kernels"
    package.mkdir()
    for name, text in (("__init__", ""), ("inner", INNER.format(1.0)), ("middle", MIDDLE), ("outer", OUTER)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    assert said(tmp_path) == ["-20.0", "0"]
    assert said(tmp_path) == ["-20.0", "1"]
    (package / "inner.py").write_text(INNER.format(22.0), encoding="utf-8")
    assert said(tmp_path) == ["-230.0", "0"]
