"""The real skill server with a world, a controller and no planner: the goals that it refuses, without any motion."""

from __future__ import annotations

import math
import threading

import pytest
from geometry_msgs.msg import PoseStamped
from handiwork_msgs.action import ExecutePlan, Pick, Place, RunSkill
from handiwork_msgs.msg import OrientationFilter

from handiwork_core.model.outcome import Code
from handiwork_ros.clients.skill_client import SkillClient
from support.nodes.bare_stack import ARM, ROBOT, until


def at(frame: str = "world", x: float = 0.4, w: float = 1.0) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x, message.pose.orientation.w = x, w
    return message


NAN = math.nan
UPSIDE = OrientationFilter(ee_axis="q", direction="downward")
BAD = [
    (Pick.Goal(), Code.BAD_GOAL, "object"),
    (Pick.Goal(object="unicorn"), Code.UNKNOWN_OBJECT, "object"),
    (Pick.Goal(object="cube", arm="left"), Code.BAD_GOAL, "arm"),
    (Pick.Goal(object="cube", lift_th=NAN), Code.BAD_NUMBER, "lift_th"),
    (Pick.Goal(object="cube", gripper_width=0.5), Code.BAD_NUMBER, "gripper_width"),
    (Pick.Goal(object="cube", direction_to_obj="up"), Code.BAD_GOAL, "direction_to_obj"),
    (Pick.Goal(object="cube", grasp_poses=[at(x=NAN)]), Code.BAD_NUMBER, "grasp_poses[0].pose.position"),
    (Pick.Goal(object="cube", grasp_poses=[at(w=0.0)]), Code.BAD_NUMBER, "grasp_poses[0].pose.orientation"),
    (
        Pick.Goal(object="cube", grasp_poses=[at("moon")]),
        Code.UNKNOWN_FRAME,
        "grasp_poses[0].header.frame_id",
    ),
    (
        Pick.Goal(object="cube", orientation_filters=[UPSIDE]),
        Code.BAD_GOAL,
        "orientation_filters[0].ee_axis",
    ),
    (
        Pick.Goal(object="cube", post_grasp_offset_min=0.2, post_grasp_offset_max=0.1),
        Code.CONTRADICTION,
        "post_grasp_offset_min",
    ),
    (Place.Goal(), Code.BAD_GOAL, "container"),
    (Place.Goal(container="unicorn"), Code.UNKNOWN_OBJECT, "container"),
    (Place.Goal(container="bin", success_mode="luck"), Code.BAD_GOAL, "success_mode"),
    (Place.Goal(container="bin", x_ratio_range=[NAN, 0.5]), Code.BAD_NUMBER, "x_ratio_range[0]"),
    (
        Place.Goal(container="bin", place_poses=[at("moon")]),
        Code.UNKNOWN_FRAME,
        "place_poses[0].header.frame_id",
    ),
    (Pick.Goal(object="unicorn", plan_only=True), Code.UNKNOWN_OBJECT, "object"),
    (ExecutePlan.Goal(), Code.BAD_GOAL, "plan_id"),
    (ExecutePlan.Goal(plan_id="pick-" + "0" * 50_000), Code.BAD_GOAL, "plan_id"),
    (ExecutePlan.Goal(plan_id="pick-0", when_busy="shove"), Code.BAD_GOAL, "when_busy"),
]


@pytest.mark.parametrize(("goal", "code", "field"), BAD, ids=[f"{c.name}-{f}" for _, c, f in BAD])
def test_a_bad_goal_names_its_field_and_nothing_moves(stack, goal, code, field):
    report = stack.client.send(goal).result(60.0)
    assert (report.outcome.code, report.outcome.field_name) == (code, field), report.outcome.message
    assert report.outcome.message and stack.world.asked == 0


