"""Offers a robot's safety layer on ROS: state, emergency stop, reset, recovery, reduced speed, heartbeat lease."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future as Job
from typing import Any, Protocol, TypeVar

from handiwork_msgs.msg import SafetyHeartbeat, SafetyState
from handiwork_msgs.srv import SetSpeedScale
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.task import Future
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.safety.lease import HeartbeatLease
from handiwork_core.safety.state import Refusal, SafetyStatus
from handiwork_core.safety.supervisor import SafetySupervisor, lost_lease
from handiwork_ros.conversions import outcome_to_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import LATCHED
from handiwork_ros.rclpy_support.safe_callbacks import guard

from . import names
from .messages import limit_texts, state_to_msg

TICK_S = 0.02
"""The period in which the lease is checked, s."""
STATE_PERIOD_S = 1.0
"""The period in which the state is published, s."""
HELD_S = 1.0
"""The time for which an emergency stop counts as held after the last true, whatever other publishers send, s."""

T = TypeVar("T")


class ControlSide(Protocol):
    """The interface of the thread that controls the robot, as the server needs it."""

    def submit(self, work: Callable[[], T]) -> Job[T]:
        """Run a function on that thread soon; from any thread.

        Args:
            work: The function.

        Returns:
            The future of its return value.
        """
        ...

    def works(self, name: str) -> bool:
        """Check whether an arm, a base or a gripper follows a goal; from any thread.

        Args:
            name: Name of the arm, base or gripper.
        """
        ...


class SafetyServer:
    """Topics and services of one robot's safety layer.

    Args:
        node: Hosts topics and services.
        side: The thread that controls the robot.
        safety: The safety layer, which belongs to that thread.
        effort: Returns the measured efforts of the drives, called on that thread.
        has_effort: True if efforts are measured.
        has_force: True if contact forces are measured.
    """

    def __init__(
        self,
        node: ManagedNode,
        side: ControlSide,
        safety: SafetySupervisor,
        effort: Callable[[], Any],
        *,
        has_effort: bool,
        has_force: bool,
    ) -> None:
        self._node, self._side, self._safety, self._effort = node, side, safety, effort
        self._limits = limit_texts(safety.config, has_effort=has_effort, has_force=has_force)
        self._state = node.create_publisher(SafetyState, names.STATE, LATCHED)
        self.lease = HeartbeatLease(safety.config.heartbeat_timeout_s, TICK_S)
        self._true_s, self._is_held, self._logged = float("-inf"), False, ""
        # The latched reader receives earlier requests; volatile publishers are incompatible with it, which is no fault.
        unwarned = SubscriptionEventCallbacks(incompatible_qos=lambda _event: None)
        for profile, events in ((names.REQUESTS, None), (names.LATCHED_REQUESTS, unwarned)):
            node.create_subscription(
                Bool, names.EMERGENCY_STOP, guard(node, self._on_request), profile, event_callbacks=events
            )
        node.create_subscription(
            SafetyHeartbeat, names.HEARTBEAT, guard(node, self._on_heartbeat), names.HEARTBEATS
        )
        for kind, name, handler in (
            (Trigger, names.EMERGENCY_STOP, self._emergency_stop),
            (Trigger, names.RESET, self._reset),
            (Trigger, names.RECOVER, self._recover),
            (SetSpeedScale, names.SET_SPEED_SCALE, self._set_speed_scale),
        ):
            node.create_service(kind, name, handler)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._tick_timer = node.create_timer(TICK_S, guard(node, self._tick), clock=steady)
        self._state_timer = node.create_timer(STATE_PERIOD_S, guard(node, self.publish), clock=steady)
        safety.on_change.append(self._on_change)
        self.publish()

    def publish(self) -> None:
        """Publish the current state."""
        now_s = self._node.get_clock().now().nanoseconds * 1e-9
        self._state.publish(state_to_msg(self._safety.status, self._limits, now_s))

    def _on_change(self, status: SafetyStatus) -> None:
        """Publish a change; on the control thread."""
        executor = self._node.executor
        if executor is not None:
            executor.create_task(guard(self._node, self._report), status)

    def _report(self, status: SafetyStatus) -> None:
        reason = status.reason if status.is_stopped else ""
        if reason and reason != self._logged:  # a stop has several changes, such as the button's and the rest
            self._node.get_logger().error(reason)
        self._logged = reason
        self.publish()

    def _on_request(self, message: Any) -> None:
        """Process a request: true latches a stop, false only notes that the button was released."""
        self._is_held = bool(message.data)
        if self._is_held:
            self._true_s = time.monotonic()
            self._stop(f"topic {names.EMERGENCY_STOP}")
        self._note_held()

    def _stop(self, source: str) -> Job[None]:
        return self._side.submit(lambda: guard(self._node, self._safety.emergency_stop)(source))

    def _note_held(self) -> None:
        pressed = self._is_held or time.monotonic() - self._true_s < HELD_S
        if pressed != self._safety.status.pressed:
            self._side.submit(guard(self._node, lambda: self._safety.set_pressed(pressed=pressed)))

    def _on_heartbeat(self, message: Any) -> None:
        self.lease.renew(message.node, message.arms, time.monotonic())

    def _tick(self) -> None:
        self._note_held()
        timeout_s, holder = self.lease.timeout_s, self.lease.holder
        lost = sorted(name for name in self.lease.tick(time.monotonic()) if self._side.works(name))
        if lost:
            violation = lost_lease(holder, lost, timeout_s)
            self._side.submit(lambda: guard(self._node, self._safety.protective_stop)(violation))

    async def _emergency_stop(self, _request: Any, response: Any) -> Any:
        return await self._answer(response, lambda: self._safety.emergency_stop("a service call"))

    async def _reset(self, _request: Any, response: Any) -> Any:
        return await self._answer(response, self._safety.reset_emergency_stop)

    async def _recover(self, _request: Any, response: Any) -> Any:
        return await self._answer(response, lambda: self._safety.recover(self._effort()))

    async def _set_speed_scale(self, request: Any, response: Any) -> Any:
        scale = float(request.speed_scale)
        answer = await self._answer(response, lambda: self._safety.set_speed_scale(scale))
        code = Code.OK if answer.success else Code.BAD_GOAL
        answer.outcome = outcome_to_msg(Outcome(code, "" if answer.success else answer.message))
        return answer

    async def _answer(self, response: Any, work: Callable[[], None]) -> Any:
        """Run a request on the control thread, and wait for its end without blocking the executor."""
        done, executor = Future(), self._node.executor
        job = self._side.submit(work)
        job.add_done_callback(lambda _job: executor.create_task(done.set_result, None))
        await done
        error = job.exception()
        if error is not None and not isinstance(error, Refusal):
            self._node.get_logger().error(f"safety request failed: {error!r}")
        response.success = error is None
        response.message = str(error) if error is not None else self._present()
        return response

    def _present(self) -> str:
        status = self._safety.status
        return status.reason or f"the state is {status.mode.name}"
