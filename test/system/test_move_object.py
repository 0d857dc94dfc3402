"""A box that no single grasp can turn over, through the real action: it is turned, and a cancel leaves all in order."""

from __future__ import annotations

import itertools

import numpy as np
import yaml
from handiwork_msgs.action import RunSkill
from handiwork_msgs.msg import ObjectStates

from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_ros.conversions import object_states_from_msg
from handiwork_ros.rclpy_support.qos import LATEST
from support.stack.rig import Rig, send_until, wait_for

LAUNCH_ARGUMENTS = {"scene": "turn_over"}
RESULT_S = 240.0
"""Longest wait for the whole goal: two grasps and two releases."""
GOAL = RunSkill.Goal(
    skill="move_object",
    parameters=yaml.safe_dump(
        {
            "object": "box",
            "container": "tray",
            "up_axis": [0.0, 0.0, -1.0],
            "search_time": 120.0,  # a busy machine must not end the search
            "allowed_planning_time": 60.0,
        }
    ),
)
STEPS = ["pick", "put down", "pick again", "place"]


def up(rig: Rig) -> float:
    """Return the vertical component of the box's z axis, as it is published now."""
    seen, node = list[float](), rig.client.node

    def look(message: ObjectStates) -> None:
        pose = object_states_from_msg(message)["box"].world_T_object
        seen.append(float(pose.rotation.matrix()[2, 2]))

    listener = node.create_subscription(ObjectStates, "world/object_states", look, LATEST)
    try:
        wait_for("two messages on world/object_states", lambda: len(seen) >= 2)
    finally:
        node.destroy_subscription(listener)
    return seen[-1]


def test_a_box_is_turned_over_as_previewed(rig: Rig) -> None:
    """The steps are planned before anything moves, and executed with exactly their motions."""
    rig.joints.clear()
    goal = RunSkill.Goal(skill=GOAL.skill, parameters=GOAL.parameters, plan_only=True)
    preview = rig.client.send(goal).result(RESULT_S)
    assert preview.plan is not None, preview.outcome
    assert max(sample.speed for sample in rig.joints.samples) < JOINT_REST
    assert preview.held_object == ""
    assert list(dict.fromkeys(motion.name.split(":")[0] for motion in preview.plan.motions)) == STEPS
    for earlier, later in itertools.pairwise(preview.plan.motions):
        assert np.allclose(earlier.trajectory.q[-1], later.trajectory.q[0], atol=1e-6)
    done = rig.client.execute(preview.plan, timeout_s=RESULT_S)
    assert done.outcome.ok, done.outcome
    assert done.planning_time_s == 0.0
    assert up(rig) < -0.99


def test_a_cancel_in_the_second_step_ends_at_rest_with_the_box_in_the_hand_and_the_same_goal_goes_on(
    rig: Rig,
) -> None:
    run = send_until(rig.client.send, GOAL, "put down: transit", RESULT_S)
    rig.joints.wait_moving()
    run.cancel()
    report = run.result(RESULT_S)
    rig.joints.assert_rests()
    assert (report.outcome.code, report.outcome.stage) == (Code.CANCELED, "put down: transit"), report.outcome
    assert report.held_object == "box"
    assert report.stopped_at

    done = rig.client.send(GOAL).result(RESULT_S)
    assert done.outcome.ok, done.outcome
    named = [stage.name.split(": ")[0] for stage in done.stages if ": " in stage.name]
    assert list(dict.fromkeys(named)) == STEPS[1:]
    assert done.held_object == ""
    assert up(rig) < -np.cos(np.radians(10.0))
    rig.joints.assert_rests()
