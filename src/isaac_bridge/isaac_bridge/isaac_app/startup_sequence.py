"""From an application that runs to a robot that listens: in this order and no other."""

from __future__ import annotations

from pathlib import Path

from isaac_bridge.graph.check import graph_faults
from isaac_bridge.graph.ogn_schema import DOCUMENTED, V5_1, V6_0
from isaac_bridge.graph.ros_graph import ros_graph

from .app import IsaacApp
from .session import Session
from .stage_index import BadStage, read_stage
from .versions import UnsupportedError, graph_version

EXTENSIONS = {
    V5_1: ("isaacsim.ros2.bridge", "isaacsim.robot.surface_gripper"),
    V6_0: ("isaacsim.ros2.bridge", "isaacsim.sensors.physics.nodes", "isaacsim.robot.surface_gripper"),
}


def bring_up(door: IsaacApp, stage_file: Path) -> Session:
    """Open the stage and let the robot listen and speak.

    The bridge is told to publish always before it is loaded; its extensions need one frame before rclpy and the types
    of their nodes are there; the graph is built while the physics stands, and the physics starts last.

    Raises:
        UnsupportedError: this version of Isaac Sim is not supported.
        BadStage: the stage is not there, or none of ours.
    """
    version = graph_version(door.version())
    if not stage_file.is_file():
        raise BadStage(f"{stage_file} is no file: make it by `handiwork export-usd`.")
    door.publish_always()
    for extension in EXTENSIONS[version]:
        door.enable(extension)
    door.update()
    stage = door.open_stage(str(stage_file.resolve()))
    door.update()
    index = read_stage(stage)
    graph = ros_graph(version, index.cell())
    faults = graph_faults(graph, DOCUMENTED[version])
    if faults:
        raise UnsupportedError(
            f"The graph does not fit the nodes of Isaac Sim {version}: {'; '.join(faults)}."
        )
    door.build(graph)
    door.compute_on_cpu()
    door.update()
    door.play()
    door.update()
    return Session(door, stage, index)
