"""Bad goals through the real stack: the field, its value and the remedy are named, nothing moves, the server stays."""

from __future__ import annotations

import math

import pytest
from geometry_msgs.msg import PoseStamped
from handiwork_msgs.action import Pick, Place
from handiwork_msgs.msg import OrientationFilter

from handiwork_core.model.outcome import Code
from support.stack.rig import Rig

STILL = 1e-3
"""The largest change of a joint in the whole test, rad or m."""
DOWN = (1.0, 0.0, 0.0, 0.0)
"""The quaternion xyzw of a hand that points down."""


def pose(
    frame: str = "world",
    position: tuple[float, float, float] = (0.5, 0.12, 0.12),
    xyzw: tuple[float, float, float, float] = DOWN,
) -> PoseStamped:
    stamped = PoseStamped()
    stamped.header.frame_id = frame
    point, turn = stamped.pose.position, stamped.pose.orientation
    point.x, point.y, point.z = position
    turn.x, turn.y, turn.z, turn.w = xyzw
    return stamped


def pick(**fields: object) -> Pick.Goal:
    return Pick.Goal(**{"object": "cube", **fields})


def place(**fields: object) -> Place.Goal:
    return Place.Goal(**{"container": "bin", **fields})


def angles(low: float, high: float) -> OrientationFilter:
    return OrientationFilter(ee_axis="z", direction="downward", min_angle_deg=low, max_angle_deg=high)


POSE = "grasp_poses[0].pose"
CASES = [
    (pick(object="cuube"), Code.UNKNOWN_OBJECT, "object", ("'cuube'", "'cube'")),
    (pick(object=""), Code.BAD_GOAL, "object", ("empty", "'cube'")),
    (pick(object="table"), Code.BAD_GOAL, "object", ("'table'", "fixture", "'cube'")),
    (pick(arm="left"), Code.BAD_GOAL, "arm", ("'left'", "fr3_arm")),
    (pick(follow_tolerance=0.0), Code.BAD_NUMBER, "follow_tolerance", ("0.002", "1")),
    (place(follow_speed=-0.1), Code.BAD_NUMBER, "follow_speed", ("-0.1", "0", "1")),
    (
        pick(grasp_poses=[pose("wrld")]),
        Code.UNKNOWN_FRAME,
        "grasp_poses[0].header.frame_id",
        ("'wrld'", "'world'"),
    ),
    (
        pick(grasp_poses=[pose(), pose("")]),
        Code.UNKNOWN_FRAME,
        "grasp_poses[1].header.frame_id",
        ("empty", "'world'"),
    ),
    (
        pick(grasp_poses=[pose(position=(0.5, math.nan, 0.1))]),
        Code.BAD_NUMBER,
        f"{POSE}.position",
        ("nan", "finite"),
    ),
    (
        pick(grasp_poses=[pose(position=(math.inf, 0.0, 0.1))]),
        Code.BAD_NUMBER,
        f"{POSE}.position",
        ("inf", "finite"),
    ),
    (
        pick(grasp_poses=[pose(xyzw=(0.0, 0.0, 0.0, 0.0))]),
        Code.BAD_NUMBER,
        f"{POSE}.orientation",
        ("0.0", "unit"),
    ),
    (pick(gripper_width=1.0), Code.BAD_NUMBER, "gripper_width", ("1 m", "0.08 m")),
    (pick(gripper_width=-0.02), Code.BAD_NUMBER, "gripper_width", ("-0.02 m", "0.08 m")),
    (pick(gripper_width=math.nan), Code.BAD_NUMBER, "gripper_width", ("nan", "finite")),
    (
        pick(max_velocity_scaling_factor=0.0),
        Code.BAD_NUMBER,
        "max_velocity_scaling_factor",
        ("is 0", "0.01 to 1"),
    ),
    (pick(allowed_planning_time=-1.0), Code.BAD_NUMBER, "allowed_planning_time", ("-1 s", "0.05 to 120")),
    (pick(direction_to_obj="above"), Code.BAD_GOAL, "direction_to_obj", ("'above'", "left", "right")),
    (
        pick(grasp_poses=[pose()], direction_to_obj="left"),
        Code.CONTRADICTION,
        "direction_to_obj",
        ("grasp_poses", "only one"),
    ),
    (
        pick(grasp_poses=[pose()], orientation_filters=[angles(0.0, 20.0)]),
        Code.CONTRADICTION,
        "orientation_filters",
        ("grasp_poses", "only one"),
    ),
    (
        pick(orientation_filters=[angles(30.0, 30.0)]),
        Code.CONTRADICTION,
        "orientation_filters[0].max_angle_deg",
        ("30", "width"),
    ),
    (
        pick(post_grasp_offset_min=0.2, post_grasp_offset_max=0.1),
        Code.CONTRADICTION,
        "post_grasp_offset_min",
        ("0.2", "0.1", "swap"),
    ),
    (
        pick(next_place="{container: tary}"),
        Code.UNKNOWN_OBJECT,
        "next_place.container",
        ("'tary'", "in next_place"),
    ),
    (pick(next_place="{contaner: bin}"), Code.BAD_GOAL, "next_place.contaner", ("'container'",)),
    (pick(lift_th=0.15), Code.CONTRADICTION, "lift_th", ("0.15", "lower it")),
    (place(container="bnn"), Code.UNKNOWN_OBJECT, "container", ("'bnn'", "'bin'")),
    (place(container=""), Code.BAD_GOAL, "container", ("empty", "'bin'")),
    (place(object="cub"), Code.UNKNOWN_OBJECT, "object", ("'cub'", "'cube'")),
    (place(object="bin"), Code.CONTRADICTION, "container", ("'bin'", "two different")),
    (place(object="cube"), Code.CONTRADICTION, "object", ("nothing", "pick")),
    (
        place(place_direction="horizontal"),
        Code.CONTRADICTION,
        "align_place_obj_axis",
        ("zero", "horizontally"),
    ),
    (place(position_constraint="objekt"), Code.BAD_GOAL, "position_constraint", ("'objekt'", "'object'")),
    (place(success_mode="iou"), Code.BAD_GOAL, "success_mode", ("'iou'", "3diou")),
    (place(x_ratio_range=[0.6, 0.4]), Code.CONTRADICTION, "x_ratio_range[0]", ("0.6", "0.4", "swap")),
    (place(y_ratio_range=[0.4, math.nan]), Code.BAD_NUMBER, "y_ratio_range[1]", ("nan", "finite")),
    (place(place_z_offset=0.3), Code.CONTRADICTION, "place_z_offset", ("0.3", "0.12", "swap")),
    (
        place(align_pick_obj_axis=[0.0, 0.0, 1.0]),
        Code.CONTRADICTION,
        "align_place_obj_axis",
        ("align_pick_obj_axis", "set all of"),
    ),
    (
        place(place_poses=[pose()], orientation_filters=[angles(0.0, 20.0)]),
        Code.CONTRADICTION,
        "orientation_filters",
        ("place_poses", "only one"),
    ),
    (
        place(place_poses=[pose("nowhere")]),
        Code.UNKNOWN_FRAME,
        "place_poses[0].header.frame_id",
        ("'nowhere'",),
    ),
]


