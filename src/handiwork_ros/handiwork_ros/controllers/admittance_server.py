"""The ROS interface of an admittance controller, with the names of ``admittance_controller`` in ros2_control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import Parameter as ParameterMsg
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python

from handiwork_core.admittance.rule import AdmittanceRule
from handiwork_core.admittance.settings import PARAMETERS, AdmittanceSettings
from handiwork_core.control.control_thread import ControlThread
from handiwork_core.control.joint_groups import ArmAxis
from handiwork_core.robot.robot import ArmSpec
from handiwork_ros.rclpy_support.qos import LATEST
from handiwork_ros.rclpy_support.safe_callbacks import guard, guard_service

GREATEST_N, GREATEST_NM = 100.0, 20.0
"""The greatest reference of a force and of a torque, each along one axis: more is left to the safety layer."""


def controller_name(arm: str) -> str:
    """Return the name of an arm's admittance controller.

    Args:
        arm: Name of the arm.
    """
    return f"{arm}_admittance_controller"


class AdmittanceServer:
    """Parameters and ``wrench_reference`` of an arm's admittance controller, behind its trajectory controller.

    Reference positions come from the trajectory controller, which is chained before it: its action and its topic move
    the arm whether it yields or not.

    Args:
        node: Hosts services and subscription.
        loop: Returns the control thread that owns the arm.
        arm: Description of the arm.
    """

    def __init__(self, node: Node, loop: Callable[[], ControlThread], arm: ArmSpec) -> None:
        self._node, self._loop, self._arm = node, loop, arm
        self._name = name = controller_name(arm.name)
        self._settings = AdmittanceSettings()
        services = (
            (SetParameters, "set_parameters", self._set),
            (GetParameters, "get_parameters", self._get),
            (ListParameters, "list_parameters", self._list),
        )
        self._services = [
            node.create_service(kind, f"{name}/{what}", guard_service(node, handler))
            for kind, what, handler in services
        ]
        topic = f"{name}/wrench_reference"
        self._sub = node.create_subscription(WrenchStamped, topic, guard(node, self._take), LATEST)

    def _set(self, request: Any, response: Any) -> Any:
        """Set all parameters of a request, or none: each change is checked together with the others."""
        try:
            wanted = read_parameters(request.parameters, self._settings)
            if wanted.yields and (refusal := self._loop().plant.safety.refusal()):
                raise ValueError(f"the arm does not yield now: {refusal}")
        except ValueError as error:
            result = SetParametersResult(successful=False, reason=str(error))
        else:
            self._settings = wanted
            self._submit(lambda rule: rule.set(wanted))
            result = SetParametersResult(successful=True)
        response.results = [result] * len(request.parameters)
        return response

    def _get(self, request: Any, response: Any) -> Any:
        values = asdict(self._settings)
        for name in request.names:
            value = values.get(PARAMETERS.get(name, ""))
            made = Parameter(name, value=list(value) if isinstance(value, tuple) else value)
            response.values.append(made.get_parameter_value())
        return response

    def _list(self, request: Any, response: Any) -> Any:
        response.result.names = list(PARAMETERS)
        return response

    def _take(self, message: Any) -> None:
        force, torque = message.wrench.force, message.wrench.torque
        wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        most = np.repeat([GREATEST_N, GREATEST_NM], 3)
        frame = message.header.frame_id
        links = ("", self._arm.ee_link)
        if not np.isfinite(wrench).all() or (np.abs(wrench) > most).any():
            text = f"gives {wrench.tolist()}; give at most {GREATEST_N:g} N and {GREATEST_NM:g} Nm"
        elif frame.rsplit("/", 1)[-1] not in links:
            text = f"is in frame {frame!r}; give it in that of the sensor, {self._arm.ee_link!r}"
        else:
            self._submit(
                lambda rule: setattr(rule, "wrench_reference", wrench) if rule.settings.yields else None
            )
            return
        warning = f"{self._name}/wrench_reference {text}"
        self._node.get_logger().warning(warning, throttle_duration_sec=2.0)

    def _submit(self, change: Callable[[AdmittanceRule], None]) -> None:
        """Change the law on the thread that controls the arm."""
        work = guard(self._node, self._change)
        self._loop().submit(lambda: work(change))

    def _change(self, change: Callable[[AdmittanceRule], None]) -> None:
        axis: ArmAxis = self._loop().plant.arms[self._arm.name]
        rule = axis.controller.admittance
        if rule is None:
            raise RuntimeError(f"{self._arm.name} has no admittance controller")
        change(rule)


def read_parameters(parameters: list[ParameterMsg], now: AdmittanceSettings) -> AdmittanceSettings:
    """Return settings with the parameters of a request.

    Args:
        parameters: The parameters.
        now: The present settings.

    Returns:
        The new settings.

    Raises:
        ValueError: A parameter is unknown, of another type, or out of range.
    """
    changes: dict[str, Any] = {}
    for one in parameters:
        if one.name not in PARAMETERS:
            raise ValueError(f"parameter {one.name!r} is not one of {list(PARAMETERS)}")
        field, value = PARAMETERS[one.name], parameter_value_to_python(one.value)
        usual = getattr(now, field)
        is_list = isinstance(usual, tuple)
        values = (
            list(value)
            if (is_list and isinstance(value, (list, tuple))) or hasattr(value, "tolist")
            else [value]
        )
        kind: type = bool if field == "selected_axes" else float
        if is_list != (not isinstance(value, (bool, int, float, str, bytes))) or not all(
            type(item) is kind for item in values
        ):
            meant = f"a list of six of type {kind.__name__}" if is_list else f"of type {kind.__name__}"
            raise ValueError(f"parameter {one.name!r} is {value!r}; it is {meant}")
        changes[field] = tuple(values) if is_list else values[0]
    return replace(now, **changes)


def parameter_messages(settings: AdmittanceSettings) -> list[ParameterMsg]:
    """Return settings as the parameters of the controller.

    Args:
        settings: The settings.
    """
    values = asdict(settings)
    return [
        Parameter(
            name, value=list(values[field]) if isinstance(values[field], tuple) else values[field]
        ).to_parameter_msg()
        for name, field in PARAMETERS.items()
    ]
