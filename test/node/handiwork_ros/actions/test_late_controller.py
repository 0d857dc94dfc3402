"""A controller that answers late: a stop is never OK while an earlier goal may still move the arm."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState
from handiwork_ros.ports.arm_and_gripper import GripperClient
from handiwork_ros.ports.robot_watch import RobotWatch
from handiwork_ros.rclpy_support.action_call import ActionCall
from support.nodes.ros_stage import wait_for

from .test_clients import ARM, GRIPPER, Bench, bench, in_thread, never, path

__all__ = ["bench"]
LIMIT_S = 60.0
NOT_YET_S = 0.2


def test_a_stop_while_the_goal_is_unanswered_waits_for_its_end(bench: Bench) -> None:
    """A stop must not be OK because of the former, finished goal while a new one may still move the arm."""
    assert bench.arm.follow(path(), should_stop=never).ok
    bench.robot.endless = bench.robot.holds = True
    bench.robot.arrived.clear()
    moving, moved = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    assert bench.robot.arrived.wait(LIMIT_S)
    stopping, stopped = in_thread(bench.arm.stop)
    stopping.join(NOT_YET_S)
    assert stopping.is_alive(), "the controller may still accept the goal"
    bench.robot.holds = False
    stopping.join(LIMIT_S)
    assert stopped[0].ok, stopped
    assert bench.robot.moving == 0
    moving.join(LIMIT_S)
    assert moved[0].code is Code.CANCELED
    assert bench.robot.moving == 0


def test_a_cancel_while_the_goal_is_unanswered_ends_with_the_arm_at_rest(bench: Bench) -> None:
    bench.robot.endless = bench.robot.holds = True
    stop = threading.Event()
    moving, moved = in_thread(lambda: bench.arm.follow(path(), should_stop=stop.is_set))
    assert bench.robot.arrived.wait(LIMIT_S)
    stop.set()
    moving.join(NOT_YET_S)
    assert moving.is_alive(), "the controller may still accept the goal"
    bench.robot.holds = False
    moving.join(LIMIT_S)
    assert moved[0].code is Code.CANCELED
    assert bench.robot.moving == 0


def test_a_goal_whose_answer_is_later_than_every_wait_is_cancelled_when_it_comes(bench: Bench) -> None:
    bench.robot.endless = bench.robot.holds = True
    outcome = bench.arm.follow(path(), should_stop=never)
    assert outcome.code is Code.CONTROLLER_REFUSED
    assert "did not answer" in outcome.message
    bench.robot.holds = False
    assert bench.robot.started.wait(LIMIT_S)
    wait_for(lambda: bench.robot.moving == 0)
    bench.robot.endless = False
    assert bench.arm.follow(path(), should_stop=never).ok


def test_a_stop_outlasts_a_goal_that_never_arrived(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A live controller that does not know the goal never received it, so the arm is not blocked for ever."""
    sent = bench.arm._client.send_goal_async
    monkeypatch.setattr(
        bench.arm._client,
        "send_goal_async",
        lambda goal, **_: bench.arm._client._pending_goal_requests.setdefault(-1, _Unanswered()),
    )
    assert bench.arm.follow(path(), should_stop=never).code is Code.CONTROLLER_REFUSED
    monkeypatch.setattr(bench.arm._client, "send_goal_async", sent)
    assert bench.arm.stop().ok
    assert bench.robot.moved == 0
    assert bench.arm.follow(path(), should_stop=never).ok


@pytest.mark.parametrize("endless", [False, True])
def test_a_motion_whose_answer_is_lost_is_made_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, endless: bool
) -> None:
    """The controller has the goal; a second one would begin in the middle of the path."""
    send, sent = bench.arm._client.send_goal_async, list[object]()

    def lose_the_first_answer(goal: object, goal_uuid: object, **more: Any) -> object:
        sent.append(goal_uuid)
        answer = send(goal, goal_uuid=goal_uuid, **more)
        return answer if len(sent) > 1 else _Unanswered()

    monkeypatch.setattr(bench.arm._client, "send_goal_async", lose_the_first_answer)
    bench.robot.endless = endless
    moving, moved = in_thread(lambda: bench.arm.follow(path(), should_stop=never))
    wait_for(lambda: bench.robot.moved > 1 or not moving.is_alive())
    bench.robot.endless = False
    moving.join(LIMIT_S)
    assert (len(sent), bench.robot.moved, bench.robot.moving) == (1, 1, 0)
    assert moved[0].code is (Code.CONTROLLER_REFUSED if endless else Code.OK)
    assert not endless or "was not answered within" in moved[0].message


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_motion_whose_answer_is_lost_ends_with_the_arm_at_rest(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, is_stopped: bool
) -> None:
    """The controller reports the end of a cancelled goal before the arm has braked."""
    send = bench.arm._client.send_goal_async

    def lose_the_answer(goal: object, **more: Any) -> object:
        send(goal, **more)
        return _Unanswered()

    braking, is_slow = threading.Event(), bench.arm._to_rest.is_slow

    def note_braking(joints: JointState) -> bool:
        braking.set()
        return is_slow(joints)

    monkeypatch.setattr(bench.arm._client, "send_goal_async", lose_the_answer)
    monkeypatch.setattr(bench.arm._to_rest, "is_slow", note_braking)
    bench.robot.endless, bench.robot.speed = True, 0.5
    wait_for(lambda: bench.world.snapshot().joints.velocity[ARM.joint_names[0]] == 0.5)
    stop = threading.Event()
    moving, moved = in_thread(lambda: bench.arm.follow(path(), should_stop=stop.is_set))
    wait_for(lambda: bench.robot.moved == 1 and bench.robot.moving == 0)
    assert braking.wait(LIMIT_S)
    if is_stopped:
        stop.set()
    moving.join(0.3)
    assert moving.is_alive(), moved
    bench.robot.speed = 0.0
    moving.join(LIMIT_S)
    assert moved[0].code is (Code.CANCELED if is_stopped else Code.CONTROLLER_REFUSED)


