"""What is carried keeps a distance from obstacles where there is room, and a plan that keeps less says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Attachment,
    Engine,
    IkRequest,
    JointGoals,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
    never_stop,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape
from handiwork_core.robot.robot import Robot
from handiwork_planning import planner
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.postprocessing import timed_free
from handiwork_planning.scene.query import Query
from handiwork_planning.search.carried_clearance import CARRY_GAPS_M, NEAR_M
from handiwork_planning.search.requests import Failed
from support.planning.demo_world import box, hand_down, world_of

GAP_M = CARRY_GAPS_M[0]
CUBE = (box((0.05, 0.05, 0.05)),)
TABLE = ("table", (box((1.2, 1.6, 0.04)),), Pose.of((0.35, 0.0, -0.02)))


def configuration(engine: Engine, robot: Robot, pose: Pose, ignored: str) -> Array:
    request = IkRequest("", (pose,), np.array(robot.arm("").home_q), SceneQuery(ignored=frozenset({ignored})))
    found = engine.solve_ik(request, never_stop)
    assert found.codes == (Code.OK,)
    return found.q[0]


def held(robot: Robot, name: str, ee_T_object: Pose) -> SceneQuery:
    hand = frozenset(
        BodyPair(f"{robot.name}/{link}", name) for link in ("fr3_hand", "fr3_leftfinger", "fr3_rightfinger")
    )
    return SceneQuery(attached=(Attachment(name, robot.arm("").ee_link, ee_T_object),), allowed=hand)


def least_distance(engine: Engine, scene: SceneQuery, result: PlanResult) -> float:
    """Return the smallest distance of what is carried from the scene's objects on the way, m."""
    assert isinstance(engine, CpuEngine) and result.trajectory is not None, result.message
    core = engine._core
    query = core.read(core.arm(""), scene)
    shapes = len(query.scene.kind)
    rows = (query.distances(q)[query.carried, :shapes].min() for q in result.trajectory.q)
    return min(map(float, rows))


def wall_between(engine: Engine, robot: Robot, wall_m: float, z: float) -> tuple[Array, Array, SceneQuery]:
    """Return the configurations on both sides of a wall, with a cube in the hand, and the scene."""
    engine.update_world(
        world_of(
            TABLE,
            ("wall", (box((0.5, 0.03, wall_m)),), Pose.of((0.55, 0.0, 0.5 * wall_m))),
            ("cube", CUBE, Pose.of((0.5, 0.3, z))),
        )
    )
    at = hand_down(robot, 0.5, 0.3, z)
    start = configuration(engine, robot, at, "cube")
    goal = configuration(engine, robot, hand_down(robot, 0.5, -0.3, z), "cube")
    return start, goal, held(robot, "cube", at.inverse() @ Pose.of((0.5, 0.3, z)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by_pose", [False, True])
def test_what_is_carried_keeps_its_distance_from_a_wall(
    engine: Engine, robot: Robot, seed: int, by_pose: bool
) -> None:
    start, there, scene = wall_between(engine, robot, 0.25, 0.15)
    goal = PoseGoals((hand_down(robot, 0.5, -0.3, 0.15),)) if by_pose else JointGoals(there[None])
    result = engine.plan(PlanRequest("", start, goal, scene, budget_s=60.0, seed=seed), never_stop)
    assert result.code is Code.OK and result.message == "", result.message
    assert least_distance(engine, scene, result) > GAP_M - 0.001


def test_a_start_close_to_the_table_is_left_and_the_plan_says_how_close(engine: Engine, robot: Robot) -> None:
    start, there, scene = wall_between(engine, robot, 0.25, 0.029)
    result = engine.plan(PlanRequest("", start, JointGoals(there[None]), scene, budget_s=60.0), never_stop)
    assert result.code is Code.OK, result.message
    # Both ends are 4 mm above the table.
    assert 0.004 - NEAR_M - 0.001 < least_distance(engine, scene, result) < 0.0045
    assert "cube and table" in result.message and " mm apart" in result.message


def lollipop_in_a_collar(engine: Engine, robot: Robot, room_m: float) -> tuple[Array, Array, SceneQuery]:
    """Return two configurations between which a carried rod's thick end has to pass a collar, and the scene."""
    rod: tuple[Shape, ...] = (box((0.02, 0.02, 0.3)), box((0.06, 0.06, 0.04), (0.0, 0.0, -0.13)))
    inner, wide = 0.03 + room_m, 0.06
    middle = inner + 0.5 * wide
    collar = (
        box((wide, 2.0 * (inner + wide), 0.01), (middle, 0.0, 0.0)),
        box((wide, 2.0 * (inner + wide), 0.01), (-middle, 0.0, 0.0)),
        box((2.0 * inner, wide, 0.01), (0.0, middle, 0.0)),
        box((2.0 * inner, wide, 0.01), (0.0, -middle, 0.0)),
    )
    engine.update_world(
        world_of(
            TABLE,
            ("collar", collar, Pose.of((0.5, 0.0, 0.22))),
            ("rod", rod, Pose.of((0.5, 0.0, 0.25))),
        )
    )
    low, high = (hand_down(robot, 0.5, 0.0, z) for z in (0.38, 0.52))
    start, goal = (configuration(engine, robot, pose, "rod") for pose in (low, high))
    return start, goal, held(robot, "rod", low.inverse() @ Pose.of((0.5, 0.0, 0.25)))


def test_a_way_with_less_room_is_taken_where_there_is_no_other_and_the_plan_says_so(
    engine: Engine, robot: Robot
) -> None:
    start, there, scene = lollipop_in_a_collar(engine, robot, 0.008)
    result = engine.plan(
        PlanRequest("", start, JointGoals(there[None]), scene, budget_s=60.0, seed=1), never_stop
    )
    assert result.code is Code.OK, result.message
    assert 0.0 < least_distance(engine, scene, result) < 0.0085
    assert "rod and collar" in result.message
    assert engine.validate("", result.trajectory, scene, start).code is Code.OK  # type: ignore[arg-type]


def test_a_path_that_cannot_be_timed_with_its_distance_is_timed_without(
    engine: Engine, robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, end, scene = wall_between(engine, robot, 0.4, 0.3)
    margins = list[float]()

    def timed(points: Array, query: Query, *others: Any) -> Trajectory:
        margins.append(float(query.margins[query.carried, : len(query.scene.kind)].max()))
        if margins[-1] >= GAP_M:
            raise Failed(Code.PLAN_FAILED, "the timed path touches")
        return timed_free(points, query, *others)

    monkeypatch.setattr(planner, "timed_free", timed)
    result = engine.plan(PlanRequest("", begin, JointGoals((end,)), scene), never_stop)
    assert result.code is Code.OK, result.message
    assert len(margins) == 2 and margins[1] < margins[0]


def test_a_hand_that_carries_nothing_keeps_no_more_than_before(engine: Engine, robot: Robot) -> None:
    start, there, _ = wall_between(engine, robot, 0.25, 0.029)
    nothing = SceneQuery(ignored=frozenset({"cube"}))
    result = engine.plan(PlanRequest("", start, JointGoals(there[None]), nothing, budget_s=60.0), never_stop)
    assert result.code is Code.OK and result.message == "", result.message
