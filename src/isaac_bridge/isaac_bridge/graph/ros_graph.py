"""The graph of the bridge: clock, joint states, joint commands to the articulation, frames of objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core import isaac_wire as wire

from .model import Graph, Link, Node, Targets, Value
from .ogn_schema import V5_1

PATH = "/RosGraph"
CORE, ROS = "isaacsim.core.nodes", "isaacsim.ros2.bridge"
FRAME_STEPS = 4
"""The number of physics steps for one publication of frames: 50 Hz of 200."""


@dataclass(frozen=True, slots=True)
class GraphPaths:
    """Paths of the prims that the graph uses.

    Attributes:
        robot: The articulation.
        objects: Objects whose frames are published.
        fixed: Prims that never move by themselves.
    """

    robot: str
    objects: tuple[str, ...]
    fixed: tuple[str, ...] = ()


def ros_graph(version: str, cell: GraphPaths) -> Graph:
    """Return the graph of the bridge.

    The robot's frames are not published here: robot_description does that from the joints, and an edge has one
    publisher.

    Args:
        version: 5.1 or 6.0, which is used for every 6.x.
        cell: Paths of the prims.
    """
    made = _Growing()
    made.add("Step", f"{CORE}.OnPhysicsStep")
    made.add("Context", f"{ROS}.ROS2Context", useDomainIDEnvVar=True)
    made.add("Time", f"{CORE}.IsaacReadSimulationTime", resetOnStop=False)
    made.ros("Clock", f"{ROS}.ROS2PublishClock", ("Step", "step"), topicName="clock")
    made.link("Time.simulationTime", "Clock.timeStamp")
    _commands(made, cell)
    if version == V5_1:
        _states_5(made, cell)
    else:
        _states_6(made, cell)
    made.add("Gate", f"{CORE}.IsaacSimulationGate", step=FRAME_STEPS)
    made.link("Step.step", "Gate.execIn")
    for name, paths, is_static in (("Frames", cell.objects, False), ("FixedFrames", cell.fixed, True)):
        if paths:
            _frames(made, version, name, paths, is_static=is_static)
    return Graph(PATH, tuple(made.nodes), tuple(made.links))


class _Growing:
    """Nodes and links of a graph under construction."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.links: list[Link] = []

    def add(self, name: str, kind: str, **values: Value) -> None:
        self.nodes.append(Node(name, kind, tuple(values.items())))

    def ros(self, name: str, kind: str, after: tuple[str, str], **values: Value) -> None:
        """Add a node that publishes or subscribes and runs after another one."""
        self.add(name, kind, **values)
        self.link(f"{after[0]}.{after[1]}", f"{name}.execIn")
        self.link("Context.context", f"{name}.context")

    def link(self, source: str, sink: str) -> None:
        self.links.append(Link(*source.split("."), *sink.split(".")))

    def link_all(self, source: str, sink: str, pins: Sequence[str]) -> None:
        """Connect pins of equal names."""
        for pin in pins:
            self.link(f"{source}.{pin}", f"{sink}.{pin}")


def _commands(made: _Growing, cell: GraphPaths) -> None:
    """Add the subscription. One message waits at most: it takes one in each tick, and older ones would only be late."""
    made.ros(
        "Commands",
        f"{ROS}.ROS2SubscribeJointState",
        ("Step", "step"),
        topicName=wire.JOINT_COMMANDS,
        queueSize=1,
    )
    made.add("Controller", f"{CORE}.IsaacArticulationController", robotPath=cell.robot)
    made.link("Step.step", "Controller.execIn")
    pins = ("jointNames", "positionCommand", "velocityCommand", "effortCommand")
    made.link_all("Commands", "Controller", pins)


def _states_5(made: _Growing, cell: GraphPaths) -> None:
    made.ros(
        "States",
        f"{ROS}.ROS2PublishJointState",
        ("Step", "step"),
        topicName=wire.JOINT_STATES,
        targetPrim=Targets((cell.robot,)),
    )
    made.link("Time.simulationTime", "States.timeStamp")


def _states_6(made: _Growing, cell: GraphPaths) -> None:
    made.add("Joints", "isaacsim.sensors.physics.IsaacReadJointState", prim=Targets((cell.robot,)))
    made.link("Step.step", "Joints.execIn")
    made.ros("States", f"{ROS}.ROS2PublishJointState", ("Joints", "execOut"), topicName=wire.JOINT_STATES)
    # Not sensorTime, which has single precision and would differ from the clock.
    made.link("Time.simulationTime", "States.timeStamp")
    pins = ("jointNames", "jointPositions", "jointVelocities", "jointEfforts", "jointDofTypes")
    made.link_all("Joints", "States", (*pins, "stageMetersPerUnit"))


def _frames(made: _Growing, version: str, name: str, paths: tuple[str, ...], *, is_static: bool) -> None:
    """Add publishers of frames. Static ones are sent once, on ``tf_static``: the bridge's default would be ``tf``."""
    values: dict[str, Value] = {"topicName": "tf_static" if is_static else "tf", "staticPublisher": is_static}
    kind, targets = f"{ROS}.ROS2PublishTransformTree", Targets(paths)
    if version == V5_1:
        made.ros(name, kind, ("Gate", "execOut"), targetPrims=targets, **values)
    else:
        made.add(f"{name}Poses", f"{CORE}.IsaacComputeTransformTree", targetPrims=targets)
        made.link("Gate.execOut", f"{name}Poses.execIn")
        made.ros(name, kind, (f"{name}Poses", "execOut"), **values)
        pins = ("parentFrames", "childFrames", "translations", "orientations")
        made.link_all(f"{name}Poses", name, pins)
    made.link("Time.simulationTime", f"{name}.timeStamp")
