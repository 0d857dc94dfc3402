"""Runs the sorting network: cubes from a running belt into the bin of their colour."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from decider_node.compile_kernels import warm_up
from decider_node.network.network import Network
from decider_node.ros.network_node import NetworkNode
from decider_node.ros.sorting_cell import RosSortingCell
from decider_node.sorting.application import SortingContext, sorting_network
from decider_node.sorting.sorting_file import SortingFile, load_sorting
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.node.main import run
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions


class SortingNode(NetworkNode[RosSortingCell, SortingContext]):
    """Publishes ``decider/network``; after an error the arm rests until ``decider/reset``."""

    def __init__(self) -> None:
        super().__init__("sorting_node")
        text = "bins by colour and the belt's velocity, such as config/sorting/two_bins.yaml"
        self._sorting_file = self.parameter("sorting_file", "", text)

    def on_load(self, report: Report) -> None:
        """Read the robot and the bins, and load the controller.

        Args:
            report: Takes the progress, 0 to 1, and its text.

        Raises:
            ConfigError: A parameter or a file is invalid.
        """
        report(0.0, "reading the robot")
        given = {"robot_dir": self._robot_dir, "sorting_file": self._sorting_file}
        if empty := [f"parameter {key}: is empty; name it" for key, value in given.items() if not value]:
            raise ConfigError(self.get_name(), empty)
        self._robot = load_robot(Path(self._robot_dir))
        self._sorting: SortingFile = load_sorting(Path(self._sorting_file))
        report(0.3, "loading the controller")
        warm_up(self._robot)

    def build(self) -> tuple[RosSortingCell, SortingContext, Network[SortingContext]]:
        """Return cell, context and network; see ``NetworkNode``."""
        source = RosWorldSource(self, self._robot, Subscriptions(on_states=lambda: None))
        arm, sorting = self._robot.arm(""), self._sorting
        cell = RosSortingCell(self, source, self._robot, arm, sorting.bins, sorting.force)
        context = SortingContext(cell, sorting.poses(), np.array(sorting.belt_velocity))
        return cell, context, sorting_network(context)


def main() -> None:
    """Run the node."""
    sys.exit(run(SortingNode))


if __name__ == "__main__":
    main()
