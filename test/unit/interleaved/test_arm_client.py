"""The arm's client against a controller that answers at times drawn by a seed: a stop works in any interleaving."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal

from control_msgs.action import FollowJointTrajectory
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState
from handiwork_core.testing.gantry import gantry
from handiwork_ros.ports import arm_and_gripper, braking, sim_time_deadline
from handiwork_ros.ports.arm_and_gripper import ArmClient
from handiwork_ros.rclpy_support import action_call, ros_clock, service_call
from handiwork_ros.rclpy_support.rclpy_internals import goal_handle
from support.interleaving import virtual_ros
from support.interleaving.interleaver import Interleaver

HERE = sys.modules[__name__]
MODULES = [action_call, arm_and_gripper, braking, service_call, sim_time_deadline, ros_clock]
SEEDS = range(150)
ARM = gantry().arms["arm"]
Q = np.stack([ARM.home_q, ARM.home_q + 0.1])
PATH = Trajectory(ARM.joint_names, np.array([0.0, 0.5]), Q, Q * 0, Q * 0)
RESULT = SimpleNamespace(error_code=FollowJointTrajectory.Result.SUCCESSFUL, error_string="")


class Controller:
    """Accepts a goal after a time that the seed draws, moves for half a second, brakes when it is cancelled."""

    def __init__(self, run: Interleaver) -> None:
        self.run = run
        self.states: dict[bytes, str] = {}
        self.results: dict[bytes, virtual_ros.Future] = {}
        self.is_held = False
        self.moved = 0

    @property
    def is_moving(self) -> bool:
        return "moving" in self.states.values() or "braking" in self.states.values()

    def serve(self, key: bytes, answer: Callable[[bool], None], end: Callable[[int], None]) -> None:
        """Serve one goal, in a thread of its own.

        Args:
            key: Id of the goal.
            answer: Receives whether the goal is accepted.
            end: Receives the final status.
        """
        self.run.sleep(self.run.draw([0.0, 0.01, 0.3, 1.2, 2.2]))
        self.run.wait(lambda: not self.is_held, None)
        self.states[key] = "moving"
        self.moved += 1
        answer(True)
        until_s = self.run.now_s + 0.5
        self.run.wait(lambda: self.states[key] == "braking", until_s - self.run.now_s)
        is_cancelled = self.states[key] == "braking"
        if is_cancelled:
            self.run.sleep(0.1)
        self.states[key] = "ended"
        end(GoalStatus.STATUS_CANCELED if is_cancelled else GoalStatus.STATUS_SUCCEEDED)

    def cancel(self, key: bytes) -> int:
        """Brake a goal; return a code of CancelGoal.

        Args:
            key: Id of the goal.
        """
        state = self.states.get(key, "")
        if not state:
            return int(CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID)
        if state == "ended":
            return int(CancelGoal.Response.ERROR_GOAL_TERMINATED)
        self.states[key] = "braking"
        return int(CancelGoal.Response.ERROR_NONE)


class Client:
    """A stand-in for ``rclpy.action.ActionClient``; used on the executor's thread only."""

    def __init__(self, node: Any, controller: Controller) -> None:
        self.node, self.controller = node, controller
        self.ends: dict[bytes, virtual_ros.Future] = {}

    def server_is_ready(self) -> bool:
        return True

    def send_goal_async(
        self, _goal: Any, goal_uuid: Any, feedback_callback: Any = None
    ) -> virtual_ros.Future:
        key, sent, create = bytes(goal_uuid.uuid), virtual_ros.Future(), self.node.executor.create_task
        ended = self.ends[key] = virtual_ros.Future()

        def answer(accepted: bool) -> None:
            create(sent.set_result, goal_handle(self, goal_uuid) if accepted else None)

        def end(status: int) -> None:
            create(ended.set_result, SimpleNamespace(status=status, result=RESULT))

        run = self.controller.run
        run.spawn(lambda: self.controller.serve(key, answer, end), "goal", daemon=True)
        return sent

    def _cancel_goal_async(self, handle: Any) -> virtual_ros.Future:
        answered, key, run = virtual_ros.Future(), bytes(handle.goal_id.uuid), self.controller.run

        def serve() -> None:
            run.sleep(run.draw([0.0, 0.01]))
            response = SimpleNamespace(return_code=self.controller.cancel(key))
            self.node.executor.create_task(answered.set_result, response)

        run.spawn(serve, "cancel", daemon=True)
        return answered

    def _get_result_async(self, handle: Any) -> virtual_ros.Future:
        return self.ends[bytes(handle.goal_id.uuid)]


