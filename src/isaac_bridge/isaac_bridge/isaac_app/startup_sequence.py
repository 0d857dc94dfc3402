"""The steps from a running application to a robot on ROS. Their order matters."""

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


def bring_up(app: IsaacApp, stage_file: Path) -> Session:
    """Open the stage, build the graph and start the physics.

    The bridge is set to publish always before it is loaded; its extensions need one frame before rclpy and the types of
    their nodes exist; the graph is built before the physics starts, which is the last step.

    Args:
        app: Isaac Sim.
        stage_file: The exported stage.

    Returns:
        The running cell.

    Raises:
        UnsupportedError: This version of Isaac Sim is not supported.
        BadStage: The stage does not exist, or is not one of ours.
    """
    version = graph_version(app.version())
    if not stage_file.is_file():
        raise BadStage(f"{stage_file} is no file: make it by `handiwork export-usd`.")
    app.publish_always()
    for extension in EXTENSIONS[version]:
        app.enable(extension)
    app.update()
    stage = app.open_stage(str(stage_file.resolve()))
    app.update()
    index = read_stage(stage)
    graph = ros_graph(version, index.cell())
    faults = graph_faults(graph, DOCUMENTED[version])
    if faults:
        raise UnsupportedError(
            f"The graph does not fit the nodes of Isaac Sim {version}: {'; '.join(faults)}."
        )
    app.build(graph)
    app.compute_on_cpu()
    app.update()
    app.play()
    app.update()
    return Session(app, stage, index)
