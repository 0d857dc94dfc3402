"""Kernels on disk: they are taken from there, but not when a kernel inside them has changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

INNER = "from handiwork_planning.kernels.jit import kernel\n\n@kernel\ndef inner(x):\n    return x + {}\n"
MIDDLE = (
    "from handiwork_planning.kernels.jit import kernel\nfrom .inner import inner\n\n"
    "@kernel\ndef middle(x):\n    return 10.0 * inner(x)\n"
)
OUTER = (
    "from handiwork_planning.kernels.jit import kernel\nfrom .middle import middle\n\n"
    "@kernel\ndef outer(x):\n    return -middle(x)\n"
)
SAY = "from kernels.outer import outer; print(outer(1.0), sum(outer.stats.cache_hits.values()))"


def said(folder: Path) -> list[str]:
    """Return the result of a new process, and the number of kernels that it found on disk."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", SAY], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    "decorator",
    ["handiwork_planning.kernels.jit import kernel", "handiwork_core.safety.jit import compiled as kernel"],
)
def test_a_change_two_kernels_down_is_seen_in_the_next_process(tmp_path: Path, decorator: str) -> None:
    package = tmp_path / "kernels"
    package.mkdir()
    for name, text in (("__init__", ""), ("inner", INNER.format(1.0)), ("middle", MIDDLE), ("outer", OUTER)):
        text = text.replace("handiwork_planning.kernels.jit import kernel", decorator)
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    assert said(tmp_path) == ["-20.0", "0"]
    assert said(tmp_path) == ["-20.0", "1"]
    inner = INNER.format(22.0).replace("handiwork_planning.kernels.jit import kernel", decorator)
    (package / "inner.py").write_text(inner, encoding="utf-8")
    assert said(tmp_path) == ["-230.0", "0"]


SHAPED = (
    "from typing import NamedTuple\nimport numpy as np\n\n"
    "class Pair(NamedTuple):\n    {}: float\n    {}: float\n\nSOME = Pair(1.0, 2.0)\n"
)
TAKING = (
    "from handiwork_planning.kernels.jit import kernel\nfrom .inner import Pair, SOME\n\n"
    "@kernel\ndef taken(p):\n    return 10.0 * p.a + p.b\n\n"
    "def outer(x):\n    return taken(SOME)\n\n"
    "outer.stats = taken.stats\n"
)


def write(folder: Path, **texts: str) -> None:
    (folder / "kernels").mkdir(exist_ok=True)
    for name, text in {"__init__": "", **texts}.items():
        (folder / "kernels" / f"{name}.py").write_text(text, encoding="utf-8")


def test_fields_in_another_order_are_seen_in_the_next_process(tmp_path: Path) -> None:
    write(tmp_path, inner=SHAPED.format("a", "b"), outer=TAKING)
    assert said(tmp_path) == ["12.0", "0"]
    assert said(tmp_path) == ["12.0", "1"]
    write(tmp_path, inner=SHAPED.format("b", "a") + "\n")
    assert said(tmp_path) == ["21.0", "0"]


def test_a_class_that_moved_makes_an_old_cache_empty(tmp_path: Path) -> None:
    write(tmp_path, inner=SHAPED.format("a", "b"), outer=TAKING)
    assert said(tmp_path) == ["12.0", "0"]
    write(tmp_path, inner="from .deeper import SOME, Pair\n", deeper=SHAPED.format("a", "b"))
    assert said(tmp_path) == ["12.0", "0"]
    (tmp_path / "kernels" / "inner.py").unlink()
    write(tmp_path, outer=TAKING.replace(".inner", ".deeper"))
    assert said(tmp_path) == ["12.0", "0"]
    assert said(tmp_path) == ["12.0", "1"]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_a_broken_file_in_the_cache_is_written_anew(tmp_path: Path, kind: str, share: float) -> None:
    write(tmp_path, inner=SHAPED.format("a", "b"), outer=TAKING)
    assert said(tmp_path) == ["12.0", "0"]
    broken = list((tmp_path / "cache").rglob(f"*.{kind}"))
    assert broken
    for file in broken:
        content = file.read_bytes()
        file.write_bytes(content[: int(share * len(content))])
    assert said(tmp_path) == ["12.0", "0"]
    assert said(tmp_path) == ["12.0", "1"]
