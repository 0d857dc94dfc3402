"""Feeds the belt of the simulated stacking cell: a waiting bin is put onto the belt whenever that is free."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from handiwork_msgs.srv import SetObjectPose
from rclpy.clock import Clock, ClockType

from decider_node.ros.repeated_request import RepeatedRequest
from decider_node.stacking.cell import STANDARD
from decider_node.stacking.feeding import drawn_pose, is_belt_free, waiting
from decider_node.stacking.layout_file import load_cell
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.conversions import outcome_from_msg, pose_to_msg
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.safe_callbacks import guard

LOOK_S = 0.2
NEXT_S = 1.0
"""Least time of the world between two bins, s: the first must be seen on the belt before the next one is chosen."""


class BinFeeder(ManagedNode):
    """Moves bins that wait far from the arm onto the belt, one at a time, by ``sim/set_object_pose``."""

    def __init__(self) -> None:
        super().__init__("bin_feeder")
        self._robot_dir = RobotFolder(self).path
        self._bins = self.parameter("bins", "bin_", "beginning of the names of bins")
        text = "cell, such as config/stacking/ur5e.yaml; empty: that of config/scenes/bin_stacking.yaml"
        self._cell_file = self.parameter("cell_file", "", text)
        self._rng = np.random.default_rng(self.parameter("seed", 0, "seed of places, headings and sides"))
        self._site, self._fed_s = STANDARD, float("-inf")
        self._is_asking = False
        self._source: RosWorldSource | None = None

    def on_load(self, report: Report) -> None:
        """Read the robot and the cell.

        Args:
            report: Takes the progress, 0 to 1, and its text.

        Raises:
            ConfigError: A parameter or a file is invalid.
        """
        report(0.0, "reading the cell")
        if not self._robot_dir:
            raise ConfigError(self.get_name(), ["parameter robot_dir: is empty; give a robot's folder"])
        self._robot = load_robot(Path(self._robot_dir))
        if self._cell_file:
            self._site = load_cell(Path(self._cell_file))

    def on_start(self) -> None:
        """Subscribe to the bins."""
        if self._source is None:
            self._source = RosWorldSource(
                self, self._robot, Subscriptions(objects=False, joints=False, on_states=lambda: None)
            )
            client = self.create_client(SetObjectPose, "sim/set_object_pose")
            self._request = RepeatedRequest(self, client, self._on_answer)
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self.create_timer(LOOK_S, guard(self, self._look), clock=steady)

    def _look(self) -> None:
        """Put the next bin onto the belt when that is free."""
        if self._source is None or not self.is_active or self._is_asking:
            return
        world = self._source.snapshot()
        bins = {name: state for name, state in world.states.items() if name.startswith(self._bins)}
        left = waiting(bins)
        if not left or world.stamp_s - self._fed_s < NEXT_S or not is_belt_free(self._site, bins):
            return
        request = SetObjectPose.Request(object=left[0])
        request.pose.header.frame_id = "world"
        request.pose.pose = pose_to_msg(drawn_pose(self._site, self._rng))
        self._is_asking = True
        self._request.send(request)

    def _on_answer(self, answer: Any) -> None:
        outcome, self._is_asking = outcome_from_msg(answer.outcome), False
        if self._source is not None:
            self._fed_s = self._source.snapshot().stamp_s
        if not outcome.ok:
            text = f"set_object_pose was refused: {outcome.code.name}: {outcome.message}"
            self.get_logger().error(text)


def main() -> None:
    """Run the node."""
    sys.exit(run(BinFeeder))


if __name__ == "__main__":
    main()
