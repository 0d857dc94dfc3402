"""Makes ``benchmarks`` importable, which is no installed package, and loads each robot once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session", params=["panda", "ur5"])
def sphere_robot(request):
    from benchmarks.mbm.sphere_robot import load_sphere_robot

    return load_sphere_robot(request.param)


@pytest.fixture(scope="session")
def panda():
    from benchmarks.mbm.sphere_robot import load_sphere_robot

    return load_sphere_robot("panda")
