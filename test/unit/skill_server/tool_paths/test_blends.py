"""Blends stay within their radius and keep the direction continuous; those that cannot are refused by name."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handiwork_core.model.geometry import Array, Pose, Rotation
from skill_server.tool_paths.blends import Blend, Piece, rounded
from skill_server.tool_paths.sampling import STEP_M, rest_of, sampled
from skill_server.tool_paths.segments import Line, PathRefused, Segment, arc_through

coordinates = st.floats(-0.5, 0.5).map(lambda v: round(v, 3))
points = st.tuples(coordinates, coordinates, coordinates)
legs = st.lists(st.tuples(points, st.one_of(st.none(), points), st.floats(-2.0, 2.0)), min_size=2, max_size=4)


def at(point: tuple[float, ...] | Array, yaw: float = 0.0) -> Pose:
    return Pose.of(point, Rotation.from_rpy(0.0, 0.4 * yaw, yaw))


def segments_of(legs: list[tuple[tuple[float, ...], tuple[float, ...] | None, float]]) -> list[Segment]:
    here, made = at((0.0, 0.0, 0.0)), list[Segment]()
    for point, interim, yaw in legs:
        goal = at(point, yaw)
        assume(np.linalg.norm(goal.translation_m - here.translation_m) > 0.02)
        one: Segment = Line(here, goal)
        if interim is not None:
            try:
                one = arc_through(here, np.array(interim), goal, "interim")
            except PathRefused:
                assume(False)
            assume(one.length_m < 10.0)
        made.append(one)
        here = goal
    return made


def tangent(piece: Piece, share: float) -> Array:
    a, b = piece.pose(max(0.0, share - 1e-5)), piece.pose(min(1.0, share + 1e-5))
    d = b.translation_m - a.translation_m
    return np.asarray(d / np.linalg.norm(d))


@settings(max_examples=60, deadline=None)
@given(legs, st.floats(0.005, 0.1))
def test_a_blended_curve_keeps_its_radius_is_continuous_and_never_turns_abruptly(
    legs: list[tuple[tuple[float, ...], tuple[float, ...] | None, float]], radius: float
) -> None:
    segments = segments_of(legs)
    radii = [radius] * (len(segments) - 1)
    fields = [f"waypoints[{i}].blend_radius" for i in range(len(radii))]
    try:
        pieces = rounded(segments, radii, fields)
    except PathRefused:
        assume(False)
    nominal = np.array([s.pose(u).translation_m for s in segments for u in np.linspace(0.0, 1.0, 201)])
    gap = max(s.length_m for s in segments) / 400.0
    for piece in pieces:
        if isinstance(piece, Blend):
            corner = piece.after.start.translation_m
            curve = np.array([piece.pose(u).translation_m for u in np.linspace(0.0, 1.0, 41)])
            assert np.linalg.norm(curve - corner, axis=1).max() <= radius + 1e-9
            off = np.linalg.norm(curve[:, None] - nominal[None], axis=2).min(axis=1)
            assert off.max() <= radius + gap
    for one, other in pairwise(pieces):
        assert one.pose(1.0).almost_equal(other.pose(0.0), within_m=2e-4, within_rad=1e-2)
        assert float(tangent(one, 1.0) @ tangent(other, 0.0)) > math.cos(0.02)
    assert pieces[-1].pose(1.0).almost_equal(segments[-1].end, within_m=1e-6, within_rad=1e-6)


@settings(max_examples=40, deadline=None)
@given(legs)
def test_samples_are_close_and_end_at_the_goal(
    legs: list[tuple[tuple[float, ...], tuple[float, ...] | None, float]],
) -> None:
    segments = segments_of(legs)[:1]
    poses = sampled(rounded(segments, (), ()))
    steps = np.diff([segments[0].start.translation_m, *(p.translation_m for p in poses)], axis=0)
    assert np.linalg.norm(steps, axis=1).max() <= STEP_M + 1e-9
    assert poses[-1].almost_equal(segments[0].end, within_m=1e-9, within_rad=1e-6)


def corner(goal: tuple[float, float, float]) -> list[Segment]:
    return [Line(at((0.0, 0.0, 0.0)), at((0.2, 0.0, 0.0))), Line(at((0.2, 0.0, 0.0)), at(goal))]


def test_a_right_angle_is_cut_by_less_than_half_of_the_radius() -> None:
    blend = next(p for p in rounded(corner((0.2, 0.2, 0.0)), (0.1,), ("r",)) if isinstance(p, Blend))
    middle = blend.pose(0.5).translation_m
    assert middle == pytest.approx([0.175, 0.025, 0.0])
    assert blend.pose(0.0).translation_m == pytest.approx([0.1, 0.0, 0.0])
    assert blend.pose(1.0).translation_m == pytest.approx([0.2, 0.1, 0.0])


@pytest.mark.parametrize(
    ("goal", "radius", "words"),
    [
        ((0.0, 0.001, 0.0), 0.05, "turns back by 180 deg where r is to blend"),
        ((0.2, 0.04, 0.0), 0.05, r"r is 0.05 m, and the next point is 0.0400 m away"),
    ],
)
def test_a_blend_that_cannot_be_made_is_refused(
    goal: tuple[float, float, float], radius: float, words: str
) -> None:
    with pytest.raises(PathRefused, match=words):
        rounded(corner(goal), (radius,), ("r",))


def test_overlapping_radii_are_refused_by_both_names() -> None:
    three = [*corner((0.2, 0.1, 0.0)), Line(at((0.2, 0.1, 0.0)), at((0.5, 0.1, 0.0)))]
    assert len(rounded(three, (0.05, 0.05), ("first", "second"))) == 4
    words = r"the blends overlap: first is 0.06 m and second is 0.05 m on a motion of 0.1000 m"
    with pytest.raises(PathRefused, match=words):
        rounded(three, (0.06, 0.05), ("first", "second"))


def test_a_blend_beside_a_motion_that_only_turns_is_refused() -> None:
    spot = [
        Line(at((0.0, 0.0, 0.0)), at((0.0, 0.0, 0.0), 1.0)),
        Line(at((0.0, 0.0, 0.0), 1.0), at((0.1, 0.0, 0.0))),
    ]
    with pytest.raises(PathRefused, match="beside a motion that only turns"):
        rounded(spot, (0.02,), ("r",))


def test_the_rest_of_a_curve_begins_behind_where_the_tool_stopped() -> None:
    path = sampled(rounded(corner((0.2, 0.2, 0.0)), (0.05,), ("r",)))
    here = path[20]
    rest = rest_of(path, Pose.of(here.translation_m + [0.0005, 0.0005, 0.0], here.rotation))
    assert rest[0] is path[21]
    assert rest[-1] is path[-1]
    assert rest_of(path, path[-1]) == (path[-1],)


def test_a_stop_near_the_start_of_a_closed_curve_leaves_all_of_it() -> None:
    corners = [at((0.0, 0.0, 0.0)), at((0.2, 0.0, 0.0)), at((0.2, 0.2, 0.0)), at((0.0, 0.0, 0.0))]
    path = sampled(rounded([Line(a, b) for a, b in pairwise(corners)], (0.05, 0.05), ("a", "b")))
    assert len(rest_of(path, at((0.001, 0.0, 0.0)))) >= len(path) - 1