UNKNOWN_KEYS = "{objct: cube, lift_th: high, orientation_filters: [{ee_axis: z}]}"
BAD_RUNS = [
    (RunSkill.Goal(), Code.BAD_GOAL, "skill"),
    (RunSkill.Goal(skill="pikc"), Code.BAD_GOAL, "skill"),
    (RunSkill.Goal(skill="mobile__rotate"), Code.UNSUPPORTED, "arm"),
    (RunSkill.Goal(skill="pick"), Code.BAD_GOAL, "object"),
    (RunSkill.Goal(skill="pick", parameters="{object: unicorn}"), Code.UNKNOWN_OBJECT, "object"),
    (RunSkill.Goal(skill="pick", parameters="{objects: [unicorn]}"), Code.UNKNOWN_OBJECT, "object"),
    (RunSkill.Goal(skill="pick", parameters=UNKNOWN_KEYS), Code.BAD_GOAL, "objct"),
    (RunSkill.Goal(skill="pick", parameters="{object: cube, lift_th: 1e9}"), Code.BAD_NUMBER, "lift_th"),
    (RunSkill.Goal(skill="pick", parameters="{object: [cube"), Code.BAD_GOAL, "parameters"),
    (RunSkill.Goal(skill="pick", parameters="[cube]"), Code.BAD_GOAL, "parameters"),
    (RunSkill.Goal(skill="pick", arm="left", parameters="{object: cube}"), Code.BAD_GOAL, "arm"),
    (
        RunSkill.Goal(skill="place", parameters="{container: bin}", when_busy="shove"),
        Code.BAD_GOAL,
        "when_busy",
    ),
    (
        RunSkill.Goal(skill="Place", parameters="{container: bin, success_mode: luck}"),
        Code.BAD_GOAL,
        "success_mode",
    ),
]


@pytest.mark.parametrize(("goal", "code", "field"), BAD_RUNS, ids=[f"{c.name}-{f}" for _, c, f in BAD_RUNS])
def test_a_bad_run_skill_names_its_field_and_nothing_moves(stack, goal, code, field):
    report = stack.client.send(goal).result(60.0)
    assert (report.outcome.code, report.outcome.field_name) == (code, field), report.outcome.message
    assert report.outcome.message and stack.world.asked == 0


def test_all_faults_of_parameters_are_reported_at_once(stack):
    message = stack.client.send(RunSkill.Goal(skill="pick", parameters=UNKNOWN_KEYS)).result(60.0).message
    for part in (
        "objct: unknown key; did you mean 'object'?",
        "object: missing",
        "lift_th: is 'high'",
        "direction",
    ):
        assert part in message, message


def test_the_result_says_where_the_robot_is(stack):
    report = stack.client.pick("unicorn")
    assert report.stopped_at[ARM.joint_names[0]] == pytest.approx(float(ARM.home_q[0]))
    assert report.stopped_ee is not None and report.stopped_ee.translation_m[2] > 0.1


@pytest.mark.parametrize("frame", ["cube", f"{ROBOT.name}/{ARM.ee_link}", "world"])
def test_frames_of_objects_and_links_are_known(stack, frame):
    bad_later = Pick.Goal(object="cube", grasp_poses=[at(frame), at("moon")])
    report = stack.client.send(bad_later).result(60.0)
    assert report.outcome.field_name == "grasp_poses[1].header.frame_id"


def test_without_a_planner_the_goal_ends_and_the_server_lives(stack):
    seen = []
    report = stack.client.pick("cube", on_feedback=seen.append, timeout_s=30.0)
    assert report.outcome.code is Code.PLANNER_LOST and report.outcome.stage == "select"
    assert stack.world.asked == 0 and seen and report.stages
    assert stack.client.pick("unicorn").outcome.code is Code.UNKNOWN_OBJECT


def test_without_a_planner_a_preview_ends_and_leaves_the_arm_free(stack):
    report = stack.client.pick("cube", plan_only=True, timeout_s=30.0)
    assert (report.outcome.code, report.plan) == (Code.PLANNER_LOST, None)
    assert stack.world.asked == 0 and not stack.server._arms.is_busy


def test_the_status_names_checks_that_hang_until_one_returns(stack):
    freed, answers = threading.Event(), []
    status = lambda: stack.client.signs.sign("skill_server").message  # noqa: E731
    for _ in range(4):
        submit = lambda: stack.server._admission.submit("pick", freed.wait, answers.append)  # noqa: E731
        stack.executor.create_task(submit)
    try:
        until(lambda: len(answers) == 4, 300.0)  # time without a processor does not count for a check
        until(lambda: "4 checks of goals hang" in status())
    finally:
        freed.set()
    until(lambda: "hang" not in status())
    assert stack.client.pick("unicorn").outcome.code is Code.UNKNOWN_OBJECT


def test_a_client_without_a_server_gets_an_error():
    with SkillClient(domain_id=101) as alone:
        assert not alone.wait_ready(0.2)
        report = alone.pick("cube", timeout_s=30.0)
    assert report.outcome.code is Code.UNRESPONSIVE and "skill_server" in report.outcome.message
