"""A controller that raises, on the thread that controls the robot: the log and the client report it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from handiwork_core.control.goal_refusal import ErrorCode
from handiwork_ros.rclpy_support.qos import LATEST
from support.nodes.ros_stage import wait_for
from support.nodes.sim_client import ABORTED, NAMES, SUCCEEDED, Client


@pytest.fixture
def broken(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Make the arm's controller raise for goals and points."""

    def fail(*_values: Any) -> None:
        raise RuntimeError("the drive is gone")

    assert client.bridge is not None
    controller = client.bridge._running().plant.arms["fr3_arm"].controller
    with monkeypatch.context() as patch:
        patch.setattr(controller, "start", fail)
        patch.setattr(controller, "stream", fail)
        yield client


def test_a_goal_that_cannot_begin_ends_with_the_reason(broken: Client, capfd: pytest.CaptureFixture) -> None:
    answer = broken.result(broken.send(broken.arm, broken.motion(0.1, 1.0)))
    assert (answer.status, answer.result.error_code) == (ABORTED, int(ErrorCode.INVALID_GOAL))
    assert "RuntimeError('the drive is gone'); see the node's log" in answer.result.error_string
    assert "Traceback" in capfd.readouterr().err


def test_a_point_that_cannot_be_followed_is_in_the_log(broken: Client, capfd: pytest.CaptureFixture) -> None:
    stream = broken.node.create_publisher(JointTrajectory, "fr3_arm_controller/joint_trajectory", LATEST)
    wait_for(lambda: stream.get_subscription_count() > 0, 60.0)
    point = JointTrajectoryPoint(positions=[broken.joints()[name] for name in NAMES])
    broken.executor.create_task(stream.publish, JointTrajectory(joint_names=NAMES, points=[point]))
    log: list[str] = []

    def is_logged() -> bool:
        log.append(capfd.readouterr().err)
        return "PointStreamServer._pass_on failed" in "".join(log) and "the drive is gone" in "".join(log)

    wait_for(is_logged, 60.0)
    broken.executor.create_task(broken.node.destroy_publisher, stream)


def test_the_arm_takes_goals_again_once_its_controller_does(client: Client) -> None:
    answer = client.result(client.send(client.arm, client.motion(0.1, 1.0)))
    assert answer.status == SUCCEEDED
