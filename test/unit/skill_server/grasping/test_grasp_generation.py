"""Generated grasps close on the object, clear of the support and of the palm."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import CandidatesRequest, CandidatesResult, CandidateVerdict
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.bounds import world_aabb
from handiwork_core.scene.loader import load_scene
from handiwork_core.testing.fakes import FakePlanner
from handiwork_core.testing.gantry import TCP_M, gantry
from skill_server.execution.run import run_skill
from skill_server.grasping.antipodal_grasps import (
    CLEARANCE_M,
    SUPPORT_MARGIN_M,
    Grasp,
    GraspSet,
    grasps_for,
)
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.state import gripper_reach
from support.paths import ROBOTS, ROOT
from unit.skill_server.execution.test_executor import made

ROBOT = gantry()
ARM = ROBOT.arms["arm"]
HULL = np.array([(x, y, z) for x in (-0.02, 0.02) for y in (-0.03, 0.03) for z in (-0.025, 0.025)])
BODIES = {
    "box": Shape(ShapeKind.BOX, np.array([0.04, 0.06, 0.05]), Pose.identity()),
    "sphere": Shape(ShapeKind.SPHERE, np.array([0.025]), Pose.identity()),
    "can": Shape(ShapeKind.CYLINDER, np.array([0.03, 0.12]), Pose.identity()),
    "capsule": Shape(ShapeKind.CAPSULE, np.array([0.02, 0.06]), Pose.identity()),
    "hull": Shape(ShapeKind.CONVEX, np.zeros(0), Pose.identity(), HULL),
}


def grasps(shape: Shape, pose: Pose, opening: float = 0.08) -> GraspSet:
    assert ARM.gripper is not None
    return grasps_for(
        WorldObject("it", (shape,)), pose, ARM.gripper, gripper_reach.reach(ROBOT, ARM, ARM.gripper), opening
    )


def standing(shape: Shape, turn: Rotation) -> Pose:
    low = world_aabb(WorldObject("it", (shape,)), Pose.of((0, 0, 0), turn))[0]
    return Pose.of((0.4, 0.1, -low[2]), turn)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("turn", [Rotation.identity(), Rotation.from_rpy(np.pi / 2, 0.0, 0.7)])
def test_grasps_are_sound(name: str, turn: Rotation) -> None:
    shape, pose = BODIES[name], standing(BODIES[name], turn)
    found = grasps(shape, pose).grasps
    assert len(found) >= 8
    assert ARM.gripper is not None
    tip = gripper_reach.reach(ROBOT, ARM, ARM.gripper).tip_m
    for grasp in found:
        assert grasp.width_m <= 0.08 - CLEARANCE_M
        assert grasp.world_T_ee.apply((0.0, 0.0, tip))[2] >= SUPPORT_MARGIN_M - 1e-9
        inside = pose.inverse().apply(grasp.world_T_ee.apply((0.0, 0.0, TCP_M)))
        reach_m = max(0.03, 0.5 * float(np.max(shape.size, initial=0.06)) + 0.02)
        assert np.abs(inside).max() < reach_m
        assert grasp.score >= 0.0
    assert [g.score for g in found] == sorted(g.score for g in found)


def test_the_best_grasp_of_a_cube_is_straight_down_on_its_centre() -> None:
    shape = Shape(ShapeKind.BOX, np.array([0.045, 0.045, 0.045]), Pose.identity())
    pose = standing(shape, Rotation.from_rpy(0.0, 0.0, 0.4))
    best = grasps(shape, pose).grasps[0]
    assert np.allclose(best.world_T_ee.rotation.matrix()[:, 2], (0.0, 0.0, -1.0), atol=1e-9)
    assert np.allclose(best.world_T_ee.apply((0.0, 0.0, TCP_M)), pose.translation_m, atol=1e-9)
    closing = pose.rotation.matrix().T @ best.world_T_ee.rotation.matrix()[:, 1]
    assert np.abs(closing).max() == pytest.approx(1.0)


def test_a_tall_can_is_grasped_no_deeper_than_the_palm_lets() -> None:
    pose = standing(BODIES["can"], Rotation.identity())
    down = next(
        g for g in grasps(BODIES["can"], pose).grasps if g.world_T_ee.rotation.matrix()[2, 2] < -0.999
    )
    assert ARM.gripper is not None
    palm = gripper_reach.reach(ROBOT, ARM, ARM.gripper).palm_m
    assert down.world_T_ee.translation_m[2] - palm > 0.12


def test_too_wide_gives_none_and_says_so() -> None:
    shape = Shape(ShapeKind.BOX, np.array([0.2, 0.2, 0.2]), Pose.identity())
    found = grasps(shape, standing(shape, Rotation.identity()))
    assert not found.grasps
    assert "wider than 72 mm" in found.removed


def test_fingers_do_not_stand_in_another_shape_of_the_body() -> None:
    post = Shape(ShapeKind.BOX, np.array([0.03, 0.03, 0.1]), Pose.identity())
    wall = Shape(ShapeKind.BOX, np.array([0.03, 0.03, 0.1]), Pose.of((0.0, 0.04, 0.0)))
    assert ARM.gripper is not None
    reach = gripper_reach.reach(ROBOT, ARM, ARM.gripper)
    body = WorldObject("two", (post, wall))
    for grasp in grasps_for(body, Pose.of((0.0, 0.0, 0.05)), ARM.gripper, reach, 0.06).grasps:
        for sign in (1.0, -1.0):
            finger = grasp.world_T_ee.apply((0.0, sign * 0.031, TCP_M))
            assert not (np.abs(finger - (0.0, 0.04, 0.05)) < (0.014, 0.014, 0.049)).all()


def test_tips_far_ahead_of_the_tcp_are_said_to_keep_it_above_low_objects() -> None:
    assert ARM.gripper is not None
    reach = gripper_reach.reach(ROBOT, ARM, ARM.gripper)
    behind = replace(ARM.gripper, tcp_offset_m=reach.tip_m - 0.05)
    low = WorldObject("it", (Shape(ShapeKind.BOX, np.array([0.04, 0.06, 0.02]), Pose.identity()),))
    found = grasps_for(low, Pose.of((0.4, 0.1, 0.01)), behind, reach, 0.08)
    assert "would put the finger tips, 50 mm ahead of the TCP, into the support" in found.removed
    near = grasps_for(low, Pose.of((0.4, 0.1, 0.01)), ARM.gripper, reach, 0.08)
    assert "ahead of the TCP" not in near.removed


def test_a_palm_that_keeps_the_tcp_out_of_the_object_is_not_taken_for_the_support() -> None:
    assert ARM.gripper is not None
    reach = gripper_reach.reach(ROBOT, ARM, ARM.gripper)
    shallow = replace(reach, palm_m=ARM.gripper.tcp_offset_m - 0.01)
    high = WorldObject("it", (Shape(ShapeKind.BOX, np.array([0.04, 0.04, 0.3]), Pose.identity()),))
    found = grasps_for(high, Pose.of((0.4, 0.1, 0.15)), ARM.gripper, shallow, 0.08)
    assert not found.grasps
    counted = found.removed.split(", ")
    assert re.fullmatch(
        r"[1-9]\d* grasps would be less than 8 mm deep with palm or knuckles at the object", counted[1]
    )
    assert counted[2] == "0 would put the finger tips into the support"


class Unreached(FakePlanner):
    """Finds no candidate feasible."""

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        """See ``FakePlanner``."""
        refused = CandidateVerdict(Code.NO_IK, np.zeros((0, 0)))
        return CandidatesResult(Code.OK, "", (refused,) * len(request.candidates), 0.001, 1)


def test_a_refusal_of_all_grasps_also_says_which_were_not_even_made() -> None:
    f = made()
    f.planner = f.context.planner = Unreached(f.cell)
    outcome = run_skill(Pick(), PickParams(object="cube"), f.context).outcome
    assert outcome.code is Code.NO_CANDIDATE
    assert "candidates can be done" in outcome.message
    assert re.search(
        r"; of the object's shapes \d+ were made \(.*, \d+ would put the finger", outcome.message
    )
    given = PickParams(
        object="cube", grasp_poses=(Pose.of((0.4, 0.1, 0.1), Rotation.from_rpy(np.pi, 0.0, 0.0)),)
    )
    assert "shapes" not in run_skill(Pick(), given, f.context).outcome.message


def test_the_palm_does_not_meet_the_rim_of_a_cup() -> None:
    robot = load_robot(ROBOTS / "fr3")
    objects = load_scene(ROOT / "config" / "scenes" / "pouring.yaml").objects
    arm, cup = robot.arm(""), next(item for item in objects if item.name == "cup")
    assert arm.gripper is not None
    reach = gripper_reach.reach(robot, arm, arm.gripper)
    assert len(reach.palm) > 10 and reach.palm_m == pytest.approx(
        max(reach.palm[:, arm.gripper.ee_axis] + reach.palm[:, 3])
    )

    def deepest_m(grasp: Grasp) -> float:
        gaps = []
        for shape in cup.body.shapes:
            shape_T_ee = (cup.world_T_object @ shape.object_T_shape).inverse() @ grasp.world_T_ee
            outside = np.maximum(np.abs(shape_T_ee.apply(reach.palm[:, :3])) - 0.5 * shape.size, 0.0)
            gaps.append((reach.palm[:, 3] - np.linalg.norm(outside, axis=1)).max())
        return max(gaps)

    blind = grasps_for(cup.body, cup.world_T_object, arm.gripper, replace(reach, palm=np.zeros((0, 4))), 0.08)
    found = grasps_for(cup.body, cup.world_T_object, arm.gripper, reach, 0.08)
    assert max(map(deepest_m, blind.grasps)) > 0.02, "without the check the palm goes through the rim"
    assert found.grasps and max(map(deepest_m, found.grasps)) < 0.005
    assert f"{len(blind.grasps) - len(found.grasps)} the palm" in found.removed


def test_the_knuckles_of_a_linkage_stay_above_a_can_that_they_would_meet_before_the_pads() -> None:
    robot = load_robot(ROBOTS / "fr3_robotiq")
    arm, can = robot.arm(""), Shape(ShapeKind.CYLINDER, np.array([0.03, 0.10]), Pose.identity())
    assert arm.gripper is not None
    reach = gripper_reach.reach(robot, arm, arm.gripper)
    assert reach.palm_m < 0.12 < reach.body_end_m(0.06) < arm.gripper.tcp_offset_m
    made = grasps_for(WorldObject("can", (can,)), Pose.of((0.4, 0.1, 0.05)), arm.gripper, reach, 0.085).grasps
    down = [g.world_T_ee for g in made if g.world_T_ee.rotation.matrix()[2, 2] < -0.999]
    assert down
    for world_T_ee in down:  # 100 mm is the top of the can
        assert world_T_ee.translation_m[2] - reach.body_end_m(0.06) > 0.100
