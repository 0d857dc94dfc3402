"""Previews with the CPU engine and physics: each motion is sent as it was previewed, or the plan is refused. No ROS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import Skill
from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from sim_bridge.mujoco.simulation import CONTROL_S
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import PreviewResult, preview_skill
from skill_server.preview.skill_plan import SkillPlan
from skill_server.skills.articulated.open import Open, OpenParams
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.pick_place.dynamicpick import DynamicPick, DynamicPickParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.simulated_cell import SimulatedCell
from support.cells.suction_cell import SuctionCell
from support.paths import ROBOTS

PATIENCE_S = 60.0
"""Steady time for one plan, s: long, so that a busy machine does not change the result."""


class Bench:
    """A cell that previews skills, executes their plans, and records what is sent."""

    def __init__(self, cell: SimulatedCell) -> None:
        self.cell, self.context, self.sent = cell, cell.context(0), list[Trajectory]()
        follow = cell.follow

        def record(trajectory: Trajectory, *, should_stop: Any) -> Outcome:
            self.sent.append(trajectory)
            return follow(trajectory, should_stop=should_stop)

        cell.follow = record  # type: ignore[method-assign]

    def preview(self, skill: Skill[Any], params: Any) -> PreviewResult:
        before = self.cell.now_s()
        context = replace(self.context, planning_time_s=0.0)
        result = preview_skill(skill, replace(params, allowed_planning_time=PATIENCE_S), context)
        assert self.cell.now_s() == before, "the simulation went on"
        return result

    def plan(self, skill: Skill[Any], params: Any) -> SkillPlan:
        result = self.preview(skill, params)
        assert result.outcome.ok, result
        assert result.plan is not None
        return result.plan

    def execute(self, plan: SkillPlan) -> ExecutionResult:
        self.sent.clear()
        return execute_plan(plan, replace(self.context, planning_time_s=0.0))

    def previewed(self, skill: Skill[Any], params: Any) -> ExecutionResult:
        """Preview a skill and execute it; every motion that is sent must be the one of the plan."""
        plan = self.plan(skill, params)
        ended = self.execute(plan)
        assert ended.outcome.ok, ended
        assert ended.planning_time_s == 0.0
        assert len(self.sent) == len(plan.motions)
        for sent, planned in zip(self.sent, plan.motions, strict=True):
            assert np.array_equal(sent.q, planned.trajectory.q)
        return ended


@pytest.fixture
def bench(robot: Robot, engine: Any) -> Bench:
    return Bench(SimulatedCell(robot, engine, "tabletop", 0))


@pytest.fixture(scope="module")
def cup() -> Robot:
    return load_robot(ROBOTS / "ur10_suction")


@pytest.fixture(scope="module")
def cup_engine(cup: Robot) -> Iterator[CpuEngine]:
    made = CpuEngine(cup, Pose.identity(), lambda _part, _what: None)
    yield made
    made.close()


@pytest.mark.parametrize(("scene", "name"), [("tabletop", "cube"), ("assorted", "can"), ("blocked", "cube")])
def test_pick_and_place_as_previewed(robot: Robot, engine: Any, scene: str, name: str) -> None:
    bench = Bench(SimulatedCell(robot, engine, scene, 0))
    bench.previewed(Pick(), PickParams(object=name))
    bench.previewed(Place(), PlaceParams(container="bin"))


def test_a_cup_picks_and_places_as_previewed(cup: Robot, cup_engine: Any) -> None:
    bench = Bench(SuctionCell(cup, cup_engine, "suction", 0))
    bench.previewed(Pick(), PickParams(object="carton"))
    bench.previewed(Place(), PlaceParams(container="tray", place_z_offset=0.004))


def test_a_drawer_opens_as_previewed(robot: Robot, engine: Any) -> None:
    Bench(SimulatedCell(robot, engine, "drawer", 3)).previewed(Open(), OpenParams(object="drawer"))


def test_a_preview_foresees_what_the_run_takes(bench: Bench) -> None:
    foreseen = bench.preview(Pick(), PickParams(object="cube"))
    ended = bench.previewed(Pick(), PickParams(object="cube"))
    stages = {stage.stage: stage.duration_s for stage in ended.stages}
    for stage in foreseen.stages:
        if stage.stage in ("approach", "descend", "lift"):
            assert stage.duration_s == pytest.approx(stages[stage.stage], abs=0.3)


def test_what_cannot_be_done_is_said_by_the_preview_already(bench: Bench) -> None:
    result = bench.preview(GotoPose(), GotoPoseParams(position=(3.0, 0.0, 0.4)))
    assert (result.outcome.code, result.plan) == (Code.NO_CANDIDATE, None)
    assert not bench.sent


@pytest.mark.parametrize(("by_m", "refused"), [(0.003, False), (0.012, True)])
def test_only_a_real_move_of_an_object_counts(bench: Bench, by_m: float, refused: bool) -> None:
    plan = bench.plan(Pick(), PickParams(object="cube"))
    pose = bench.cell.snapshot().states["cube"].world_T_object
    bench.cell.sim.world.set_object_pose("cube", Pose.of((by_m, 0.0, 0.0)) @ pose)
    bench.cell.sim.advance(round(0.2 / CONTROL_S))
    ended = bench.execute(plan)
    assert ended.outcome.ok is not refused, ended.outcome
    if refused:
        assert ended.outcome.code is Code.OBJECT_MOVED
        assert "'cube' moved by 12 mm since the preview; preview again" in ended.outcome.message
        assert not bench.sent


def test_an_object_that_the_goal_ignores_may_go_anywhere(bench: Bench) -> None:
    plan = bench.plan(GotoPose(), GotoPoseParams(position=(0.4, -0.3, 0.5), ignore_substring=("cube",)))
    bench.cell.sim.world.set_object_pose("cube", Pose.of((0.5, 0.3, 0.03)))
    assert bench.execute(plan).outcome.ok


def test_a_place_is_refused_once_the_object_has_left_the_hand(bench: Bench) -> None:
    assert run_skill(Pick(), PickParams(object="cube"), bench.context).outcome.ok
    plan = bench.plan(Place(), PlaceParams(container="bin"))
    bench.cell.sim.world.set_object_pose("cube", Pose.of((0.5, 0.3, 0.03)))
    bench.cell.sim.advance(round(0.2 / CONTROL_S))
    ended = bench.execute(plan)
    assert ended.outcome.code is Code.OBJECT_DROPPED
    assert "'cube' left the hand" in ended.outcome.message


def test_what_the_hand_holds_by_measurement_alone_is_no_difference(bench: Bench) -> None:
    assert run_skill(Pick(), PickParams(object="cube"), bench.context).outcome.ok
    bench.context.held.clear()
    plan = bench.plan(Place(), PlaceParams(container="bin"))
    bench.context.held.clear()
    ended = bench.execute(plan)
    assert ended.outcome.ok, ended


def test_a_motion_that_is_not_begun_in_its_place_is_not_replaced(bench: Bench) -> None:
    plan = bench.plan(Pick(), PickParams(object="cube"))
    follow = bench.cell.follow

    def drift(trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        """The arm comes to rest beside the end of its motion, within the tolerance of the waypoint."""
        q = trajectory.q + np.linspace(0.0, 0.004, len(trajectory.q))[:, None]
        return follow(replace(trajectory, q=q), should_stop=should_stop)

    bench.cell.follow = drift  # type: ignore[method-assign]
    ended = bench.execute(plan)
    assert (ended.outcome.code, ended.outcome.stage) == (Code.PLAN_FAILED, "descend")
    assert "the arm is not where the preview had it" in ended.outcome.message
    assert len(bench.sent) == 1


def test_a_pick_from_a_belt_cannot_be_previewed(cup: Robot, cup_engine: Any) -> None:
    cell = SuctionCell(cup, cup_engine, "belt", 0)
    cell.sim.world.belts.run("belt", BeltSpec((0.0, 0.15, 0.0)))
    cell.sim.advance(round(0.5 / CONTROL_S))
    result = Bench(cell).preview(DynamicPick(), DynamicPickParams(object="parcel", pick_range=(-0.6, 0.4)))
    assert result.outcome.code is Code.UNSUPPORTED
    assert "dynamicpick cannot be previewed: its stage 'wait' waits for an object" in result.outcome.message
