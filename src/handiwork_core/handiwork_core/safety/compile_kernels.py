"""Compile the kernels of the safety layer ahead of its first start.

``python -m handiwork_core.safety.compile_kernels ROBOT_FOLDER``; they do not depend on the robot: any robot works.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot_files.loader import load_robot

from .config import SafetyConfig
from .contact_forces import net_forces
from .monitor import SafetyMonitor


def main() -> None:
    """Call each kernel once."""
    robot = load_robot(Path(sys.argv[1]))
    names = [joint.name for joint in robot.joints.values() if joint.type is not JointKind.FIXED]
    SafetyMonitor(robot, names, SafetyConfig(), Pose.identity()).warm_up()
    none, ints = np.zeros(0), np.zeros(0, dtype=np.int64)
    bodies, address = np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.int32)
    net_forces(bodies, address, np.zeros((0, 9)), none, ints, np.zeros((1, 3)))


if __name__ == "__main__":
    main()
