"""A mobile FR3 in physics, with the CPU engine: an object out of reach is fetched and brought elsewhere. No ROS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import CandidatesRequest, PlanRequest, SceneQuery
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.skills.base.mobile_rotate import MobileRotate, MobileRotateParams
from skill_server.skills.base.mobile_translate import MobileTranslate, MobileTranslateParams
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.simulated_cell import POLL_STEPS, SimulatedCell
from support.paths import ROOT


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROOT / "src/robot_description/robots/fr3_mobile")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Any:
    made = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    yield made
    made.close()


class Driver:
    """The port of the base."""

    def __init__(self, cell: MobileCell) -> None:
        self._cell = cell

    def follow(self, trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        controller = self._cell.sim.arms["base"].controller
        goal = TrajectoryGoal(trajectory.joint_names, trajectory.t_s, trajectory.q, trajectory.qd)
        controller.start(goal, self._cell.sim.measured("base"))
        while controller.busy:
            self._cell.sim.advance(POLL_STEPS)
            if should_stop():
                return self.stop()
        assert controller.result is not None
        done = controller.result.ending.name == "SUCCEEDED"
        return OK if done else Outcome(Code.PATH_TOLERANCE, str(controller.result))

    def stop(self) -> Outcome:
        self._cell.sim.arms["base"].controller.hold(self._cell.sim.measured("base"), "stopped")
        return OK


class MobileCell(SimulatedCell):
    """A cell that gives the engine the joints that the arm does not move, as planner_node does."""

    def base_q(self) -> Array:
        return self.sim.measured("base")

    def _standing(self) -> dict[str, float]:
        assert self.robot.base is not None
        return dict(zip(self.robot.base.joint_names, self.base_q().tolist(), strict=True))

    def world_T_base(self) -> Pose:
        return self.scene.world_T_base @ link_poses(self.robot, self._standing())[self.spec.base_link]

    def snapshot(self) -> World:
        world = super().snapshot()
        joints = world.joints
        return replace(
            world, joints=JointState(joints.stamp_s, {**joints.position, **self._standing()}, joints.velocity)
        )

    def _with_base(self, scene: SceneQuery) -> SceneQuery:
        return replace(scene, gripper_m=(*scene.gripper_m, *self._standing().items()))

    def plan(self, request: PlanRequest, *, should_stop: Any) -> Any:
        return super().plan(replace(request, scene=self._with_base(request.scene)), should_stop=should_stop)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> Any:
        scenes = tuple(self._with_base(scene) for scene in request.scenes)
        return super().check_candidates(replace(request, scenes=scenes), should_stop=should_stop)

    def validate(self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: Any) -> Any:
        return super().validate(arm, trajectory, self._with_base(scene), should_stop=should_stop)

    def context(self, seed: int) -> Context:
        return replace(super().context(seed), base=Driver(self))


@pytest.fixture
def cell(robot: Robot, engine: Any) -> MobileCell:
    return MobileCell(robot, engine, "mobile", 0)


def run(context: Context, skill: Skill[Any], params: Any) -> ExecutionResult:
    fresh = replace(context, planning_time_s=0.0, refused=[])
    return run_skill(skill, replace(params, allowed_planning_time=60.0), fresh)


def test_drive_pick_turn_drive_and_place(cell: MobileCell) -> None:
    context = cell.context(0)
    assert run(context, Pick(), PickParams(object="cube")).outcome.code is Code.NO_CANDIDATE
    ended = run(context, MobileTranslate(), MobileTranslateParams(target=(1.2, 0.0)))
    assert ended.outcome.ok, ended
    assert cell.base_q() == pytest.approx([1.2, 0.0, 0.0], abs=0.01)
    for skill, params in (
        (Pick(), PickParams(object="cube")),
        (Home(), HomeParams()),
        (MobileTranslate(), MobileTranslateParams(target=(-0.4, 0.0))),
        (MobileRotate(), MobileRotateParams(target=0.5 * np.pi)),
    ):
        ended = run(context, skill, params)
        assert ended.outcome.ok, ended
    hand = cell.sim.world.body_pose("fr3_mobile/fr3_hand")
    ended = run(context, MobileTranslate(), MobileTranslateParams(target=(1.1, 0.0)))
    assert ended.outcome.ok, ended
    moved = cell.sim.world.body_pose("fr3_mobile/fr3_hand").translation_m - hand.translation_m
    assert moved == pytest.approx([0.0, 1.1, 0.0], abs=0.01)
    assert cell.snapshot().states["cube"].world_T_object.translation_m[2] > 0.6
    ended = run(context, Place(), PlaceParams(container="bin"))
    assert ended.outcome.ok, ended


def test_the_table_stops_the_robot_before_it_moves(cell: MobileCell) -> None:
    start = cell.base_q()
    ended = run(cell.context(0), MobileTranslate(), MobileTranslateParams(target=(1.5, 0.0)))
    assert ended.outcome.code is Code.PATH_BLOCKED, ended
    assert ended.outcome.blocking is not None
    assert ended.outcome.blocking.b == "table"
    assert np.abs(cell.base_q() - start).max() < 1e-4
