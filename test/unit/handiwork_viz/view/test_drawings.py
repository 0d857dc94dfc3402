"""Drawings that nodes publish are read as the page draws them."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from handiwork_core.contracts.planning import Candidate, CandidatesRequest, CandidatesResult, CandidateVerdict
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_ros.conversions import pose_to_msg
from handiwork_viz.view.ros.condition_drawings import candidates, drawings
from skill_server.ros.motion_drawings import MOST, rejected


def test_rejected_candidates_carry_their_causes() -> None:
    before, grasp = Pose.of((0.4, 0.0, 0.4)), Pose.of((0.4, 0.0, 0.3))
    good, bad = Candidate((before,)), Candidate((before, grasp))
    verdicts = (
        CandidateVerdict(Code.OK, np.zeros((1, 7))),
        CandidateVerdict(
            Code.PATH_BLOCKED, np.zeros((0, 7)), blocking=BodyPair("fr3/fr3_hand", "bin"), waypoint=1
        ),
    )
    request = CandidatesRequest("fr3_arm", np.zeros(7), (good, bad), ())
    found = candidates(MarkerArray(markers=rejected(request, CandidatesResult(Code.OK, "", verdicts))))
    assert [cause for cause, _ in found] == ["PATH_BLOCKED at waypoint 2 (fr3/fr3_hand - bin)"]
    assert found[0][1].almost_equal(grasp, within_m=1e-9, within_rad=1e-9)
    many = CandidatesRequest("fr3_arm", np.zeros(7), (bad,) * (2 * MOST), ())
    assert len(rejected(many, CandidatesResult(Code.OK, "", verdicts[1:] * (2 * MOST)))) == MOST
    assert rejected(many, CandidatesResult(Code.BAD_GOAL, "refused", ())) == []


def test_regions_of_conditions_become_points_and_lines_in_the_world() -> None:
    green = ColorRGBA(r=0.0, g=1.0, b=0.0, a=1.0)
    placed = pose_to_msg(Pose.of((1.0, 0.0, 0.0)))
    corners = [Point(x=0.0), Point(x=0.5), Point(x=0.5), Point(x=0.5, y=0.5)]
    lines = Marker(type=Marker.LINE_LIST, pose=placed, color=green, points=corners)
    dot = Marker(type=Marker.SPHERE_LIST, pose=placed, color=green, points=corners[:1])
    points, point_rgb, segments, line_rgb = drawings(MarkerArray(markers=[lines, dot]))
    assert np.allclose(points, [[1.0, 0.0, 0.0]]) and np.array_equal(point_rgb, [[0, 255, 0]])
    assert segments.shape == line_rgb.shape == (2, 2, 3)
    assert np.allclose(segments[1], [[1.5, 0.0, 0.0], [1.5, 0.5, 0.0]])
    assert [len(part) for part in drawings(MarkerArray())] == [0, 0, 0, 0]
