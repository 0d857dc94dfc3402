"""Compile the controller's kernels ahead of a start: ``python -m decider_node.compile_kernels ROBOT_FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from handiwork_core.geometry import Pose
from handiwork_core.robot_loader import load_robot

from .motion.command import MotionCommand
from .motion.controller import ReactiveController


def main() -> None:
    """One cycle uses all of them; any robot will do."""
    robot = load_robot(Path(sys.argv[1]))
    arm = robot.arm("")
    controller = ReactiveController(robot, arm, Pose.identity())
    here = controller.tool_pose(arm.home_q)
    controller.configuration(here, [arm.home_q])
    controller.step(MotionCommand(here), arm.home_q, 0.01)


if __name__ == "__main__":
    main()
