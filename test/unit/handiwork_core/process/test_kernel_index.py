"""Kernels from disk: their intermediate code is parsed late, and callers that are compiled afterwards still find it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KEPT = """
from handiwork_planning.kernels.jit import kernel

@kernel
def half(value):
    return 0.5 * value

@kernel
def quarter(value):
    return half(half(value))

@kernel
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)
"""
FIRST = "import kept; print(kept.quarter(8.0), kept.factorial(5))"
SECOND = """
import kept
from handiwork_core.process.kernel_index import SharedModule
from handiwork_planning.kernels.jit import kernel

print(kept.quarter(8.0), kept.factorial(5))
for one in (kept.quarter, kept.factorial):
    assert sum(one.stats.cache_hits.values()) == 1, one
    (compiled,) = one.overloads.values()
    assert isinstance(compiled.library._shared_module, SharedModule)

@kernel
def eighth(value):
    return 0.5 * kept.quarter(value)

@kernel
def permutations(n):
    return kept.factorial(n) / 2.0

print(eighth(8.0), permutations(5))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kept.py").write_text(KEPT, encoding="utf-8")
    (tmp_path / "second.py").write_text(SECOND, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> str:
    """Run Python with the module in the folder, which also has the kernels' files."""
    own = {"NUMBA_CACHE_DIR": str(folder / "kernels"), "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, *words], env={**os.environ, **own}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_kernel_from_disk_runs_and_is_built_into_callers_of_later(folder: Path) -> None:
    assert run(folder, "-c", FIRST).split() == ["2.0", "120"]
    assert run(folder, "-m", "second").split() == ["2.0", "120", "1.0", "60.0"]
    # The callers of later were kept as well, with all that they need.
    assert run(folder, "-m", "second").split() == ["2.0", "120", "1.0", "60.0"]
