"""Place lets an object go right over what carries it, refuses a place where nothing does, and retreats from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    NO_Q,
    Candidate,
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
)
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Fakes
from skill_server.geometry.vertical_spans import body_triangles, vertical_spans
from skill_server.placing.place_stages import N_CANDIDATES
from skill_server.skills.pick_place.place import Place, PlaceParams

from .test_place_choice import made

GAP_M = 0.01
ON_TRAY = PlaceParams(container="tray")


def box(size: tuple[float, float, float], at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Shape:
    return Shape(ShapeKind.BOX, np.array(size), Pose.of(at))


def with_object(shape: Shape) -> Fakes:
    """Return the fakes with another object in the hand."""
    f = made()
    f.cell.objects["cube"] = WorldObject("cube", (shape,))
    return f


def add(f: Fakes, name: str, shapes: tuple[Shape, ...], at: tuple[float, float, float]) -> None:
    f.cell.objects[name] = WorldObject(name, shapes, is_static=True)
    f.cell.poses[name] = Pose.of(at)


def bin_of(depth_m: float) -> tuple[Shape, ...]:
    """Return the shapes of an open bin of 0.2 m by 0.2 m whose floor is 0.01 m over its origin."""
    side = (0.01, 0.22, depth_m + 0.01)
    walls = [box(side, (x, 0.0, side[2] / 2)) for x in (-0.105, 0.105)]
    walls += [box((0.22, 0.01, side[2]), (0.0, y, side[2] / 2)) for y in (-0.105, 0.105)]
    return (box((0.22, 0.22, 0.01), (0.0, 0.0, 0.005)), *walls)


def candidates_of(f: Fakes, params: PlaceParams) -> list[Candidate]:
    """Return the first sample of candidates: each is refused, so that the next one is asked for."""
    seen: list[Candidate] = []

    def refuse(request: CandidatesRequest, *, should_stop: Any) -> CandidatesResult:
        seen.extend(request.candidates)
        verdict = CandidateVerdict(Code.NO_IK, NO_Q)
        return CandidatesResult(Code.OK, "", (verdict,) * len(request.candidates))

    f.planner.check_candidates = refuse  # type: ignore[method-assign, assignment]
    with pytest.raises(StepFailed):
        Place().commands(params, f.context)
    return seen[:N_CANDIDATES]


def heights(f: Fakes, params: PlaceParams) -> list[float]:
    """Return the height of the object's origin at the release, for each candidate."""
    releases = [candidate.world_T_ee[1] for candidate in candidates_of(f, params)]
    return [float((pose @ f.cell.hand_T_object).translation_m[2]) for pose in releases]


@pytest.mark.parametrize(
    ("shape", "to_underside"),
    [
        (box((0.04, 0.04, 0.20)), 0.10),
        (box((0.06, 0.06, 0.01)), 0.005),
        # The hand holds the object upside down, so that the shape is below the origin.
        (Shape(ShapeKind.CYLINDER, np.array([0.03, 0.12]), Pose.of((0.0, 0.0, 0.04))), 0.10),
        (Shape(ShapeKind.SPHERE, np.array([0.03]), Pose.identity()), 0.03),
    ],
)
def test_the_underside_is_let_go_right_over_the_support(shape: Shape, to_underside: float) -> None:
    assert heights(with_object(shape), ON_TRAY) == pytest.approx([0.02 + GAP_M + to_underside] * 64, abs=2e-4)


def test_in_a_bin_the_object_goes_to_the_floor_or_else_over_the_rim() -> None:
    f = made()
    add(f, "bin", bin_of(0.1), (0.4, 0.3, 0.0))
    found = heights(f, PlaceParams(container="bin"))
    assert found == pytest.approx([0.01 + GAP_M + 0.02] * 32 + [0.11 + GAP_M + 0.02] * 32)


def test_over_the_rim_of_a_deep_bin_nothing_is_dropped() -> None:
    f = made()
    add(f, "bin", bin_of(0.5), (0.4, 0.3, 0.0))
    assert heights(f, PlaceParams(container="bin")) == pytest.approx([0.01 + GAP_M + 0.02] * 64)


def test_what_lies_in_the_container_is_avoided_and_else_carries_the_object() -> None:
    f = made()
    add(f, "block", (box((0.03, 0.2, 0.05)),), (0.385, -0.3, 0.045))
    found = heights(f, ON_TRAY)
    on_tray, on_block = 0.02 + GAP_M + 0.02, 0.07 + GAP_M + 0.02
    n_free = sum(height < 0.06 for height in found)
    assert 5 <= n_free <= 59
    assert found == pytest.approx([on_tray] * n_free + [on_block] * (64 - n_free))