@pytest.mark.parametrize(
    ("goal", "code", "field", "words"),
    [
        pytest.param(*case, id=f"{type(case[0]).__qualname__.split('_')[0]}-{i}-{case[2]}")
        for i, case in enumerate(CASES)
    ],
)
def test_bad_goal_names_the_field_and_moves_nothing(
    rig: Rig, goal: Pick.Goal | Place.Goal, code: Code, field: str, words: tuple[str, ...]
) -> None:
    before = rig.pids()
    outcome = rig.client.send(goal).result(30.0).outcome
    assert (outcome.code, outcome.field_name) == (code, field), outcome
    assert [word for word in words if word not in outcome.message] == [], outcome.message
    rig.joints.assert_rests()
    assert rig.joints.greatest_change() < STILL
    assert rig.pids() == before


@pytest.mark.parametrize("position", [(5.0, 0.0, 0.3), (0.5, 0.12, -0.2), (0.05, 0.0, 0.05)])
def test_unreachable_pose_says_why_and_moves_nothing(rig: Rig, position: tuple[float, float, float]) -> None:
    outcome = rig.client.send(pick(grasp_poses=[pose(position=position)])).result(30.0).outcome
    assert outcome.code in (Code.NO_CANDIDATE, Code.NO_IK), outcome
    assert outcome.stage == "select", outcome
    if outcome.code is Code.NO_IK:
        assert outcome.position_error_m > 0.0, outcome
    else:
        causes = ("NO_IK", "GOAL_IN_COLLISION", "PATH_BLOCKED", "JOINT_LIMIT")
        assert any(cause in outcome.message for cause in causes), outcome
    rig.joints.assert_rests()
    assert rig.joints.greatest_change() < STILL


def test_far_pose_has_no_solution(rig: Rig) -> None:
    outcome = rig.client.send(pick(grasp_poses=[pose(position=(5.0, 0.0, 0.3))])).result(30.0).outcome
    assert "NO_IK" in (outcome.code.name, *outcome.message.replace(",", " ").split()), outcome


def test_the_server_is_as_good_as_before(rig: Rig) -> None:
    report = rig.client.pick("cube")
    assert report.ok, report.outcome
