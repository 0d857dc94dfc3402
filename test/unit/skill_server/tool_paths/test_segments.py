"""Lines and arcs begin and end where they should, keep their radius, turn evenly, and refuse bad points in words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from skill_server.tool_paths.segments import Arc, Line, PathRefused, arc_about, arc_through

coordinates = st.floats(-1.0, 1.0).map(lambda v: round(v, 3))
points = st.tuples(coordinates, coordinates, coordinates).map(np.array)
turns = st.floats(-math.pi, math.pi)


def pose(point: Array | tuple[float, ...], yaw: float = 0.0) -> Pose:
    return Pose.of(point, Rotation.from_rpy(0.0, 0.0, yaw))


@given(points, points, points, turns)
def test_an_arc_through_three_points_keeps_its_radius_and_passes_them(
    a: Array, b: Array, c: Array, yaw: float
) -> None:
    start, goal = pose(a), pose(c, yaw)
    try:
        arc = arc_through(start, b, goal, "interim")
    except PathRefused:
        assume(False)
    assume(
        arc.radius_m < 50.0
    )  # nearly a line: the share of the interim point is not exact enough to compare
    shares = np.linspace(0.0, 1.0, 201)
    way = np.array([arc.pose(s).translation_m for s in shares])
    np.testing.assert_allclose(np.linalg.norm(way - arc.center, axis=1), arc.radius_m, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(way[[0, -1]], [a, c], atol=1e-6)
    # The interim point lies on the arc that is travelled, not on the other one of the circle.
    assert np.linalg.norm(way - b, axis=1).min() <= arc.length_m / 200.0 + 1e-6


@given(points, points, turns)
def test_an_arc_about_a_center_is_the_shorter_one_and_exact_at_both_ends(
    center: Array, arm: Array, angle: float
) -> None:
    if np.linalg.norm(arm) < 0.01 or abs(math.sin(angle)) < 0.01:
        return
    across = np.cross(arm, [0.3, 0.5, 0.9])
    if np.linalg.norm(across) < 1e-3:
        return
    axis = across / np.linalg.norm(across)
    end = center + Rotation.from_axis_angle(axis, angle).matrix() @ arm
    arc = arc_about(pose(center + arm), center + 1e-4 * arm, pose(end), "center")
    assert 0.0 < arc.angle_rad < math.pi
    np.testing.assert_allclose(arc.pose(1.0).translation_m, end, atol=1e-9)
    np.testing.assert_allclose(arc.pose(1.0 - 1e-9).translation_m, end, atol=1e-6)


def test_a_line_and_an_arc_turn_evenly_on_the_shorter_side() -> None:
    start, end = pose((0.0, 0.0, 0.0), 0.2), pose((1.0, 0.0, 0.0), 0.2 - 1.5)
    for one in (Line(start, end), arc_through(start, np.array([0.5, 0.5, 0.0]), end, "interim")):
        for share in (0.0, 0.3, 0.7, 1.0):
            assert one.pose(share).rotation.angle_to(Rotation.from_rpy(0.0, 0.0, 0.2 - 1.5 * share)) < 1e-6


@pytest.mark.parametrize(
    ("interim", "goal", "words"),
    [
        ((0.5, 0.0, 0.0), (1.0, 0.0, 0.0), "on one line"),
        ((0.5, 0.01, 0.0), (1.0, 0.0, 0.0), "has a radius of 12.5 m, more than 5 m"),
        ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), "the interim point and the goal of the circle are 0.00 mm apart"),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), "the start and the interim point"),
        ((0.5, 0.5, 0.0), (0.0, 0.0, 0.0), "the start and the goal"),
    ],
)
def test_points_that_make_no_circle_are_refused_in_words(
    interim: tuple[float, ...], goal: tuple[float, ...], words: str
) -> None:
    with pytest.raises(PathRefused, match=words) as refused:
        arc_through(pose((0.0, 0.0, 0.0)), np.array(interim), pose(goal), "interim")
    assert (refused.value.outcome.code, refused.value.outcome.field_name) == (Code.BAD_GOAL, "interim")


@pytest.mark.parametrize(
    ("center", "goal", "words"),
    [
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), "has a radius of 0.00 mm; move the center away"),
        ((0.5, 0.0, 0.0), (1.0, 0.0, 0.0), "on one line; give an interim point"),
        ((0.5, 0.0, 0.0), (0.5, 0.7, 0.0), "500.0 mm from the start and 700.0 mm from the goal"),
        ((0.5, 0.0, 0.0), (0.0, 0.0, 0.0), "on one line"),
    ],
)
def test_centers_that_make_no_circle_are_refused_in_words(
    center: tuple[float, ...], goal: tuple[float, ...], words: str
) -> None:
    with pytest.raises(PathRefused, match=words):
        arc_about(pose((0.0, 0.0, 0.0)), np.array(center), pose(goal), "center")


def test_the_share_within_a_radius_reaches_exactly_that_far_from_the_end() -> None:
    line = Line(pose((0.0, 0.0, 0.0)), pose((0.4, 0.0, 0.0)))
    arc = arc_through(pose((0.2, 0.0, 0.0)), np.array([0.0, 0.2, 0.0]), pose((0.0, -0.2, 0.0)), "interim")
    assert isinstance(arc, Arc)
    for one in (line, arc):
        share = one.share_within(0.05)
        for inside, end in ((share, one.start), (1.0 - share, one.end)):
            gap = np.linalg.norm(one.pose(inside).translation_m - end.translation_m)
            assert gap == pytest.approx(0.05, abs=1e-9)
    assert arc.share_within(0.5) == math.inf
