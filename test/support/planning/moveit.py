"""Robots and situations of the tests of moveit_facade."""

from __future__ import annotations

from functools import cache

import numpy as np

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from moveit_facade.constraints.goals import Situation
from support.paths import ROOT

ROBOTS = ROOT / "src" / "robot_description" / "robots"


@cache
def load(name: str) -> Robot:
    """Return a robot.

    Args:
        name: Name of its folder.
    """
    return load_robot(ROBOTS / name)


def at_home(name: str = "fr3", arm: str = "") -> Situation:
    """Return a robot whose arms are at home, with its root in the origin.

    Args:
        name: Name of its folder.
        arm: Name of the arm; empty for the only one.
    """
    robot = load(name)
    positions = {
        joint: float(q)
        for one in robot.arms.values()
        for joint, q in zip(one.joint_names, one.home_q, strict=True)
    }
    return Situation(robot, robot.arm(arm), Pose.identity(), positions)


def q_of(situation: Situation) -> np.ndarray:
    """Return the configuration of the arm of a situation, (dof,).

    Args:
        situation: The situation.
    """
    return np.array([situation.positions[name] for name in situation.arm.joint_names])
