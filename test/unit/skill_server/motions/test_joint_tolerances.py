"""The tolerances of the controller follow those of the waypoint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry
from skill_server.execution.run import run_skill
from skill_server.motions.joint_tolerances import joint_tolerances
from skill_server.skills.motion.home import Home, HomeParams
from support.paths import ROBOTS
from unit.skill_server.execution.test_executor import made

GREATEST = 0.05


def test_rails_take_the_distance_and_wrists_the_angle() -> None:
    robot = gantry()
    arm = robot.arms["arm"]
    found = joint_tolerances(robot, arm, np.array(arm.home_q), 0.002, 0.01)
    assert found == pytest.approx([0.002] * 3 + [0.01] * 3, rel=1e-6)


def test_they_end_at_what_the_controller_accepts() -> None:
    robot = gantry()
    arm = robot.arms["arm"]
    assert joint_tolerances(robot, arm, np.array(arm.home_q), 1.0, 1.0).max() == GREATEST
    strict = replace(arm, controller_profile=replace(arm.controller_profile, greatest_goal_tolerance=0.01))
    assert joint_tolerances(robot, strict, np.array(arm.home_q), 1.0, 1.0).max() == 0.01


@pytest.mark.parametrize("name", ["fr3", "ur10_suction"])
def test_one_joint_at_its_tolerance_is_just_within_the_waypoint(name: str) -> None:
    robot = load_robot(ROBOTS / name)
    arm = robot.arm("")
    q, t_eps, o_eps = np.array(arm.home_q), 0.003, 0.02
    here = forward(robot, arm.name, q)
    for i, tolerance in enumerate(joint_tolerances(robot, arm, q, t_eps, o_eps)):
        off = q.copy()
        off[i] += tolerance
        gap_m, turn_rad = here.distance_to(forward(robot, arm.name, off))
        assert max(gap_m / t_eps, turn_rad / o_eps) == pytest.approx(1.0, rel=1e-3)


def sent(f: Fakes) -> list[Trajectory]:
    """Record the motions that the arm is sent."""
    found, follow = list[Trajectory](), f.arm.follow

    def note(trajectory: Trajectory, *, should_stop: Any) -> Any:
        found.append(trajectory)
        return follow(trajectory, should_stop=should_stop)

    f.arm.follow = note  # type: ignore[method-assign]
    return found


@pytest.mark.parametrize(("t_eps", "o_eps"), [(0.001, 0.005), (0.02, 0.04)])
def test_a_goal_sends_its_tolerances_to_the_controller(t_eps: float, o_eps: float) -> None:
    f = made()
    f.cell.q = f.cell.q + 0.1
    found = sent(f)
    assert run_skill(Home(), HomeParams(t_eps=t_eps, o_eps=o_eps), f.context).outcome.ok
    (trajectory,) = found
    assert trajectory.goal_tolerance == pytest.approx([t_eps] * 3 + [o_eps] * 3, rel=1e-3)
    rest = trajectory.remaining(0.1)
    assert np.array_equal(rest.goal_tolerance, trajectory.goal_tolerance)
