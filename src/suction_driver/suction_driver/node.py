"""A driver of a real suction cup: a valve that a service switches, and a vacuum switch that reports the seal.

The valve is any ``std_srvs/srv/SetBool`` service, as drivers of vacuum grippers and of digital outputs offer it; the
switch any ``std_msgs/msg/Bool`` topic that is true while there is vacuum. The driver does not know which object is
held.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from handiwork_msgs.msg import SuctionState as SuctionStateMsg
from handiwork_msgs.srv import SetSuction
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.publisher import Publisher
from rclpy.task import Future
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.conversions import outcome_to_msg, suction_state_to_msg
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.node.start_wait import StartWait
from handiwork_ros.rclpy_support.qos import LATEST
from handiwork_ros.rclpy_support.ros_clock import RosClock
from handiwork_ros.rclpy_support.safe_callbacks import guard, guard_service

STATE_PERIOD_S = 0.02
"""The period of the published state, s."""
STALE_S = 1.0
"""The steady time after which a silent vacuum switch counts as broken, s."""
VALVE_S = 2.0
"""The longest wait for the valve's answer, s of steady time."""


class SuctionDriver(ManagedNode):
    """Offers ``<gripper>_controller/set_suction`` and ``.../suction_state`` for a valve and a switch.

    Args:
        options: Options of ``rclpy.node.Node``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("suction_driver", **options)
        self._robot_dir = RobotFolder(self).path
        self._gripper = self.parameter(
            "gripper", "", "name of the suction gripper; empty: the robot's only one"
        )
        valve = self.parameter("valve_service", "vacuum/set", "std_srvs/SetBool that opens the vacuum valve")
        switch = self.parameter("vacuum_topic", "vacuum/ok", "std_msgs/Bool: true while there is vacuum")
        # While the service waits for the valve, its callback group is busy, so the others have a group of their own.
        self._meanwhile = ReentrantCallbackGroup()
        self._valve = self.create_client(SetBool, valve, callback_group=self._meanwhile)
        self._on, self._vacuum, self._heard_s = False, False, float("-inf")
        self._clock_s, self._wait = RosClock(self), StartWait(self)
        self._states: Publisher | None = None
        on_vacuum = guard(self, self._on_vacuum)
        self.create_subscription(Bool, switch, on_vacuum, LATEST, callback_group=self._meanwhile)

    def on_load(self, report: Report) -> None:
        """Find the cup in the robot's files; see the base."""
        report(0.0, "reading the robot")
        self._gripper = self._find()
        if not self._gripper:
            self.get_logger().info("the robot has no suction cup; nothing to do")

    def on_prepare(self, report: Report) -> None:
        """Wait for the valve; see the base."""
        self._wait.until_none(self._missing, report)

    def _missing(self) -> list[str]:
        is_there = not self._gripper or self._valve.service_is_ready()
        return [] if is_there else [self._valve.srv_name]

    def _find(self) -> str:
        tools = [arm.gripper for arm in load_robot(Path(self._robot_dir)).arms.values() if arm.gripper]
        names = [tool.name for tool in tools if tool.suction is not None]
        fitting = [name for name in names if self._gripper in ("", name)]
        if not names and not self._gripper:
            return ""
        if len(fitting) == 1:
            return fitting[0]
        text = f"parameter gripper: is {self._gripper!r}; the suction cups of this robot are {names}"
        raise ConfigError(f"node {self.get_name()}", [text])

    def on_start(self) -> None:
        """Serve."""
        if self._states is not None or not self._gripper:
            return
        controller = f"{self._gripper}_controller"
        self._states = self.create_publisher(SuctionStateMsg, f"{controller}/suction_state", LATEST)
        self.create_service(SetSuction, f"{controller}/set_suction", guard_service(self, self._set))
        publish = guard(self, self._publish)
        self.create_timer(STATE_PERIOD_S, publish, callback_group=self._meanwhile)

    def _publish(self) -> None:
        if self._states is not None and self.is_active:
            self._states.publish(self._state())

    def _on_vacuum(self, message: Bool) -> None:
        self._vacuum, self._heard_s = bool(message.data), time.monotonic()

    def _state(self) -> SuctionStateMsg:
        silent = time.monotonic() - self._heard_s > STALE_S
        why = ""
        if self._on and silent:
            why = "the vacuum switch is silent; check vacuum_topic"
        elif self._on and not self._vacuum:
            why = "the vacuum switch reports no vacuum"
        sealed = self._on and self._vacuum and not silent
        return suction_state_to_msg(SuctionState(self._clock_s.now_s(), self._on, sealed, why=why))

    async def _set(self, request: Any, response: Any) -> Any:
        outcome = await self._switch(on=request.on)
        if outcome.ok:
            self._on = request.on
        response.outcome, response.state = outcome_to_msg(outcome), self._state()
        return response

    async def _switch(self, *, on: bool) -> Outcome:
        if not self.is_active:
            return Outcome(Code.NOT_ACTIVE, "suction_driver is not active; activate it first")
        answered, asked = Future(), self._valve.call_async(SetBool.Request(data=on))
        asked.add_done_callback(lambda future: answered.done() or answered.set_result(future.result()))
        late = self.create_timer(
            VALVE_S,
            guard(self, lambda: answered.done() or answered.set_result(None)),
            callback_group=self._meanwhile,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )
        answer = await answered
        self.destroy_timer(late)
        name = self._valve.srv_name
        if answer is None:
            self._valve.remove_pending_request(asked)
            text = f"{name} did not answer in {VALVE_S:g} s; is the valve's driver running?"
            return Outcome(Code.GRIPPER_FAILED, text)
        if not answer.success:
            return Outcome(Code.GRIPPER_FAILED, f"{name} refused: {answer.message or 'without a reason'}")
        return OK


def main() -> None:
    """Run the node; entry point of the executable."""
    sys.exit(run(SuctionDriver))
