"""Compile the controller's kernels ahead of a start: ``python -m decider_node.compile_kernels ROBOT_FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot

from .motion.command import MotionCommand
from .motion.controller import ReactiveController


def warm_up(robot: Robot) -> None:
    """Run one cycle, which uses all kernels; their first use in a process takes a second or two.

    Args:
        robot: Any robot with an arm.
    """
    arm = robot.arm("")
    controller = ReactiveController(robot, arm, Pose.identity())
    here = controller.tool_pose(arm.home_q)
    controller.configuration(here, [arm.home_q])
    controller.step(MotionCommand(here), arm.home_q, 0.01)


def main() -> None:
    """Compile the kernels with the robot of the folder that is given; any robot will do."""
    warm_up(load_robot(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
