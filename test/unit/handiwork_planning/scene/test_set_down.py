"""An object that is attached to a link which does not move is an obstacle of links, and of what the hand holds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from handiwork_core.contracts.planning import Attachment, JointGoals, PlanRequest, PlanResult, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from support.paths import ROBOTS
from support.planning.demo_world import box, world_of

EDGE_M, FAR = 0.04, Pose.of((3.0, 0.0, 0.0))
WIDE_M = {"cube": 0.2, "can": 0.04}
HAND = ("fr3_hand", "fr3_leftfinger", "fr3_rightfinger")


@pytest.fixture(scope="module")
def fr3() -> Robot:
    return load_robot(ROBOTS / "fr3")


@pytest.fixture(scope="module")
def engine(fr3: Robot) -> Iterator[CpuEngine]:
    made = CpuEngine(fr3, Pose.identity(), lambda _share, _text: None)
    yield made
    made.close()


def home(robot: Robot) -> Array:
    return np.array(robot.arm("").home_q)


def hand(robot: Robot) -> Pose:
    arm = robot.arm("")
    return link_poses(robot, dict(zip(arm.joint_names, home(robot), strict=True)))[arm.ee_link]


def below_the_hand(robot: Robot, gap_m: float) -> Pose:
    """Return the pose of a plate whose top is so far below the lowest sphere of the hand at home."""
    arm = robot.arm("")
    poses = link_poses(robot, dict(zip(arm.joint_names, home(robot), strict=True)))
    lowest = min(
        float((poses[one.link].apply(one.centers)[:, 2] - one.radii).min())
        for one in robot.spheres
        if one.link in HAND
    )
    x, y, _ = hand(robot).translation_m
    return Pose.of((x, y, lowest - gap_m - EDGE_M / 2))


def to_home(engine: CpuEngine, robot: Robot, scene: SceneQuery, cube: Pose = FAR) -> PlanResult:
    shapes = {name: (box((wide_m, wide_m, EDGE_M)),) for name, wide_m in WIDE_M.items()}
    cubes = [("cube", shapes["cube"], cube), ("can", shapes["can"], FAR)]
    engine.update_world(world_of(*cubes))
    start = home(robot) + np.array([0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    request = PlanRequest(robot.arm("").name, start, JointGoals(home(robot)[None]), scene, budget_s=60.0)
    return engine.plan(request, lambda: False)


def set_down(robot: Robot, pose: Pose) -> Attachment:
    return Attachment("cube", robot.arm("").base_link, pose)


def test_it_is_no_obstacle_where_it_is_measured_but_where_it_is_attached(
    engine: CpuEngine, fr3: Robot
) -> None:
    here = hand(fr3)
    assert to_home(engine, fr3, SceneQuery(attached=(set_down(fr3, FAR),)), here).code is Code.OK
    found = to_home(engine, fr3, SceneQuery(attached=(set_down(fr3, here),)))
    assert found.code is Code.GOAL_IN_COLLISION, found
    assert found.blocking is not None and "cube" in found.blocking


@pytest.mark.parametrize(("gap_m", "is_free"), [(0.006, True), (0.012, True), (-0.004, False)])
def test_links_end_near_it_but_not_in_it(engine: CpuEngine, fr3: Robot, gap_m: float, is_free: bool) -> None:
    scene = SceneQuery(attached=(set_down(fr3, below_the_hand(fr3, gap_m)),))
    assert (to_home(engine, fr3, scene).code is Code.OK) is is_free


def test_what_the_hand_holds_does_not_go_through_it(engine: CpuEngine, fr3: Robot) -> None:
    at = hand(fr3) @ Pose.of((0.0, 0.0, 0.1))
    held = Attachment("can", fr3.arm("").ee_link, Pose.of((0.0, 0.0, 0.1)))
    hands = frozenset(BodyPair(f"fr3/{link}", name) for link in HAND for name in ("can", "cube"))
    scene = SceneQuery(attached=(held, set_down(fr3, at)), allowed=hands)
    found = to_home(engine, fr3, scene)
    assert found.code is Code.GOAL_IN_COLLISION, found
    assert found.blocking is not None and set(found.blocking) == {"can", "cube"}
    may_touch = hands | {BodyPair("can", "cube")}
    allowed = SceneQuery(attached=(held, set_down(fr3, at)), allowed=may_touch)
    assert to_home(engine, fr3, allowed).code is Code.OK
