"""Place: release poses satisfy every constraint, a tilt is removed, success modes judge as described."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import OpenGripper
from handiwork_core.contracts.planning import (
    NO_Q,
    Attachment,
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
)
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import OK, BodyPair, Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.gantry import gantry_q
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.placing.place_stages import N_CANDIDATES
from skill_server.placing.release_points import Held, upright_rotations
from skill_server.skills.pick_place.place import MORE_CANDIDATES, Place, PlaceParams

DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)


def made() -> Fakes:
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.array([0.04, 0.04, 0.04]), Pose.identity()),))
    tray = WorldObject(
        "tray", (Shape(ShapeKind.BOX, np.array([0.3, 0.2, 0.02]), Pose.identity()),), is_static=True
    )
    hand = Pose.of((0.4, 0.1, 0.35), DOWN)
    poses = {"cube": hand @ Pose.of((0.0, 0.0, 0.1)), "tray": Pose.of((0.4, -0.3, 0.01))}
    f = fakes(Cell({"cube": cube, "tray": tray}, poses, {"cube": 0.04}))
    f.cell.q, f.cell.in_hand, f.cell.width_m = gantry_q(hand), "cube", 0.04
    f.cell.hand_T_object = Pose.of((0.0, 0.0, 0.1))
    f.context.held["cube"] = Attachment("cube", "hand", f.cell.hand_T_object)
    return f


def release_poses(f: Fakes, params: PlaceParams) -> list[Pose]:
    Place().commands(params, f.context)
    return [candidate.world_T_ee[1] for request in f.planner.candidates for candidate in request.candidates]


@pytest.mark.parametrize(
    ("fingers", "opening_m"), [(("left_finger", "right_finger"), 0.07), (("left_finger", "hand"), 0.055)]
)
def test_one_finger_moves_as_far_from_the_object_as_each_of_two(
    fingers: tuple[str, str], opening_m: float
) -> None:
    f = made()
    gripper = f.context.arm_spec.gripper
    assert gripper is not None
    f.context.arm_spec = replace(f.context.arm_spec, gripper=replace(gripper, finger_links=fingers))
    commands = Place().commands(PlaceParams(container="tray"), f.context)
    (opened,) = {c.function for c in commands if isinstance(c.function, OpenGripper)}
    assert opened.width_m == pytest.approx(opening_m)


@pytest.mark.parametrize(("heights_from", "height"), [("support", 0.05 + 0.02), ("container_top", 0.05)])
def test_the_object_stands_over_the_container_at_the_height_that_was_asked_for(
    heights_from: str, height: float
) -> None:
    f = made()
    poses = release_poses(f, PlaceParams(container="tray", heights_from=heights_from, place_z_offset=0.05))
    assert len(poses) >= 20
    for pose in poses:
        cube = pose @ f.cell.hand_T_object
        assert cube.translation_m[2] == pytest.approx(0.02 + height)
        assert (np.abs(cube.translation_m[:2] - (0.4, -0.3)) <= (0.03 + 1e-9, 0.02 + 1e-9)).all()
        assert np.abs(cube.rotation.matrix()[2]).max() == pytest.approx(1.0)


def test_filters_and_alignment_hold_for_every_candidate() -> None:
    f = made()
    params = PlaceParams(
        container="tray",
        orientation_filters=(OrientationFilter("z", "downward", 0.0, 40.0),),
        align_pick_obj_axis=(1.0, 0.0, 0.0),
        align_place_obj_axis=(0.0, 1.0, 0.0),
        align_obj_tol_deg=10.0,
    )
    poses = release_poses(f, params)
    assert len(poses) >= 20
    for pose in poses:
        assert -pose.rotation.matrix()[2, 2] >= np.cos(np.deg2rad(40.0)) - 1e-9
        axis = (pose @ f.cell.hand_T_object).rotation.matrix()[:, 0]
        assert axis[1] >= np.cos(np.deg2rad(10.0)) - 1e-9


def test_constraints_that_exclude_each_other_are_named() -> None:
    filters = (OrientationFilter("z", "downward", 0.0, 10.0), OrientationFilter("z", "forward", 0.0, 10.0))
    with pytest.raises(StepFailed) as caught:
        Place().commands(PlaceParams(container="tray", orientation_filters=filters), made().context)
    assert caught.value.outcome.code is Code.NO_CANDIDATE
    assert "forward" in caught.value.outcome.message


def test_no_candidate_counts_the_causes() -> None:
    f = made()
    bad = CandidateVerdict(Code.GOAL_IN_COLLISION, NO_Q, blocking=BodyPair("gantry/hand", "tray"))
    f.planner.check_candidates = lambda request, *, should_stop: CandidatesResult(  # type: ignore[method-assign]
        Code.OK, "", tuple(bad for _ in request.candidates)
    )
    with pytest.raises(StepFailed) as caught:
        Place().commands(PlaceParams(container="tray"), f.context)
    assert caught.value.outcome.code is Code.NO_CANDIDATE
    assert "256 GOAL_IN_COLLISION (gantry/hand - tray)" in caught.value.outcome.message
    assert caught.value.outcome.blocking == BodyPair("gantry/hand", "tray")


def asked_for(
    params: PlaceParams, takes_s: float = 0.0, good: int = -1, code: Code = Code.OK
) -> tuple[list[int], Outcome]:
    """Place with a planner to which one candidate of all is good, and return how many it was asked about each time.

    Args:
        params: Parameters of the goal.
        takes_s: Planning time of one question, s.
        good: Number of the good candidate, in the order of the questions; -1: none.
        code: Answer to all questions after the first sample.

    Returns:
        The numbers of candidates of the questions, and the outcome.
    """
    f, asked = made(), list[int]()

    def check(request: CandidatesRequest, *, should_stop: object) -> CandidatesResult:
        before, n = sum(asked), len(request.candidates)
        asked.append(n)
        if before >= N_CANDIDATES and code is not Code.OK:
            return CandidatesResult(code, "the time is over", (), takes_s)
        bad = CandidateVerdict(Code.NO_IK, NO_Q)
        ok = CandidateVerdict(Code.OK, np.zeros((len(request.candidates[0].world_T_ee), 6)), 1.0)
        found = tuple(ok if before + i == good else bad for i in range(n))
        return CandidatesResult(Code.OK, "", found, takes_s)

    f.planner.check_candidates = check  # type: ignore[method-assign, assignment]
    try:
        Place().commands(params, f.context)
    except StepFailed as failed:
        return asked, failed.outcome
    return asked, OK


def test_more_releases_are_sampled_where_none_of_the_first_is_possible() -> None:
    tray = PlaceParams(container="tray")
    asked, outcome = asked_for(tray, good=5)
    assert outcome.ok
    assert sum(asked) <= N_CANDIDATES
    asked, outcome = asked_for(tray, good=N_CANDIDATES + 100)
    assert outcome.ok
    assert N_CANDIDATES < sum(asked) <= N_CANDIDATES + MORE_CANDIDATES
    asked, outcome = asked_for(tray)
    assert outcome.code is Code.NO_CANDIDATE
    assert sum(asked) == N_CANDIDATES + MORE_CANDIDATES


def test_no_more_releases_are_sampled_without_time_or_with_given_poses() -> None:
    tray = PlaceParams(container="tray", allowed_planning_time=1.0)
    asked, outcome = asked_for(tray, takes_s=0.6)
    assert (sum(asked), outcome.message) == (N_CANDIDATES, "none of 64 candidates can be done: 64 NO_IK")
    given = replace(tray, place_poses=(Pose.of((0.4, -0.3, 0.3), DOWN),))
    asked, outcome = asked_for(given)
    assert (sum(asked), outcome.message) == (1, "none of 1 candidates can be done: 1 NO_IK")
    asked, outcome = asked_for(tray, code=Code.PLAN_BUDGET)
    assert outcome.message == "none of 64 candidates can be done: 64 NO_IK"


def test_a_small_tilt_is_taken_out_and_a_large_one_kept() -> None:
    for tilt, left in ((0.1, 0.0), (0.6, 0.6)):
        held = Held(Pose.of((0, 0, 0), Rotation.from_rpy(tilt, 0.0, 0.3)), Pose.of((0.0, 0.0, 0.1), DOWN))
        for turn in upright_rotations(held, 8):
            up = (turn @ held.ee_T_object.rotation).matrix()[2, 2]
            assert np.arccos(min(1.0, up)) == pytest.approx(left, abs=1e-6)


def judged(params: PlaceParams, cube: tuple[float, float, float], **moving: Any) -> Code:
    f = made()
    before = f.context.world.snapshot()
    f.cell.in_hand, f.context.released, f.context.release_height_m = "", "cube", 0.06
    f.cell.poses["cube"] = Pose.of(cube)
    after = f.context.world.snapshot()
    if moving:
        after = replace(after, states={**after.states, "cube": replace(after.states["cube"], **moving)})
    return Place().is_success(params, before, after, f.context).code


@pytest.mark.parametrize(
    ("changed", "cube", "good"),
    [
        ({}, (0.4, -0.3, 0.04), True),
        ({}, (0.4, 0.3, 0.04), False),
        ({}, (0.4, -0.3, -0.5), False),
        ({}, (0.265, -0.3, 0.04), True),
        ({}, (0.264, -0.3, 0.04), False),
        ({"xybbox_margin": 0.08}, (0.32, -0.3, 0.04), False),
        ({"success_mode": "3diou"}, (0.4, -0.3, 0.035), True),
        ({"success_mode": "3diou"}, (0.4, -0.3, 0.04), False),
        ({"success_mode": "3diou", "success_th": 0.2}, (0.4, -0.3, 0.035), False),
        ({"success_mode": "height"}, (0.4, -0.3, 0.04), False),
        ({"success_mode": "height", "height_drop": 0.0}, (0.4, -0.3, 0.04), True),
        ({"success_mode": "height"}, (0.4, -0.3, -0.36), True),
        ({"success_mode": "right"}, (0.59, -0.3, 0.04), True),
        ({"success_mode": "right"}, (0.57, -0.3, 0.04), False),
        ({"success_mode": "right"}, (0.59, -0.3, -0.06), False),
        ({"success_mode": "right", "threshold": 0.01}, (0.57, -0.3, 0.04), True),
        ({"success_mode": "left"}, (0.21, -0.3, 0.04), True),
        ({"success_mode": "left", "right_axis": (0.0, -2.0, 0.0)}, (0.4, -0.16, 0.04), True),
        ({"success_mode": "left", "right_axis": (0.0, -2.0, 0.0)}, (0.4, -0.18, 0.04), False),
        ({"success_mode": "flower"}, (0.4, -0.3, 0.035), True),
        ({"success_mode": "flower"}, (0.4, -0.3, 0.041), False),
        ({"success_mode": "flower"}, (0.26, -0.201, 0.035), True),
        ({"success_mode": "flower"}, (0.26, -0.199, 0.035), False),
        ({"success_mode": "cup"}, (0.4, -0.3, 0.035), False),
        ({"success_mode": "cup", "cup_rise": 0.01}, (0.4, -0.3, 0.035), True),
        ({"success_mode": "cup", "cup_rise": 0.01, "success_th": 0.2}, (0.4, -0.3, 0.035), False),
    ],
)
def test_success_modes(changed: dict[str, Any], cube: tuple[float, float, float], good: bool) -> None:
    assert judged(PlaceParams(container="tray", **changed), cube) is (Code.OK if good else Code.NOT_IN_PLACE)


@pytest.mark.parametrize(("x", "good"), [(0.4, True), (0.52, False)])
def test_beside_a_turned_container_is_not_inside(x: float, good: bool) -> None:
    """At x = 0.52 the cube is within the axis-aligned bounds of the turned tray, but beside the tray."""
    f = made()
    f.cell.poses["tray"] = Pose.of((0.4, -0.3, 0.01), Rotation.from_rpy(0.0, 0.0, np.pi / 4))
    before = f.context.world.snapshot()
    f.cell.in_hand, f.context.released = "", "cube"
    f.cell.poses["cube"] = Pose.of((x, -0.3 - (x - 0.4), 0.04))
    code = (
        Place().is_success(PlaceParams(container="tray"), before, f.context.world.snapshot(), f.context).code
    )
    assert code is (Code.OK if good else Code.NOT_IN_PLACE)


@pytest.mark.parametrize(("fall", "good"), [(0.0, False), (0.1, True)])
def test_height_is_that_of_the_object_also_for_place_poses(fall: float, good: bool) -> None:
    f = made()
    release = Pose.of((0.4, -0.3, 0.30), DOWN)
    params = PlaceParams(container="tray", success_mode="height", height_drop=0.05, place_poses=(release,))
    before = f.context.world.snapshot()
    f.cell.in_hand, f.context.released = "", "cube"
    f.context.release_height_m = float((release @ f.cell.hand_T_object).translation_m[2])
    f.cell.poses["cube"] = Pose.of((0.0, 0.0, -fall)) @ release @ f.cell.hand_T_object
    code = Place().is_success(params, before, f.context.world.snapshot(), f.context).code
    assert code is (Code.OK if good else Code.NOT_IN_PLACE)


def test_a_moving_object_is_not_in_place() -> None:
    moving = {"world_v_object": np.array([0.2, 0.0, 0.0])}
    assert judged(PlaceParams(container="tray"), (0.4, -0.3, 0.04), **moving) is Code.NOT_IN_PLACE
