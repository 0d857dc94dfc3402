"""Goals of the simulation's controllers: ended in a paused world, with feedback, and late."""

from __future__ import annotations

from typing import Any

import pytest
from handiwork_msgs.srv import SetPaused

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from handiwork_core.model.outcome import Code
from support.nodes.ros_stage import wait_for
from support.nodes.sim_client import ABORTED, CANCELED, NAMES, SUCCEEDED, Client


def test_a_goal_canceled_while_the_world_is_paused_ends_and_the_next_one_still_runs(client: Client) -> None:
    handle = client.send(client.arm, client.motion(0.6, 4.0))
    wait_for(lambda: client.speed() > 0.05)
    assert client.call("set_paused", SetPaused.Request(paused=True)).outcome.code == Code.OK
    client.answer(handle.cancel_goal_async)
    assert client.result(handle).status == CANCELED
    assert client.call("set_paused", SetPaused.Request(paused=False)).outcome.code == Code.OK
    wait_for(lambda: client.speed() < 0.01)
    assert client.result(client.send(client.arm, client.motion(0.1, 1.0))).status == SUCCEEDED


def test_a_followed_trajectory_tells_where_it_is(client: Client) -> None:
    feedbacks: list[Any] = []
    goal = client.motion(0.3, 1.0)
    handle = client.answer(
        lambda: client.arm.send_goal_async(
            goal, feedback_callback=lambda message: feedbacks.append(message.feedback)
        )
    )
    assert client.result(handle).status == SUCCEEDED
    assert len(feedbacks) >= 10
    middle = feedbacks[len(feedbacks) // 2]
    assert list(middle.joint_names) == NAMES
    assert middle.desired.velocities[0] > 0.0
    wanted, actual = middle.desired.positions[0], middle.actual.positions[0]
    assert middle.error.positions[0] == pytest.approx(wanted - actual, abs=1e-9)


@pytest.mark.parametrize("what", ["path_tolerance", "goal_tolerance"])
def test_a_goal_that_lifts_a_tolerance_is_refused_before_the_arm_moves(client: Client, what: str) -> None:
    goal = client.motion(0.4, 1.0)
    setattr(goal, what, [JointTolerance(name=name, position=-1.0) for name in NAMES])
    answer = client.result(client.send(client.arm, goal))
    assert (answer.status, answer.result.error_code) == (
        ABORTED,
        FollowJointTrajectory.Result.INVALID_GOAL,
    )
    assert f"joint {NAMES[0]} has {what} -1" in answer.result.error_string
    assert "send 0" in answer.result.error_string
    assert client.speed() < 0.01


def test_a_trajectory_that_is_over_is_refused(client: Client) -> None:
    wait_for(lambda: client.now_s() > 2.5, 60.0)
    goal = client.motion(0.1, 1.0)
    goal.trajectory.header.stamp.sec = 1
    answer = client.result(client.send(client.arm, goal))
    assert (answer.status, answer.result.error_code) == (
        ABORTED,
        FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP,
    )
