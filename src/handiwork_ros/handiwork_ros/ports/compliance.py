"""Implements the Compliance port over the parameters and topics of an ``admittance_controller``."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import ShouldStop, never_stop
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import ArmSpec
from handiwork_ros.controllers.admittance_server import controller_name, parameter_messages
from handiwork_ros.rclpy_support.qos import LATEST, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.service_call import NoAnswer, call, on_executor

ANSWER_S = 3.0
"""The longest wait for the controller's answer, s of steady time."""
SILENT_S = 1.0
"""A wrench that is older than this, s of steady time, is not measured."""


class ComplianceClient:
    """Client of one arm's admittance controller and force-torque sensor. Call it from a worker thread.

    Args:
        node: Hosts the clients; another thread spins it.
        arm: Description of the arm.
    """

    def __init__(self, node: Node, arm: ArmSpec) -> None:
        self._node, self._link = node, arm.ee_link
        self._name = controller_name(arm.name)
        self._client = node.create_client(SetParameters, f"{self._name}/set_parameters")
        self._publisher = node.create_publisher(WrenchStamped, f"{self._name}/wrench_reference", LATEST)
        self._topic = f"{arm.name}_force_torque_sensor_broadcaster/wrench"
        self._sub = node.create_subscription(WrenchStamped, self._topic, guard(node, self._keep), STREAM)
        self._newest: tuple[float, Array] | None = None
        self._yields = False

    def set_admittance(self, settings: AdmittanceSettings, *, should_stop: ShouldStop) -> Outcome:
        """Set the parameters; see ``Compliance.set_admittance``.

        Args:
            settings: The parameters.
            should_stop: Turns true when the call is to end.

        Returns:
            OK, or CONTROLLER_REFUSED with the reason.
        """
        if settings.yields and self.wrench() is None:
            text = f"{self._topic} is silent, so that no force is measured at the tool; is there a force-torque sensor?"
            return Outcome(Code.CONTROLLER_REFUSED, text)
        self._yields = self._yields or settings.yields
        request = SetParameters.Request(parameters=parameter_messages(settings))
        answer = call(self._node, self._client, request, timeout_s=ANSWER_S, should_stop=should_stop)
        if answer is NoAnswer.STOPPED:
            return Outcome(Code.CANCELED, "stopped while the admittance controller was set")
        if isinstance(answer, NoAnswer):
            text = (
                f"{self._name} does not answer ({answer.value}): an arm that is commanded by position alone cannot "
                "yield to a force; use the simulation of sim_bridge, or chain an admittance_controller of ros2_control"
            )
            return Outcome(Code.CONTROLLER_REFUSED, text)
        bad = [result.reason for result in answer.results if not result.successful]
        if bad:
            return Outcome(Code.CONTROLLER_REFUSED, f"{self._name}: {bad[0]}")
        self._yields = settings.yields
        return OK

    def set_wrench(self, wrench: Array) -> None:
        """Set the wrench with which the tool presses; see ``Compliance.set_wrench``.

        Args:
            wrench: In the EE frame, (6,), N and Nm.
        """
        message = WrenchStamped()
        message.header.frame_id = self._link
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()
        on_executor(self._node, lambda: self._publisher.publish(message))

    def wrench(self) -> Array | None:
        """Return the newest wrench, (6,); None if none came for ``SILENT_S``."""
        newest = self._newest
        if newest is None or time.monotonic() - newest[0] > SILENT_S:
            return None
        return newest[1]

    def release(self) -> Outcome:
        """Yield no more, if the arm yields: for the stop of an arm whose skill does not react."""
        if not self._yields:
            return OK
        return self.set_admittance(AdmittanceSettings(), should_stop=never_stop)

    def _keep(self, message: Any) -> None:
        force, torque = message.wrench.force, message.wrench.torque
        wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        if np.isfinite(wrench).all():
            self._newest = time.monotonic(), wrench
