"""Implements the Gripper port over a suction cup: closing sucks until there is a seal, opening releases."""

from __future__ import annotations

import time
from dataclasses import replace

from handiwork_msgs.srv import SetSuction
from rclpy.node import Node

from handiwork_core.contracts.planning import ShouldStop, never_stop
from handiwork_core.contracts.ports import Gripper
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.suction import SEAL_S, SuctionState, force_refused, no_seal
from handiwork_core.robot.robot import GripperSpec
from handiwork_ros.conversions import outcome_from_msg, suction_state_from_msg
from handiwork_ros.rclpy_support.ros_clock import RosClock
from handiwork_ros.rclpy_support.service_call import NoAnswer, call

from .arm_and_gripper import GripperClient
from .robot_watch import RobotWatch
from .world import RosWorldSource

POLL_S = 0.01
ANSWER_S = 5.0
"""The longest wait for the service's answer, s of steady time."""
RELEASE_S = 2.5
"""The longest wait for the answer to switching off after a failure, s of steady time."""
SILENT_S = 3.0
"""The time without a newer state after which the cup's driver is lost, s of steady time; also for a paused world."""


class SuctionClient:
    """Client of a suction cup. Its methods block: call them from a worker thread while the node is spun.

    Args:
        node: Hosts the client; another thread spins it.
        gripper: Description of the cup.
        world: Provides the state of the cup.
        watch: Detects the loss of the robot; None: a new one.
    """

    def __init__(
        self, node: Node, gripper: GripperSpec, world: RosWorldSource, watch: RobotWatch | None = None
    ) -> None:
        self._node, self._gripper, self._world, self._clock = node, gripper, world, RosClock(node)
        self._watch = watch or RobotWatch(node, world)
        self._name = f"{gripper.name}_controller/set_suction"
        self._client = node.create_client(SetSuction, self._name)
        self._answered: SuctionState | None = None

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """Switch the suction; see ``Gripper.move``.

        Args:
            width_m: The gripper's smallest width or less sucks, and fails without a seal; every other width releases.
                m.
            force_n: A cup has no fingers, so that each force above 0 is refused, N.
            should_stop: Returns True when the call must end.

        Returns:
            OK, or the cause. After a failure to seal the suction is off; if it cannot be switched off, the message
            says so.
        """
        if force_n != 0.0:
            return force_refused(self._gripper.name, force_n)
        on = width_m <= self._gripper.min_width_m
        was_on = self._is_on()
        done, state = self._switch(should_stop, self._is_lost, on=on)
        if on and state is None and not was_on:
            return self._off_after(done)  # the first request may still arrive, but before this one
        if not done.ok or not on or state is None:
            return done
        verdict = self._await_seal(state, should_stop)
        return verdict if verdict.ok else self._off_after(verdict)

    def _off_after(self, failed: Outcome) -> Outcome:
        """Switch the suction off and wait until it is off, also for a lost robot and after a cancel."""
        done, _ = self._switch(never_stop, never_stop, on=False, timeout_s=RELEASE_S)
        if done.ok:
            return failed
        text = f"{failed.message}; the cup may still suck, as it could not be switched off: {done.message}"
        return replace(failed, message=text)

    def _is_on(self) -> bool:
        published = self._world.snapshot().suction.get(self._gripper.name)
        known = [state for state in (self._answered, published) if state is not None]
        return bool(known) and max(known, key=lambda state: state.stamp_s).on

    def _is_lost(self) -> bool:
        return bool(self._watch.why_lost)

    def _switch(
        self, should_stop: ShouldStop, is_lost: ShouldStop, *, on: bool, timeout_s: float = ANSWER_S
    ) -> tuple[Outcome, SuctionState | None]:
        request = SetSuction.Request(on=on)
        answer = call(
            self._node,
            self._client,
            request,
            timeout_s=timeout_s,
            should_stop=should_stop,
            is_lost=is_lost,
        )
        if answer is NoAnswer.STOPPED:
            return Outcome(Code.CANCELED, "stopped while the cup was switched"), None
        if isinstance(answer, NoAnswer):
            text = f"{self._name} did not answer ({answer.value}); is the cup's driver running?"
            return Outcome(Code.GRIPPER_FAILED, text), None
        self._answered = suction_state_from_msg(answer.state)
        return outcome_from_msg(answer.outcome), self._answered

    def _await_seal(self, state: SuctionState, should_stop: ShouldStop) -> Outcome:
        until_s, begun_s = self._clock.now_s() + SEAL_S, state.stamp_s
        heard_s = time.monotonic()
        while not state.sealed:
            if should_stop():
                return Outcome(Code.CANCELED, "stopped before there was a seal")
            if self._clock.now_s() > until_s:
                return no_seal(state)
            newest = self._world.snapshot().suction.get(self._gripper.name)
            if newest is not None and newest.stamp_s >= begun_s and newest.stamp_s != state.stamp_s:
                state, heard_s = newest, time.monotonic()
            if time.monotonic() > heard_s + SILENT_S:
                return no_seal(None)
            time.sleep(POLL_S)  # noqa: TID251 - several signals at once
        return OK


def tool_client(
    node: Node, gripper: GripperSpec, world: RosWorldSource, watch: RobotWatch | None = None
) -> Gripper:
    """Make the client for an arm's tool.

    Args:
        node: Hosts the client; another thread spins it.
        gripper: Description of the tool.
        world: See ``SuctionClient``.
        watch: See ``SuctionClient``.

    Returns:
        A ``SuctionClient`` for a suction cup, otherwise a ``GripperClient``.
    """
    if gripper.suction is None:
        return GripperClient(node, gripper, watch)
    return SuctionClient(node, gripper, world, watch)
