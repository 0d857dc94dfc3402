"""The machine of the measurements, and the engines that are measured."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from functools import cache
from pathlib import Path

from benchmarks.planning.demo import demo_world
from handiwork_core.contracts.planning import Engine
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines.curobo.device.availability import CUROBO_COMMIT

FR3 = Path(__file__).parents[2] / "src/robot_description/robots/fr3"
PACKAGES = ("torch", "warp-lang", "cuda-core", "numpy", "scipy", "numba")


def machine() -> str:
    """Return a description of GPU, driver, processor and versions."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    gpu = subprocess.run(query, check=False, capture_output=True, text=True).stdout.strip()
    cpu = next(
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    )
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return (
        f"{gpu}; {cpu}, {os.cpu_count()} cores; {platform.system()} {platform.release()}; "
        f"Python {platform.python_version()}, {versions}; cuRobo {CUROBO_COMMIT[:7]}"
    )


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


@cache
def fr3() -> Robot:
    """Return the robot of all parts but MotionBenchMaker's."""
    return load_robot(FR3)


@cache
def engine(kind: type[Engine]) -> Engine:
    """Return one engine of a kind for all parts, in the demo world.

    Args:
        kind: The engine's class.
    """
    made = kind(fr3(), Pose.identity(), lambda _share, _text: None)
    made.update_world(demo_world())
    return made
