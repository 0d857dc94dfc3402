"""The documented types of inputs and outputs of the graph's nodes, by version of Isaac Sim.

Facts from the node descriptions (.ogn) of isaac-sim/IsaacSim, Apache-2.0, at the tags v5.1.0 and v6.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

V5_1, V6_0 = "5.1", "6.0"


@dataclass(frozen=True, slots=True)
class Pins:
    """The inputs and outputs of a node type.

    Attributes:
        inputs: Name of the input -> its type.
        outputs: Name of the output -> its type.
        required: Inputs that need a link or a value.
    """

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    required: tuple[str, ...] = ()


def _ros(
    pins: Mapping[str, str], required: tuple[str, ...] = (), outputs: Mapping[str, str] | None = None
) -> Pins:
    """Return the pins of a node that publishes or subscribes: ``pins`` and those that all of these nodes have."""
    common = {
        "execIn": "execution",
        "context": "uint64",
        "nodeNamespace": "string",
        "topicName": "string",
        "qosProfile": "string",
        "queueSize": "uint64",
    }
    return Pins({**common, **pins}, outputs or {}, ("execIn", "context", "topicName", *required))


_STATE = {
    "jointNames": "token[]",
    "jointPositions": "double[]",
    "jointVelocities": "double[]",
    "jointEfforts": "double[]",
    "jointDofTypes": "uchar[]",
    "stageMetersPerUnit": "float",
    "sensorTime": "float",
}
_COMMAND = {
    "jointNames": "token[]",
    "positionCommand": "double[]",
    "velocityCommand": "double[]",
    "effortCommand": "double[]",
}

_FRAMES = {
    "parentFrames": "token[]",
    "childFrames": "token[]",
    "translations": "double[3][]",
    "orientations": "double[4][]",
}
_TREE = {"parentPrim": "target", "targetPrims": "target"}

COMMON = {
    "isaacsim.core.nodes.OnPhysicsStep": Pins(
        {}, {"step": "execution", "deltaSimulationTime": "double", "deltaSystemTime": "double"}
    ),
    "isaacsim.core.nodes.IsaacSimulationGate": Pins(
        {"execIn": "execution", "step": "uint"}, {"execOut": "execution"}, ("execIn",)
    ),
    "isaacsim.core.nodes.IsaacReadSimulationTime": Pins(
        {"resetOnStop": "bool", "referenceTimeNumerator": "int64", "referenceTimeDenominator": "uint64"},
        {"simulationTime": "double"},
    ),
    "isaacsim.core.nodes.IsaacArticulationController": Pins(
        {
            "execIn": "execution",
            "targetPrim": "target",
            "robotPath": "string",
            "jointIndices": "int[]",
            **_COMMAND,
        },
        {},
        ("execIn", "robotPath", "jointNames", "positionCommand"),
    ),
    "isaacsim.ros2.bridge.ROS2Context": Pins(
        {"domain_id": "uchar", "useDomainIDEnvVar": "bool"}, {"context": "uint64"}
    ),
    "isaacsim.ros2.bridge.ROS2PublishClock": _ros({"timeStamp": "double"}, ("timeStamp",)),
    "isaacsim.ros2.bridge.ROS2SubscribeJointState": _ros(
        {}, (), {"execOut": "execution", "timeStamp": "double", **_COMMAND}
    ),
}

DOCUMENTED: Mapping[str, Mapping[str, Pins]] = {
    V5_1: {
        **COMMON,
        "isaacsim.ros2.bridge.ROS2PublishJointState": _ros(
            {"targetPrim": "target", "timeStamp": "double"}, ("targetPrim", "timeStamp")
        ),
        "isaacsim.ros2.bridge.ROS2PublishTransformTree": _ros(
            {"timeStamp": "double", "staticPublisher": "bool", **_TREE}, ("targetPrims", "timeStamp")
        ),
    },
    V6_0: {
        **COMMON,
        "isaacsim.sensors.physics.IsaacReadJointState": Pins(
            {"execIn": "execution", "prim": "target"}, {"execOut": "execution", **_STATE}, ("execIn", "prim")
        ),
        "isaacsim.core.nodes.IsaacComputeTransformTree": Pins(
            {"execIn": "execution", **_TREE}, {"execOut": "execution", **_FRAMES}, ("execIn", "targetPrims")
        ),
        "isaacsim.ros2.bridge.ROS2PublishJointState": _ros(
            {"targetPrim": "target", "timeStamp": "double", **_STATE},
            ("jointNames", "jointPositions", "jointDofTypes", "stageMetersPerUnit", "timeStamp"),
        ),
        "isaacsim.ros2.bridge.ROS2PublishTransformTree": _ros(
            {"timeStamp": "double", "staticPublisher": "bool", **_TREE, **_FRAMES},
            ("childFrames", "translations", "orientations", "timeStamp"),
        ),
    },
}
"""The node types by version; 6.0 is used for every 6.x."""
