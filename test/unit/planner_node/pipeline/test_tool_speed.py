"""Planned motions keep the tool speed of the safety layer, by that layer's own kinematics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import JointGoals, PlanRequest, PlanResult
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_core.safety.monitor import SafetyMonitor
from planner_node.engines import CpuEngine
from planner_node.pipeline.pipeline import PlanningPipeline, WorldReaders
from planner_node.pipeline.planning_scene import PlanningScene
from skill_server.motions.quintic_motion import quintic
from support.paths import ROBOTS

PERIOD_S = 0.002


def fastest(robot: Robot, names: tuple[str, ...], trajectory: Trajectory) -> float:
    """Return the greatest tool speed that the safety layer sees when a controller follows."""
    monitor = SafetyMonitor(robot, names, SafetyConfig(), Pose.identity())
    rows = [trajectory.sample(t) for t in np.arange(0.0, trajectory.duration_s, PERIOD_S)]
    q, qd = (np.array(part) for part in zip(*rows, strict=True))
    return monitor.fastest_tool(q, qd)


class OneAnswer(CpuEngine):
    """Finds one motion for any request."""

    def __init__(self, found: Trajectory) -> None:
        self._found = found

    def update_world(self, world: World) -> None:
        return

    def plan(self, request: PlanRequest, should_stop: object) -> PlanResult:
        return PlanResult(Code.OK, trajectory=self._found)


def planned(robot: Robot, found: Trajectory, limit: float) -> Trajectory:
    arm = robot.arm("")
    world = World(0.0, joints=JointState(0.0, dict(zip(arm.joint_names, found.q[0], strict=True))))
    readers = WorldReaders(lambda: world, lambda: True, lambda: 0.0)
    pipeline = PlanningPipeline(robot, OneAnswer(found), PlanningScene(), readers, Pose.identity(), limit)
    request = PlanRequest(arm.name, found.q[0], JointGoals(found.q[-1:]))
    result = pipeline.plan(request, 0, np.inf, lambda: False).trajectory
    assert result is not None
    return result


@pytest.fixture(scope="module")
def swing() -> tuple[Robot, Trajectory]:
    """Return a robot and a swing of its outstretched arm, as fast as its joints allow."""
    robot = load_robot(ROBOTS / "ur10_suction")
    arm = robot.arm("")
    start: Array = frozen(np.zeros(len(arm.joint_names)))
    end = start + np.array([2.5] + [0.0] * (len(start) - 1))
    fast = replace(
        robot, joints={name: replace(j, velocity=4.0, acceleration=40.0) for name, j in robot.joints.items()}
    )
    return robot, quintic(fast, arm, start, end, 1.0, 1.0)


@pytest.mark.parametrize("limit", [3.0, 0.5])
def test_a_fast_motion_takes_more_time_on_the_same_path(
    swing: tuple[Robot, Trajectory], limit: float
) -> None:
    robot, found = swing
    names = robot.arm("").joint_names
    assert fastest(robot, names, found) > 3.0
    kept = planned(robot, found, limit)
    assert 0.9 * limit < fastest(robot, names, kept) < limit
    np.testing.assert_array_equal(kept.q, found.q)
    assert kept.sample(0.5 * kept.duration_s)[0] == pytest.approx(found.sample(0.5 * found.duration_s)[0])


def test_a_slow_motion_stays_as_it_is(swing: tuple[Robot, Trajectory]) -> None:
    robot, found = swing
    assert planned(robot, found, 10.0) is found
    assert planned(robot, found, np.inf) is found