def test_a_motion_that_never_arrived_is_sent_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    send, lost = bench.arm._client.send_goal_async, [_Unanswered()]
    monkeypatch.setattr(
        bench.arm._client,
        "send_goal_async",
        lambda goal, **more: lost.pop() if lost else send(goal, **more),
    )
    assert bench.arm.follow(path(), should_stop=never).ok
    assert bench.robot.moved == 1


class _Unanswered:
    """A request that was lost."""

    def add_done_callback(self, _callback: object) -> None:
        """Never call back."""


def test_a_motion_that_began_before_a_stop_is_not_sent_after_it(bench: Bench) -> None:
    """The arm was stopped while the body was between its check of the token and the sending."""
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        if asked == 1:
            assert bench.arm.stop().ok
        return False

    assert bench.arm.follow(path(), should_stop=should_stop).code is Code.CANCELED
    assert bench.robot.moved == 0
    assert bench.arm.follow(path(), should_stop=never).ok


def test_a_stopped_gripper_goal_that_is_accepted_late_is_cancelled(bench: Bench) -> None:
    bench.robot.endless = bench.robot.holds = True
    stop = threading.Event()
    moving, moved = in_thread(lambda: bench.gripper.move(0.04, should_stop=stop.is_set))
    assert bench.robot.arrived.wait(LIMIT_S)
    stop.set()
    moving.join(LIMIT_S)
    assert moved[0].code is Code.CANCELED
    bench.robot.holds = False
    assert bench.robot.started.wait(LIMIT_S)
    wait_for(lambda: bench.robot.moving == 0)
    bench.robot.endless, bench.robot.stalled = False, True
    assert bench.gripper.move(0.02, should_stop=never).ok
    assert bench.robot.asked_position == pytest.approx(0.02 / GRIPPER.width_per_joint)


@pytest.mark.parametrize("seed", range(3))
def test_stops_at_random_instants_leave_no_motion(bench: Bench, seed: int) -> None:
    chance = random.Random(seed)
    bench.robot.endless = True
    for _ in range(15):
        bench.robot.holds = chance.random() < 0.5
        began = threading.Event()
        moving, moved = in_thread(lambda began=began: bench.arm.follow(path(), should_stop=marks(began)))
        threading.Event().wait(chance.choice([0.0, 0.001, 0.01, 0.05]))
        began_before_the_stop = began.is_set()
        stopping, stopped = in_thread(bench.arm.stop)
        threading.Event().wait(chance.choice([0.0, 0.001, 0.01]))
        bench.robot.holds = False
        stopping.join(LIMIT_S)
        assert stopped and stopped[0].ok, stopped
        assert not (began_before_the_stop and bench.robot.moving), "the stop ended before the motion"
        while moving.is_alive():
            # A thread that started late moves after the stop, and needs another one.
            assert bench.arm.stop().ok
            moving.join(NOT_YET_S)
        assert moved and moved[0].code is Code.CANCELED, moved
        assert bench.robot.moving == 0


def marks(began: threading.Event) -> Callable[[], bool]:
    """A token that never stops, and that notes the first time that it is asked."""

    def should_stop() -> bool:
        began.set()
        return False

    return should_stop


def test_no_answer_is_awaited_from_the_gripper_of_a_lost_robot(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The robot does not answer the cancel, and the goal ends with the reason of the loss."""
    watch = RobotWatch(bench.node, bench.world)
    gripper = GripperClient(bench.node, GRIPPER, watch)
    wait_for(lambda: gripper._client.server_is_ready())
    bench.robot.endless = True
    stop = threading.Event()
    moving, moved = in_thread(lambda: gripper.move(0.04, should_stop=stop.is_set))
    assert bench.robot.started.wait(LIMIT_S)
    monkeypatch.setattr(ActionCall, "cancel", lambda _self: None)
    monkeypatch.setattr(RobotWatch, "why_lost", "joint_states is silent")
    stop.set()
    moving.join(LIMIT_S)
    assert moved[0].code is Code.CANCELED
    monkeypatch.undo()