class World:
    """Joints that move as long as the controller moves."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def snapshot(self) -> Any:
        speed = 1.0 if self._controller.is_moving else 0.0
        names = ARM.joint_names
        joints = JointState(
            self._controller.run.now_s, dict.fromkeys(names, 0.0), dict.fromkeys(names, speed)
        )
        return SimpleNamespace(joints=joints)

    def joint_age_s(self) -> float:
        return 0.0

    def joint_feedback(self) -> tuple[float, float]:
        now_s = self._controller.run.now_s
        return now_s, now_s


class LateWorld(World):
    """A running world that sends ten times a second, read by a thread that is suspended right after it has read."""

    def _sent_s(self) -> float:
        return math.floor(10.0 * self._controller.run.now_s) / 10.0

    def snapshot(self) -> Any:
        world = super().snapshot()
        world.joints = replace(world.joints, stamp_s=self._sent_s())
        self._hold_up()
        return world

    def joint_feedback(self) -> tuple[float, float]:
        feedback = self._sent_s(), self._sent_s()
        self._hold_up()
        return feedback

    def _hold_up(self) -> None:
        run = self._controller.run
        run.sleep(run.draw([0.0, 0.0, 0.0, 0.6]))


class FormerArm:
    """A former version of the arm's client: it knew a goal only after the server's response."""

    def __init__(self, node: Any, client: Client, world: World) -> None:
        self._node, self._client, self._world = node, client, world
        self._running: Any = None

    def follow(self, _trajectory: Trajectory, *, should_stop: Callable[[], bool]) -> Outcome:
        run = action_call.ActionCall(self._node, self._client, None)  # type: ignore[arg-type]
        run.send()
        run.answered.wait(5.0)
        self._running = run
        while not run.done.wait(0.01):
            if should_stop():
                return self.stop()
        return OK

    def stop(self) -> Outcome:
        while True:
            if self._running is not None:
                self._running.cancel()
            speeds = self._world.snapshot().joints.velocity.values()
            if (self._running is None or self._running.done.is_set()) and not any(speeds):
                return OK
            self._client.controller.run.sleep(0.01)


def arm_of(kind: type, run: Interleaver, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Controller]:
    """Return a client of the arm and its controller.

    Args:
        kind: Class of the client.
        run: The interleaver.
        monkeypatch: The fixture.
    """
    controller, node = Controller(run), virtual_ros.Node(run)
    client, world = Client(node, controller), World(controller)
    if kind is FormerArm:
        return FormerArm(node, client, world), controller
    monkeypatch.setattr(arm_and_gripper, "ActionClient", lambda *_arguments: client)
    watch = SimpleNamespace(why_lost="")
    return ArmClient(node, ARM, world, watch), controller  # type: ignore[arg-type]


def moves_after_a_stop(kind: type, seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the arm moves after a stop was OK, though no motion was sent since.

    Args:
        kind: Class of the client.
        seed: Seed of the interleaving.
        monkeypatch: The fixture.
    """
    run, after = Interleaver(seed, [*MODULES, HERE]), list[bool]()
    with run.patched():
        arm, controller = arm_of(kind, run, monkeypatch)

        def body() -> None:
            arm.follow(PATH, should_stop=lambda: False)
            arm.follow(PATH, should_stop=lambda: bool(after))

        def stops() -> None:
            run.wait(lambda: controller.moved > 0, None)
            run.sleep(run.draw([0.0, 0.2, 0.6, 0.8]))
            moved = controller.moved
            end = arm.stop()
            if end.ok:
                # The body may begin its second motion after the stop: only motions sent before count.
                after.append(controller.is_moving and controller.moved == moved)
            run.sleep(3.0)

        run.spawn(body, "body")
        run.spawn(stops, "stops")
        run.run()
    return any(after)


