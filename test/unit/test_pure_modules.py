"""Every module outside the ROS edge can be imported without ROS."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.processes

SRC = ROOT / "src"
ROS_EDGE = {"handiwork_ros"}
BLOCKED = (
    "rclpy",
    "tf2_msgs",
    "control_msgs",
    "handiwork_msgs",
    "moveit_msgs",
    "nav2_msgs",
    "moveit_task_constructor_msgs",
    "simulation_interfaces",
    "std_msgs",
    "geometry_msgs",
    "sensor_msgs",
    "trajectory_msgs",
    "action_msgs",
    "rosgraph_msgs",
    "diagnostic_msgs",
    "builtin_interfaces",
)
LATE = ("mujoco", "torch", "curobo", "isaacsim", "pxr")

CHECK = """
import importlib, sys
blocked, late, modules = (part.split(",") for part in sys.argv[1:4])
for name in blocked:
    sys.modules[name] = None
for module in modules:
    importlib.import_module(module)
early = [name for name in late if name in sys.modules]
assert not early, f"{early} imported at the top of a module: import inside a function"
"""


def pure_modules(package: Path) -> list[str]:
    """Return the modules of a package that may not import ROS: all but node.py and those in a folder ros/.

    Args:
        package: Name of the package.
    """
    files = [
        path
        for path in sorted((package / package.name).rglob("*.py"))
        if path.name != "node.py" and "ros" not in path.relative_to(package).parts
    ]
    modules = [path.relative_to(package).with_suffix("") for path in files]
    return [".".join(path.parts).removesuffix(".__init__") for path in modules]


PACKAGES = [path.parent for path in sorted(SRC.glob("*/setup.py")) if path.parent.name not in ROS_EDGE]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_pure_modules_import_without_ros(package: Path) -> None:
    modules = pure_modules(package)
    assert modules
    run = subprocess.run(
        [sys.executable, "-c", CHECK, ",".join(BLOCKED), ",".join(LATE), ",".join(modules)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
