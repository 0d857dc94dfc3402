"""Decoding any goal gives checked parameters or a refusal that names the field."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("rclpy", reason="goals are ROS messages")

from geometry_msgs.msg import PoseStamped
from handiwork_msgs.action import Pick, Place
from handiwork_msgs.msg import OrientationFilter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.actions.skill_binding import GoalRejected
from handiwork_ros.ports.frames import UnknownFrame
from skill_server.ros.goal_decoding import decode_goal, noting
from skill_server.skills.pick_place.pick import PickParams
from skill_server.skills.pick_place.place import PlaceParams

SHIFT = Pose.of((1.0, 2.0, 3.0))
OF_THE_SERVER = "time_allowance"
"""Read before a skill sees the goal."""
NUMBERS = [
    n for n, kind in Pick.Goal.get_fields_and_field_types().items() if kind == "double" and n != OF_THE_SERVER
]
any_float = st.floats(allow_nan=True, allow_infinity=True)


def frames(name: str, field: str) -> Pose:
    if name == "world":
        return Pose.identity()
    if name == "table":
        return SHIFT
    raise UnknownFrame(f"frame {name!r} is not known; use one of ['table', 'world']", field)


def stamped(frame: str = "world", x: float = 0.0, w: float = 1.0) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.orientation.w = x, w
    return message


def refusal(goal: Pick.Goal) -> Outcome:
    with pytest.raises(GoalRejected) as caught:
        decode_goal(PickParams, goal, frames)
    return caught.value.outcome


def test_a_default_goal_gives_the_numbers_of_the_action():
    goal = Pick.Goal(object="cube")
    params = decode_goal(PickParams, goal, frames)
    assert params.object == "cube"
    assert {n: getattr(params, n) for n in NUMBERS} == {n: getattr(goal, n) for n in NUMBERS}


def test_place_takes_its_arrays_as_tuples():
    goal = Place.Goal(container="bin", x_ratio_range=[0.1, 0.2], post_place_vector=[0.0, 0.5, 1.0])
    params = decode_goal(PlaceParams, goal, frames)
    assert params.x_ratio_range == (0.1, 0.2) and params.post_place_vector == (0.0, 0.5, 1.0)
    assert params.pre_place_z_offset == goal.pre_place_z_offset


def test_poses_are_brought_into_the_world():
    params = decode_goal(PickParams, Pick.Goal(object="cube", grasp_poses=[stamped("table", 0.5)]), frames)
    assert params.grasp_poses[0].translation_m.tolist() == [1.5, 2.0, 3.0]


def test_the_frames_of_poses_are_noted():
    found: dict[str, Pose] = {}
    poses = [stamped("/table"), stamped("world")]
    decode_goal(PickParams, Pick.Goal(grasp_poses=poses), noting(frames, found))
    assert set(found) == {"table", "world"}
    assert found["table"] is SHIFT


def test_a_leading_slash_is_no_other_frame():
    params = decode_goal(PickParams, Pick.Goal(grasp_poses=[stamped("/table")]), frames)
    assert params.grasp_poses[0].translation_m.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_every_number_is_refused_by_its_name(name, bad):
    outcome = refusal(Pick.Goal(object="cube", **{name: bad}))
    assert (outcome.code, outcome.field_name) == (Code.BAD_NUMBER, name)


@pytest.mark.parametrize(
    ("pose", "code", "field"),
    [
        (stamped(x=math.nan), Code.BAD_NUMBER, "grasp_poses[1].pose.position"),
        (stamped(w=0.0), Code.BAD_NUMBER, "grasp_poses[1].pose.orientation"),
        (stamped(frame="moon"), Code.UNKNOWN_FRAME, "grasp_poses[1].header.frame_id"),
        (stamped(frame=""), Code.UNKNOWN_FRAME, "grasp_poses[1].header.frame_id"),
    ],
    ids=["nan", "zero quaternion", "unknown frame", "empty frame"],
)
def test_a_bad_pose_is_refused_by_its_place(pose, code, field):
    outcome = refusal(Pick.Goal(object="cube", grasp_poses=[stamped(), pose]))
    assert (outcome.code, outcome.field_name) == (code, field)
    assert outcome.message


def test_filter_angles_are_refused_by_their_place():
    bad = OrientationFilter(ee_axis="z", direction="downward", max_angle_deg=math.nan)
    assert refusal(Pick.Goal(orientation_filters=[bad])).field_name == "orientation_filters[0].max_angle_deg"


def test_a_filter_keeps_its_frame():
    of_bin = OrientationFilter(ee_axis="z", direction="downward", frame="container")
    params = decode_goal(PlaceParams, Place.Goal(container="bin", orientation_filters=[of_bin]), frames)
    assert [one.frame for one in params.orientation_filters] == ["container"]


def test_the_next_place_of_a_message_is_the_text_of_a_mapping():
    goal = Pick.Goal(
        object="cube", arm="left", next_place="{container: bin, place_poses: [{position: [1, 2, 3]}]}"
    )
    place = decode_goal(PickParams, goal, frames).next_place
    assert (place.container, place.arm) == ("bin", "left")
    assert place.place_poses[0].translation_m.tolist() == [1.0, 2.0, 3.0]
    assert decode_goal(PickParams, Pick.Goal(object="cube"), frames).next_place is None


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{contaner: bin}", "next_place.contaner"),
        ("{container: bin, t_eps: high}", "next_place.t_eps"),
        ("[bin]", "next_place"),
        ("{container: [", "next_place"),
        ("x" * 200_000, "next_place"),
    ],
)
def test_a_bad_next_place_is_refused_by_its_key(text, field):
    outcome = refusal(Pick.Goal(object="cube", next_place=text))
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, field)
    assert outcome.message.startswith("next_place")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=st.text(max_size=8),
    frame=st.sampled_from(["world", "table", "", "moon", "/"]),
    values=st.lists(any_float, min_size=8, max_size=8),
    number=st.sampled_from(NUMBERS),
)
def test_random_goals_are_decoded_or_refused(text, frame, values, number):
    pose = stamped(frame)
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = values[:3]
    q = pose.pose.orientation
    q.x, q.y, q.z, q.w = values[3:7]
    goal = Pick.Goal(object=text, arm=text, direction_to_obj=text, grasp_poses=[pose], **{number: values[7]})
    try:
        params = decode_goal(PickParams, goal, frames)
    except GoalRejected as refused:
        verdict = refused.outcome
    else:
        verdict = None
    if verdict is not None:
        assert verdict.code in (Code.BAD_NUMBER, Code.UNKNOWN_FRAME)
        assert verdict.field_name and verdict.message
        return
    assert math.isfinite(getattr(params, number))
    assert all(map(math.isfinite, params.grasp_poses[0].translation_m))


def test_every_fault_of_a_message_is_reported_with_the_faults_that_its_skill_finds_in_the_rest():
    goal = Pick.Goal(
        object="cube",
        pre_grasp_offset=math.nan,
        grasp_poses=[stamped("wrld"), stamped(x=math.inf)],
        orientation_filters=[OrientationFilter(ee_axis="z", direction="up", min_angle_deg=math.nan)],
        recovery="pray",
    )

    def judge(params: PickParams) -> Outcome:
        # A field that could not be read has its default.
        assert (params.pre_grasp_offset, params.grasp_poses) == (PickParams(object="").pre_grasp_offset, ())
        others_found = (Outcome(Code.BAD_GOAL, params.recovery, "check", "recovery"),)
        return Outcome(Code.BAD_NUMBER, "follows", "check", "pre_grasp_offset", others=others_found)

    with pytest.raises(GoalRejected) as caught:
        decode_goal(PickParams, goal, frames, judge)
    outcome = caught.value.outcome
    assert (outcome.code, outcome.field_name) == (Code.UNKNOWN_FRAME, "grasp_poses[0].header.frame_id")
    words = ("'wrld'", "inf", "orientation_filters[0].min_angle_deg", "pre_grasp_offset", "pray")
    assert [word for word in words if word not in outcome.message] == []
    assert "follows" not in outcome.message
