"""Moves arms, grippers and cups a little and reports the effect. Called from a thread that does not spin."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from action_msgs.msg import GoalStatus
from handiwork_msgs.srv import SetSuction
from rclpy.action import ActionClient
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from control_msgs.action import FollowJointTrajectory
from handiwork_check.recording import (
    ArmMotion,
    GripperMotion,
    JointSample,
    SuctionTrial,
)
from handiwork_core.robot.robot import ArmSpec, GripperSpec
from handiwork_ros.conversions.gripper import gripper_action, gripper_goal
from handiwork_ros.rclpy_support.action_call import ActionCall, GoalSequence
from handiwork_ros.rclpy_support.service_call import NoAnswer, ServiceClients

from .listener import Listener

MOTION_S = 1.0
"""Duration of a motion of an arm, in the world's time, s."""

END_S = 60.0
"""Longest wait for the end of a motion, in steady time: a slow simulation takes long."""

SETTLE_S = 0.3
"""Time of the world after which a motion has come to rest, and a cup has met the object before it or not, s."""

SERVICE_S = 5.0


class Mover:
    """Clients of one robot's actions and services. A missing answer becomes the ``fault`` of a motion."""

    def __init__(self, node: Node, listener: Listener) -> None:
        self._node, self._listener = node, listener
        self._actions: dict[str, ActionClient] = {}
        self._services = ServiceClients(node)

    def move_arm(self, arm: ArmSpec, asked: Mapping[str, float]) -> ArmMotion:
        """Move every joint by its amount, and back.

        Args:
            arm: The arm.
            asked: Move of each of its joints, rad or m.
        """
        begun_s = time.monotonic()
        first = self._sample_after(begun_s)
        if first is None:
            return ArmMotion(arm.name, asked, (), "no joint_states")
        here = {name: first.of(name) or 0.0 for name in arm.joint_names}
        fault = self._follow(arm, {name: here[name] + asked[name] for name in here})
        self._settle()
        samples = self._listener.joints_since(begun_s)
        back = self._follow(arm, here)
        self._settle()
        return ArmMotion(arm.name, asked, samples, fault or (back and f"on the way back: {back}"))

    def move_gripper(
        self,
        spec: GripperSpec,
        target: float,
        *,
        object_m: float = 0.0,
        speed: float = 0.0,
        begin: Callable[[], object] | None = None,
    ) -> GripperMotion:
        """Send the gripper's joint to a position.

        Args:
            spec: The gripper.
            target: The position, m or rad.
            object_m: Width of the object between the fingers, m; 0 without one.
            speed: Speed of the joint, m/s or rad/s; 0 leaves it to the gripper.
            begin: Called when the goal was sent.
        """
        before = self.reading(spec)
        goal, name = gripper_goal(spec, target, spec.max_force_n, speed), spec.action_name
        run, fault = self._send(gripper_action(spec), name, goal)
        if begin is not None:
            begin()
        fault = fault or self._wait(run, name)
        if not fault and run.result is None:
            fault = f"{name} gave no result"
        self._settle()
        result = None if fault else run.result.result
        return GripperMotion(
            spec.name,
            target,
            before,
            self.reading(spec),
            reached=result is not None and bool(result.reached_goal),
            stalled=result is not None and bool(result.stalled),
            fault=fault,
            object_m=object_m,
        )

    def reading(self, spec: GripperSpec) -> float:
        """Return the position of the gripper's joint, m or rad; nan without a reading.

        Args:
            spec: The gripper.
        """
        sample = self._sample_after(time.monotonic())
        found = None if sample is None else sample.of(spec.joint)
        return float("nan") if found is None else found

    def switch(self, spec: GripperSpec, *, on: bool, held: str = "") -> SuctionTrial:
        """Switch a cup and read its state a moment later.

        Args:
            spec: The gripper with the cup.
            on: Switch it on.
            held: Name of the object before it; empty without one.
        """
        name = f"{spec.name}_controller"
        answer = self.ask(SetSuction, f"{name}/set_suction", SetSuction.Request(on=on))
        self._settle()
        state = None if answer is None else self._listener.suction(f"/{name}/suction_state")
        return SuctionTrial(spec.name, on, held, state)

    def switch_paused(self, spec: GripperSpec) -> None:
        """Switch a cup on in a paused world, where no time passes.

        Args:
            spec: The gripper with the cup.
        """
        self.ask(SetSuction, f"{spec.name}_controller/set_suction", SetSuction.Request(on=True))

    def ask(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service and return its response; None without one.

        Args:
            kind: Type of the service.
            name: Its name.
            request: The request.
        """
        answer = self._services.call(kind, name, request, SERVICE_S)
        return None if isinstance(answer, NoAnswer) else answer

    def _follow(self, arm: ArmSpec, to: Mapping[str, float]) -> str:
        point = JointTrajectoryPoint(positions=list(to.values()), velocities=[0.0] * len(to))
        point.time_from_start.sec = round(MOTION_S)
        trajectory = JointTrajectory(joint_names=list(to), points=[point])
        goal, name = (
            FollowJointTrajectory.Goal(trajectory=trajectory),
            f"{arm.controller}/follow_joint_trajectory",
        )
        run, fault = self._send(FollowJointTrajectory, name, goal)
        fault = fault or self._wait(run, name)
        if fault or run.result is None:
            return fault or f"{name} gave no result"
        status, result = run.result.status, run.result.result
        if status == GoalStatus.STATUS_SUCCEEDED and result.error_code == result.SUCCESSFUL:
            return ""
        return f"{name} ended with status {status}, code {result.error_code}: {result.error_string or 'no reason'}"

    def _send(self, kind: Any, name: str, goal: Any) -> tuple[ActionCall, str]:
        if name not in self._actions:
            self._actions[name] = ActionClient(self._node, kind, name)
        client, end_s, pause = self._actions[name], time.monotonic() + SERVICE_S, threading.Event()
        while not client.server_is_ready() and time.monotonic() < end_s:
            pause.wait(0.02)
        run = GoalSequence(self._node, client).start(goal, 0, lambda: False)
        assert run is not None  # the generation of this sequence is never ended
        if run.accepted:
            return run, ""
        return run, f"{name} {'refused the goal' if run.answered.is_set() else 'did not answer'}"

    def _wait(self, run: ActionCall, name: str) -> str:
        if run.done.wait(END_S):
            return ""
        run.cancel()
        return f"{name} did not end within {END_S:.0f} s"

    def _sample_after(self, received_s: float) -> JointSample | None:
        """Return the second sample after a steady time: the first may have been sent before; None without one."""
        end_s, pause = time.monotonic() + SERVICE_S, threading.Event()
        while time.monotonic() < end_s:
            found = self._listener.joints_since(received_s)
            if len(found) >= 2:
                return found[1]
            pause.wait(0.01)
        return None

    def _settle(self) -> None:
        """Wait until ``SETTLE_S`` of the world's time has passed."""
        begin = self._sample_after(time.monotonic())
        end_s, pause = time.monotonic() + END_S, threading.Event()
        while begin is not None and time.monotonic() < end_s:
            newest = self._listener.joints_since(begin.received_s)[-1]
            if newest.stamp_s >= begin.stamp_s + SETTLE_S:
                return
            pause.wait(0.01)
