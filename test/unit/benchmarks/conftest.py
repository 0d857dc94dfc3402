"""Loads each robot once."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", params=["panda", "ur5"])
def sphere_robot(request):
    from benchmarks.mbm.sphere_robot import load_sphere_robot

    return load_sphere_robot(request.param)


@pytest.fixture(scope="session")
def panda():
    from benchmarks.mbm.sphere_robot import load_sphere_robot

    return load_sphere_robot("panda")