def late_starts(kind: type, seed: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the number of motions that begin after an OK stop, which came while the only goal was being sent.

    The token of the motion is set by then.

    Args:
        kind: Class of the client.
        seed: Seed of the interleaving.
        monkeypatch: The fixture.
    """
    run, stopped = Interleaver(seed, [*MODULES, HERE]), list[int]()
    with run.patched():
        arm, controller = arm_of(kind, run, monkeypatch)
        token: list[bool] = []

        def body() -> None:
            assert arm.follow(PATH, should_stop=lambda: bool(token)).code in (Code.OK, Code.CANCELED)

        def stops() -> None:
            run.sleep(run.draw([0.0, 0.005, 0.02, 0.4]))
            token.append(True)
            if arm.stop().ok:
                stopped.append(controller.moved)
            run.sleep(5.0)
            assert not controller.is_moving

        run.spawn(body, "body")
        run.spawn(stops, "stops")
        run.run()
    return controller.moved - stopped[0] if stopped else 0


def test_nothing_begins_to_move_once_a_stop_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [seed for seed in SEEDS if late_starts(ArmClient, seed, monkeypatch)] == []


def test_the_runner_finds_the_race_of_the_former_client(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = [seed for seed in SEEDS if late_starts(FormerArm, seed, monkeypatch)]
    assert bad
    assert late_starts(FormerArm, bad[0], monkeypatch), "found again by its seed"


def test_an_arm_at_rest_after_a_stop_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [seed for seed in SEEDS if moves_after_a_stop(ArmClient, seed, monkeypatch)] == []


def test_a_controller_that_never_accepts_does_not_block_the_stop_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, ends = Interleaver(0, MODULES), list[Outcome]()
    with run.patched():
        arm, controller = arm_of(ArmClient, run, monkeypatch)
        controller.is_held = True

        def body() -> None:
            ends.append(arm.follow(PATH, should_stop=lambda: False))
            begun_s = run.now_s
            ends.append(arm.stop())
            assert run.now_s - begun_s <= braking.BRAKE_S + 1.0

        run.spawn(body, "body")
        run.run()
    assert ends[0].code is Code.CONTROLLER_REFUSED
    assert ends[1].ok, "a controller that answers cancels and does not know the goal never got it"
    assert math.isfinite(run.now_s)


def test_a_stop_that_is_held_up_does_not_take_a_moving_arm_for_a_frozen_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(50):
        run, ends = Interleaver(seed, MODULES), list[Outcome]()
        with run.patched():
            arm, controller = arm_of(ArmClient, run, monkeypatch)
            controller.states[b"of somebody else"] = "moving"
            arm._world = LateWorld(controller)
            run.spawn(lambda: ends.append(arm.stop()), "stop")  # noqa: B023 - run within this turn
            run.run()
        assert ends[0].code is Code.UNRESPONSIVE, f"seed {seed}: {ends[0]}"


def moves_after_a_cancel(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the arm moves after a motion has returned whose token was set at any instant.

    Args:
        seed: Seed of the interleaving.
        monkeypatch: The fixture.
    """
    run, late = Interleaver(seed, MODULES), list[bool]()
    with run.patched():
        arm, controller = arm_of(ArmClient, run, monkeypatch)
        token: list[bool] = []

        def body() -> None:
            outcome = arm.follow(PATH, should_stop=lambda: bool(token))
            moved = controller.moved
            late.append(controller.is_moving)
            run.sleep(6.0)
            late.append(outcome.code is Code.CANCELED and controller.moved > moved)

        def cancels() -> None:
            run.sleep(run.draw([0.0, 0.005, 0.02, 0.4, 1.1, 2.0, 2.1, 2.4]))
            token.append(True)

        run.spawn(body, "body")
        run.spawn(cancels, "cancels")
        run.run()
    return any(late)


def test_a_cancelled_motion_returns_with_the_arm_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [seed for seed in SEEDS if moves_after_a_cancel(seed, monkeypatch)] == []
