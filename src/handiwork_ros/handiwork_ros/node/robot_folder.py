"""The parameter ``robot_dir`` of a node, and the exchange of the robot while the process runs."""

from __future__ import annotations

from pathlib import Path

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.process.domain import DomainError
from handiwork_core.process.exchanged_robot import note_exchange, noted_exchange
from handiwork_core.robot_files.loader import load_robot

from .managed_node import ManagedNode
from .succession import Succession

ROBOT_DIR = "robot_dir"
UNCONFIGURED = "unconfigured"


class RobotFolder:
    """Declares ``robot_dir``, which may be set while the node is unconfigured, as after a change of the tool.

    The node then begins again in its process, unconfigured, with the other robot and with the values of its live
    parameters. So does the next process of the node if launch has to start one.

    Args:
        node: The node.

    Raises:
        ConfigError: The value is no text.
    """

    def __init__(self, node: ManagedNode) -> None:
        text = (
            "folder of the robot: robot_description/robots/<name>; may be set while the node is unconfigured"
        )
        self._node, self.path = node, node.parameter(ROBOT_DIR, "", text, is_live=True)
        self._launched = self.path
        if node.received is not None and node.received.launched_dir:
            self._launched = node.received.launched_dir
        elif node.received is not None:
            self._recall()
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._exchange)

    def _recall(self) -> None:
        """Take the robot of an earlier process of this node that had got another one."""
        node = self._node
        try:
            current = noted_exchange(
                node.context.get_domain_id(), node.get_fully_qualified_name(), self._launched
            )
        except DomainError:
            return  # without a folder no note could be written
        if current != self._launched:
            text = f"the robot was exchanged after the launch: reading {current} instead of {self._launched}"
            node.get_logger().warning(text)
            node.set_parameters([Parameter(ROBOT_DIR, value=current)])
            self.path = current

    def _check(self, changes: list[Parameter]) -> SetParametersResult:
        wanted = next((change.value for change in changes if change.name == ROBOT_DIR), None)
        reason = "" if wanted is None else self._refusal(wanted)
        return SetParametersResult(successful=not reason, reason=reason)

    def _refusal(self, wanted: object) -> str:
        node = self._node
        if node.received is None:
            return f"parameter {ROBOT_DIR}: {node.get_name()} has no process of its own; start it with the other robot"
        if node.state != UNCONFIGURED:
            return (
                f"parameter {ROBOT_DIR}: {node.get_name()} is {node.state}; deactivate and clean it up first"
            )
        if wanted != self.path and (reason := node.exchange_refusal()):
            return reason
        if not isinstance(wanted, str) or not wanted:
            return f"parameter {ROBOT_DIR}: is {wanted!r}; give the folder of a robot"
        try:
            load_robot(Path(wanted))
        except ConfigError as error:
            return str(error)
        return ""

    def _exchange(self, changes: list[Parameter]) -> None:
        wanted = next((change.value for change in changes if change.name == ROBOT_DIR), None)
        if wanted is None or wanted == self.path:
            return
        node = self._node
        try:
            note_exchange(
                node.context.get_domain_id(), node.get_fully_qualified_name(), self._launched, wanted
            )
        except (DomainError, OSError) as error:
            text = f"the robot is exchanged, but not noted: {error}; a start by launch would take {self._launched}"
            node.get_logger().error(text)
        values = {**node.live_values(), ROBOT_DIR: wanted, "autostart": False}
        node.successor = Succession(values, self._launched, node.kept())
