"""Waits for the arm and for the world's time follow the messages of the joints."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from sensor_msgs.msg import JointState

from handiwork_cli.stack.joint_watch import JointWatch

LIMIT_S = 30.0


class Joints:
    """Gives messages to a watch, as its subscription does."""

    def __init__(self) -> None:
        self._take: Callable[[Any], None] = lambda _message: None
        node = SimpleNamespace(create_subscription=self._subscribe)
        self.watch = JointWatch(node)  # type: ignore[arg-type]

    def _subscribe(self, _kind: type, _topic: str, take: Callable[[Any], None], _depth: int) -> None:
        self._take = take

    def send(self, stamp_s: float, speed: float) -> None:
        message = JointState(name=["joint", "finger"], velocity=[speed, 1.0])
        message.header.stamp.sec = int(stamp_s)
        message.header.stamp.nanosec = round(1e9 * (stamp_s - int(stamp_s)))
        self._take(message)


def begun(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found = list[Any]()
    thread = threading.Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    return thread, found


def test_a_wait_for_a_motion_ends_with_the_first_message_of_a_moving_arm() -> None:
    joints = Joints()
    assert not joints.watch.wait_moving(0.01), "no message has come"
    thread, found = begun(lambda: joints.watch.wait_moving(LIMIT_S))
    joints.send(1.0, 0.0)
    assert thread.is_alive()
    joints.send(1.1, -0.5)
    thread.join(LIMIT_S)
    assert found == [True]


@pytest.mark.parametrize("step_s", [0.05, 10.0])
def test_a_time_of_the_world_is_waited_for_at_any_speed_of_the_world(step_s: float) -> None:
    joints = Joints()
    joints.send(1.0, 0.5)
    thread, found = begun(lambda: joints.watch.wait_until(1.0 + 2.0 * step_s, LIMIT_S))
    joints.send(1.0 + step_s, 0.5)
    assert thread.is_alive()
    joints.send(1.0 + 2.5 * step_s, 0.5)
    thread.join(LIMIT_S)
    assert found == [True]


def test_the_times_to_rest_are_of_a_message_after_the_call() -> None:
    joints = Joints()
    joints.send(1.0, 0.5)
    assert joints.watch.wait_still(0.01) is None
    joints.send(1.5, 0.0)
    assert joints.watch.wait_still(0.01) is None, "this message is of before the call"
    thread, found = begun(lambda: joints.watch.wait_still(LIMIT_S))
    while not found:
        joints.send(joints.watch.now()[1] + 0.25, 0.0)
        thread.join(0.05)
    assert found[0] is not None and found[0][0] >= 0.25