def test_an_object_beside_the_container_is_let_go_over_the_table_there() -> None:
    f = made()
    add(f, "table", (box((2.0, 2.0, 0.05)),), (0.0, 0.0, -0.025))
    params = replace(ON_TRAY, success_mode="right", x_ratio_range=(1.5, 1.6))
    assert heights(f, params) == pytest.approx([GAP_M + 0.02] * 64)


@pytest.mark.parametrize("floor_m", [-0.75, None])
def test_a_place_without_support_is_refused(floor_m: float | None) -> None:
    f = made()
    if floor_m is not None:
        add(f, "floor", (box((4.0, 4.0, 0.1)),), (0.0, 0.0, floor_m - 0.05))
    with pytest.raises(StepFailed) as caught:
        Place().commands(replace(ON_TRAY, x_ratio_range=(1.4, 1.6)), f.context)
    outcome = caught.value.outcome
    assert (outcome.code, outcome.field_name, outcome.stage) == (Code.NO_CANDIDATE, "x_ratio_range", "select")
    below = "there is nothing below" if floor_m is None else "the next surface is 0.74 m too low"
    change = "give x_ratio_range within 0 to 1, or set heights_from to container_top to let it fall"
    assert outcome.message == (
        f"nothing carries 'cube' at 'tray' with x_ratio_range [1.4, 1.6]: {below}; {change}"
    )
    assert not f.planner.candidates


def test_points_without_support_are_counted_beside_the_planners_causes() -> None:
    f = made()
    bad = CandidateVerdict(Code.PATH_BLOCKED, NO_Q, blocking=BodyPair("gantry/hand", "tray"), waypoint=2)
    f.planner.check_candidates = lambda request, *, should_stop: CandidatesResult(  # type: ignore[method-assign]
        Code.OK, "", tuple(bad for _ in request.candidates)
    )
    with pytest.raises(StepFailed) as caught:
        Place().commands(replace(ON_TRAY, x_ratio_range=(0.5, 1.5)), f.context)
    outcome = caught.value.outcome
    assert outcome.message.startswith("none of 256 candidates can be done: ")
    assert "PATH_BLOCKED at retreat (gantry/hand - tray)" in outcome.message
    assert "without support" in outcome.message


@pytest.mark.parametrize(("waypoint", "words"), [(0, "NO_IK at pre-place"), (1, "NO_IK at place")])
def test_a_refusal_names_the_waypoint(waypoint: int, words: str) -> None:
    f = made()
    f.planner.check_candidates = lambda request, *, should_stop: CandidatesResult(  # type: ignore[method-assign]
        Code.OK, "", tuple(CandidateVerdict(Code.NO_IK, NO_Q, waypoint=waypoint) for _ in request.candidates)
    )
    with pytest.raises(StepFailed) as caught:
        Place().commands(ON_TRAY, f.context)
    assert caught.value.outcome.message == f"none of 256 candidates can be done: 256 {words}"


def retreats(f: Fakes, changed: dict[str, Any]) -> list[np.ndarray[Any, Any]]:
    """Return the retreat of each candidate in the EE's frame; none for a candidate without one."""
    ways = [candidate.world_T_ee for candidate in candidates_of(f, replace(ON_TRAY, **changed))]
    return [(way[1].inverse() @ way[2]).translation_m for way in ways if len(way) > 2]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_default_retreat_is_back_along_the_axis_of_the_gripper(axis: int) -> None:
    f = made()
    gripper = f.context.arm_spec.gripper
    assert gripper is not None
    f.context.arm_spec = replace(f.context.arm_spec, gripper=replace(gripper, ee_axis=axis))
    found = retreats(f, {})
    assert len(found) == 64
    assert np.allclose(found, -0.1 * np.eye(3)[axis])


def test_a_retreat_that_is_given_is_taken_and_zero_is_none() -> None:
    assert np.allclose(retreats(made(), {"post_place_vector": (0.0, 0.05, -0.05)}), (0.0, 0.05, -0.05))
    assert not retreats(made(), {"post_place_vector": (0.0, 0.0, 0.0)})


def test_lines_meet_a_turned_box_and_miss_a_hole() -> None:
    frame = WorldObject(
        "frame", (box((0.1, 0.02, 0.02), (0.0, 0.04, 0.0)), box((0.1, 0.02, 0.02), (0.0, -0.04, 0.0)))
    )
    low, high = vertical_spans(body_triangles(frame), np.array([[0.0, 0.04], [0.0, 0.0], [0.2, 0.04]]))
    assert low == pytest.approx([-0.01, np.inf, np.inf])
    assert high == pytest.approx([0.01, -np.inf, -np.inf])
    turn = Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(np.pi / 4, 0.0, 0.0))
    turned = turn.apply(body_triangles(WorldObject("box", (box((1.0, 1.0, 1.0)),))).reshape(-1, 3)).reshape(
        -1, 3, 3
    )
    assert vertical_spans(turned, np.array([[0.1, 0.0]]))[1] == pytest.approx([np.sqrt(0.5)])
