"""Targets that move while a motion leads to them, with real physics and the real engine: they are followed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import PlanRequest
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.nudged_cell import NudgedCell

PICK = PickParams(object="cube", allowed_planning_time=60.0)
PLACE = PlaceParams(container="tray", allowed_planning_time=60.0)
APPROACH, DESCENT = 1, 2


def made(robot: Robot, engine: CpuEngine, seed: int = 0) -> NudgedCell:
    return NudgedCell(robot, engine, "moving", seed)


class Counting(NudgedCell):
    """Notes how many motions were asked of the planner when each motion began, and when it ended."""

    def __init__(self, robot: Robot, engine: CpuEngine) -> None:
        super().__init__(robot, engine, "moving", 0)
        self.plans, self.begins, self.ends = 0, list[int](), list[int]()

    def plan(self, request: PlanRequest, *, should_stop: Any) -> Any:
        self.plans += 1
        return super().plan(request, should_stop=should_stop)

    def follow(self, trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        self.begins.append(self.plans)
        try:
            return super().follow(trajectory, should_stop=should_stop)
        finally:
            self.ends.append(self.plans)


def count(run: ExecutionResult, stage: str) -> int:
    return [report.stage for report in run.stages].count(stage)


@pytest.mark.parametrize(
    ("number", "share"), [(APPROACH, 0.4), (APPROACH, 0.9), (DESCENT, 0.3), (DESCENT, 0.7)]
)
@pytest.mark.parametrize("way", [(0.03, 0.02), (-0.02, 0.04), (0.0, -0.06)])
def test_a_cube_that_is_pushed_is_picked_where_it_comes_to_rest(
    robot: Robot, engine: CpuEngine, number: int, share: float, way: tuple[float, float]
) -> None:
    cell = made(robot, engine)
    far = float(np.hypot(*way))
    speed = np.sqrt(2.0 * 0.9 * 9.81 * far) / far
    cell.on_motion(number, share, lambda: cell.push("cube", (speed * way[0], speed * way[1], 0.0)))
    run = run_skill(Pick(), PICK, cell.context(1))
    assert run.outcome.ok, run.outcome
    assert count(run, "approach") >= 2


@pytest.mark.parametrize(("number", "share"), [(1, 0.3), (1, 0.8), (2, 0.6)])
def test_a_tray_that_is_put_elsewhere_gets_the_cube(
    robot: Robot, engine: CpuEngine, number: int, share: float
) -> None:
    cell = made(robot, engine)
    context = cell.context(1)
    assert run_skill(Pick(), PICK, context).outcome.ok
    cell.on_motion(number, share, lambda: cell.put("tray", (0.02, 0.055, 0.0), 0.3))
    run = run_skill(Place(), PLACE, replace(context, refused=[]))
    assert run.outcome.ok, run.outcome
    assert count(run, "transit") >= 2


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_the_way_to_the_new_place_is_there_once_the_arm_rests(
    robot: Robot, engine: CpuEngine, share: float
) -> None:
    cell = Counting(robot, engine)
    cell.on_motion(APPROACH, share, lambda: cell.put("cube", (0.02, 0.05, 0.0)))
    run = run_skill(Pick(), PICK, cell.context(1))
    assert run.outcome.ok, run.outcome
    assert cell.ends[0] > cell.begins[0], "it is planned while the arm brakes"
    assert cell.begins[1] == cell.ends[0], "and not again once it rests"


def test_a_nudged_cube_ends_a_goal_that_follows_nothing(robot: Robot, engine: CpuEngine) -> None:
    cell = made(robot, engine)
    cell.on_motion(APPROACH, 0.5, lambda: cell.put("cube", (0.03, 0.0, 0.0)))
    run = run_skill(Pick(), replace(PICK, follow_speed=0.0), cell.context(1))
    assert run.outcome.code is Code.OBJECT_MOVED


@pytest.mark.parametrize("speed", [0.03, 0.08])
def test_a_cube_on_a_belt_is_met_ahead(robot: Robot, engine: CpuEngine, speed: float) -> None:
    cell = made(robot, engine)
    cell.put("tray", (0.0, 1.1, 0.0))
    cell.ride("cube", (0.60, -0.35, 0.0235), speed)
    run = run_skill(Pick(), PICK, cell.context(1))
    assert run.outcome.ok, run.outcome
    assert count(run, "wait") == 1


@pytest.mark.parametrize("speed", [0.03, 0.05])
def test_a_tray_on_a_belt_gets_the_cube_ahead(robot: Robot, engine: CpuEngine, speed: float) -> None:
    cell = made(robot, engine)
    context = cell.context(1)
    assert run_skill(Pick(), PICK, context).outcome.ok
    cell.ride("tray", (0.64, -0.45, 0.001), speed)
    run = run_skill(Place(), PLACE, replace(context, refused=[]))
    assert run.outcome.ok, run.outcome
    assert count(run, "wait") == 1


def test_a_cube_that_is_too_fast_fails_with_its_speed(robot: Robot, engine: CpuEngine) -> None:
    cell = made(robot, engine)
    cell.put("tray", (0.0, 1.2, 0.0))
    cell.ride("cube", (0.60, -0.9, 0.0235), 0.25)
    run = run_skill(Pick(), PICK, cell.context(1))
    assert run.outcome.code is Code.OBJECT_MOVED
    assert "'cube' moves at 0.25 m/s; it is followed up to follow_speed, 0.1 m/s" in run.outcome.message
