"""Planned motions carry what the hand holds within the efforts of the joints, whatever the engine."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Attachment,
    JointGoals,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    Verdict,
)
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine
from planner_node.pipeline.pipeline import PlanningPipeline, WorldReaders
from planner_node.pipeline.planning_scene import PlanningScene
from skill_server.motions.quintic_motion import quintic
from support.paths import ROBOTS

SCENE = SceneQuery(attached=(Attachment("block", "fr3_hand", Pose.of((0.0, 0.0, 0.13))),))


class OneAnswer(CpuEngine):
    """Finds one motion for any request, and has nothing against any."""

    def __init__(self, found: Trajectory) -> None:
        self._found = found

    def update_world(self, world: World) -> None:
        return

    def plan(self, request: PlanRequest, should_stop: object) -> PlanResult:
        return PlanResult(Code.OK, trajectory=self._found)

    def validate(
        self,
        arm: str,
        trajectory: Trajectory,
        scene: SceneQuery,
        start_q: Array,
        rest: PathRest | None = None,
    ) -> Verdict:
        return Verdict(Code.OK)


@pytest.fixture(scope="module")
def swing() -> tuple[Robot, Trajectory]:
    """Return a robot and a swing of its outstretched arm upwards, as fast as its joints allow."""
    robot = load_robot(ROBOTS / "fr3")
    start: Array = frozen([0.0, 1.4, 0.0, -0.3, 0.0, 1.8, 0.0])
    return robot, quintic(robot, robot.arm(""), start, start + np.array([0.0, -1.2, 0, 0, 0, 0, 0]), 1.0, 1.0)


def pipeline_of(swing: tuple[Robot, Trajectory], mass_kg: float) -> PlanningPipeline:
    robot, found = swing
    shape = Shape(ShapeKind.BOX, frozen((0.06, 0.06, 0.06)), Pose.identity())
    state = ObjectState(Pose.identity(), np.zeros(3), np.zeros(3), 0.0)
    names = robot.arm("").joint_names
    joints = JointState(0.0, dict(zip(names, found.q[0].tolist(), strict=True)))
    block = WorldObject("block", (shape,), mass_kg=mass_kg)
    world = World(0.0, 1, {"block": block}, {"block": state}, joints=joints)
    readers = WorldReaders(lambda: world, lambda: True, lambda: 0.0)
    return PlanningPipeline(robot, OneAnswer(found), PlanningScene(), readers, Pose.identity())


def request_of(found: Trajectory, scene: SceneQuery) -> PlanRequest:
    return PlanRequest("fr3_arm", found.q[0], JointGoals(found.q[-1:]), scene)


def test_a_load_makes_a_planned_motion_slower_and_validation_wants_that(
    swing: tuple[Robot, Trajectory],
) -> None:
    robot, found = swing
    pipeline = pipeline_of(swing, 2.8)
    alone = pipeline.plan(request_of(found, SceneQuery()), 0, np.inf, lambda: False)
    loaded = pipeline.plan(request_of(found, SCENE), 0, np.inf, lambda: False)
    assert alone.trajectory is found and loaded.trajectory is not None
    assert loaded.trajectory.duration_s > 1.05 * found.duration_s
    np.testing.assert_array_equal(loaded.trajectory.q, found.q)
    arm = robot.arm("")
    for trajectory, scene, code in (
        (loaded.trajectory, SCENE, Code.OK),
        (found, SceneQuery(), Code.OK),
        (found, SCENE, Code.TRAJECTORY_REFUSED),
    ):
        verdict, _version = pipeline.validate(arm, trajectory, scene, np.zeros(0), 0)
        assert verdict.code is code, verdict.message


def test_a_load_that_the_arm_cannot_hold_is_a_failed_plan_with_the_reason(
    swing: tuple[Robot, Trajectory],
) -> None:
    result = pipeline_of(swing, 8.0).plan(request_of(swing[1], SCENE), 0, np.inf, lambda: False)
    assert result.code is Code.PLAN_FAILED and result.trajectory is None
    assert "'block' (8 kg)" in result.message
