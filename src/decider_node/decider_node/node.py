"""Runs the bin-stacking network: one tick and one cycle of the arm for each joint_states, and a text view of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from decider_node.compile_kernels import warm_up
from decider_node.motion.command import MotionCommand
from decider_node.network.errors import NetworkError
from decider_node.network.text_view import draw
from decider_node.ros.cell import RosCell
from decider_node.ros.region_markers import RegionMarkers
from decider_node.stacking.application import stacking_network
from decider_node.stacking.cell import STANDARD, regions
from decider_node.stacking.context import StackContext
from decider_node.stacking.layout_file import load_cell, load_layout
from decider_node.stacking.reach import check_reach
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.conversions import BadMessage
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.qos import LATCHED, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard

PICTURE_S = 0.5


class DeciderNode(ManagedNode):
    """Publishes ``decider/network`` and ``decider/regions``; after an error the arm rests until ``decider/reset``."""

    def __init__(self) -> None:
        super().__init__("decider_node")
        self._robot_dir = self.parameter("robot_dir", "", "folder: robot_description/robots/<name>")
        self._bins = self.parameter("bins", "bin_", "beginning of the names of bins")
        self._corrects = self.parameter("corrects", True, "places are corrected by measured poses")
        text = "layout of the stack, such as config/stacking/small.yaml; empty: that of 36 bins"
        self._layout_file = self.parameter("layout_file", "", text)
        text = "cell with its layout, such as config/stacking/ur5e.yaml; empty: that of config/scenes/bin_stacking.yaml"
        self._cell_file = self.parameter("cell_file", "", text)
        self._site = STANDARD
        self._cell: RosCell | None = None
        self._last_s = float("nan")
        self._pictures = self.create_publisher(String, "decider/network", LATCHED)
        self._markers: RegionMarkers | None = None
        self.create_service(Trigger, "decider/reset", self._on_reset)
        self.create_timer(PICTURE_S, guard(self, self._show), clock=Clock(clock_type=ClockType.STEADY_TIME))

    def on_load(self, report: Report) -> None:
        """Read the robot and the layout, and load the controller.

        Args:
            report: Takes the progress, 0 to 1, and its text.
        """
        report(0.0, "reading the robot")
        if not self._robot_dir:
            raise ConfigError(self.get_name(), ["parameter robot_dir: is empty; give a robot's folder"])
        self._robot = load_robot(Path(self._robot_dir))
        if self._cell_file:
            self._site = load_cell(Path(self._cell_file))
        if self._layout_file:
            self._site = replace(self._site, layout=load_layout(Path(self._layout_file)))
        check_reach(
            self._site, self._robot, self._robot.arm(""), self._layout_file or self._cell_file or "cell"
        )
        report(0.3, "loading the controller")
        warm_up(self._robot)

    def on_start(self) -> None:
        """Build the cell and the network, and subscribe to the joints."""
        if self._cell is None:
            wanted = Subscriptions(objects=False, cups=True, on_states=lambda: None)
            source = RosWorldSource(self, self._robot, wanted)
            arm = self._robot.arm("")
            self._cell = cell = RosCell(self, source, self._robot, arm, self._bins, self._site)
            self._stack = StackContext(cell, self._site, self._corrects)
            at = self._site.world_T_home
            home = MotionCommand(at, posture=cell.configuration(at, None))
            self._markers = RegionMarkers(self, regions(self._site))
            self._network = stacking_network(self._stack, lambda _: home)
            self.create_subscription(JointState, "joint_states", guard(self, self._on_joints), STREAM)

    def on_stop(self) -> None:
        """Let the arm rest: without points it brakes by itself."""
        if self._cell is not None:
            self._cell.stop()

    def _on_joints(self, message: Any) -> None:
        """Run one tick of the network and one cycle of the arm."""
        cell = self._cell
        if cell is None or not self.is_active or cell.arm_joints.isdisjoint(message.name):
            return
        if self._is_contested(cell):  # their joints must not make a point: the arm brakes by itself
            return
        try:
            now_s = cell.see(message)
        except (
            BadMessage,
            ValueError,
        ) as error:  # after the last point the arm brakes by itself
            text = f"joint_states: a message was dropped, the arm waits for a good one: {error}"
            self.get_logger().error(text, throttle_duration_sec=5.0)
            return
        is_new, self._last_s = now_s != self._last_s, now_s
        if not cell.knows_all or not is_new:
            return
        if self._network.error is None and not cell.is_stale:
            try:
                self._network.tick(now_s)
            except NetworkError as error:
                self.get_logger().error(f"{error}; the arm stops, call decider/reset to go on")
        cell.move()

    def _is_contested(self, cell: RosCell) -> bool:
        """Return True while two publishers send on a topic that allows one; log their names."""
        conflict, before = cell.conflict(), self.status_text
        self.status_text = conflict.message if conflict is not None else ""
        if self.status_text and not before:
            self.get_logger().error(f"{self.status_text}; the arm rests until then")
        return conflict is not None

    def _on_reset(self, request: Any, response: Any) -> Any:
        if self._cell is None:
            response.success, response.message = False, "not started yet"
            return response
        self._network.reset()
        response.success, response.message = True, "the network begins again"
        return response

    def _show(self) -> None:
        if self.is_active and self._cell is not None:
            rests = "bins or cup were seen too long ago, the arm rests\n" if self._cell.is_stale else ""
            rests = f"{self.status_text}; the arm rests\n" if self.status_text else rests
            self._pictures.publish(String(data=f"{rests}{self._stack.status}\n{draw(self._network)}"))
            if self._markers is not None:
                self._markers.show(self._cell.controller.off, self._last_s)


def main() -> None:
    """Run the node."""
    sys.exit(run(DeciderNode))


if __name__ == "__main__":
    main()
