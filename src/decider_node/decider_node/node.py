"""Runs the bin-stacking network: one tick and one cycle of the arm for each joint_states, and a text view of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from decider_node.compile_kernels import warm_up
from decider_node.motion.command import MotionCommand
from decider_node.network.network import Network
from decider_node.ros.cell import RosCell
from decider_node.ros.network_node import NetworkNode
from decider_node.ros.region_markers import RegionMarkers
from decider_node.stacking.application import stacking_network
from decider_node.stacking.cell import STANDARD, regions
from decider_node.stacking.context import StackContext
from decider_node.stacking.layout_file import load_cell, load_layout
from decider_node.stacking.reach import check_reach
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.node.main import run
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions


class DeciderNode(NetworkNode[RosCell, StackContext]):
    """Publishes ``decider/network`` and ``decider/regions``; after an error the arm rests until ``decider/reset``."""

    def __init__(self) -> None:
        super().__init__("decider_node")
        self._bins = self.parameter("bins", "bin_", "beginning of the names of bins")
        self._corrects = self.parameter("corrects", True, "places are corrected by measured poses")
        text = "layout of the stack, such as config/stacking/small.yaml; empty: that of the cell"
        self._layout_file = self.parameter("layout_file", "", text)
        text = "cell, such as config/stacking/ur5e.yaml; empty: that of config/scenes/bin_stacking.yaml"
        self._cell_file = self.parameter("cell_file", "", text)
        self._site = STANDARD
        self._markers: RegionMarkers | None = None

    def on_load(self, report: Report) -> None:
        """Read the robot, the cell and the layout, and load the controller.

        Args:
            report: Takes the progress, 0 to 1, and its text.

        Raises:
            ConfigError: A file is invalid, or the arm does not reach a part of the cell.
        """
        report(0.0, "reading the robot")
        if not self._robot_dir:
            raise ConfigError(self.get_name(), ["parameter robot_dir: is empty; give a robot's folder"])
        self._robot = load_robot(Path(self._robot_dir))
        if self._cell_file:
            self._site = load_cell(Path(self._cell_file))
        if self._layout_file:
            self._site = replace(self._site, layout=load_layout(Path(self._layout_file)))
        report(0.3, "loading the controller")
        warm_up(self._robot)
        source = self._layout_file or self._cell_file or "the standard cell"
        check_reach(self._site, self._robot, self._robot.arm(""), source)

    def build(self) -> tuple[RosCell, StackContext, Network[StackContext]]:
        """Return cell, context and network; see ``NetworkNode``."""
        wanted = Subscriptions(objects=False, cups=True, on_states=lambda: None)
        source = RosWorldSource(self, self._robot, wanted)
        cell = RosCell(self, source, self._robot, self._robot.arm(""), self._bins, self._site)
        context = StackContext(cell, self._site, self._corrects)
        at = self._site.world_T_home
        home = MotionCommand(at, posture=cell.configuration(at, None))
        self._markers = RegionMarkers(self, regions(self._site))
        return cell, context, stacking_network(context, lambda _: home)

    def shown(self, cell: RosCell) -> None:
        """Publish the regions.

        Args:
            cell: The cell.
        """
        if self._markers is not None:
            self._markers.show(cell.controller.off, self._last_s)


def main() -> None:
    """Run the node."""
    sys.exit(run(DeciderNode))


if __name__ == "__main__":
    main()
