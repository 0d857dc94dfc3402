"""The bridge's graph against the documented nodes of each version, and the check itself against planted faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handiwork_core import isaac_wire as wire
from isaac_bridge.graph.check import graph_faults
from isaac_bridge.graph.model import Graph, Link, Node, Targets
from isaac_bridge.graph.ogn_schema import DOCUMENTED, V5_1, V6_0
from isaac_bridge.graph.ros_graph import GraphPaths, ros_graph

CELL = GraphPaths("/World/fr3", ("/World/Objects/cube", "/World/Objects/bin"), ("/World/camera",))
versions = pytest.mark.parametrize("version", list(DOCUMENTED))


def values(graph: Graph, name: str) -> dict[str, object]:
    """Return the values of a node's inputs.

    Args:
        graph: The graph.
        name: Name of the node.
    """
    return dict(next(node for node in graph.nodes if node.name == name).values)


@versions
def test_graph_is_as_documented(version: str) -> None:
    assert graph_faults(ros_graph(version, CELL), DOCUMENTED[version]) == []
    assert graph_faults(ros_graph(version, GraphPaths("/World/fr3", ())), DOCUMENTED[version]) == []


def test_graph_of_one_version_is_none_of_another() -> None:
    assert graph_faults(ros_graph(V6_0, CELL), DOCUMENTED[V5_1])
    faults = graph_faults(ros_graph(V5_1, CELL), DOCUMENTED[V6_0])
    assert "input States.jointPositions has no source" in faults


@versions
def test_topics_depth_and_triggers(version: str) -> None:
    graph = ros_graph(version, CELL)
    commands = values(graph, "Commands")
    assert commands == {"topicName": wire.JOINT_COMMANDS, "queueSize": 1}
    assert values(graph, "States")["topicName"] == wire.JOINT_STATES
    assert values(graph, "Time") == {"resetOnStop": False}
    assert values(graph, "Frames")["topicName"] == "tf"
    assert values(graph, "FixedFrames")["topicName"] == "tf_static"
    assert values(graph, "FixedFrames")["staticPublisher"] is True
    driven = {link.sink for link in graph.links if (link.source, link.output) == ("Step", "step")}
    assert {"Clock", "Commands", "Controller", "Gate"} <= driven


@versions
def test_no_frame_of_the_robot_is_published(version: str) -> None:
    graph = ros_graph(version, CELL)
    targets = [
        path
        for node in graph.nodes
        for name, value in node.values
        if name == "targetPrims" and isinstance(value, Targets)
        for path in value.paths
    ]
    assert set(targets) == {*CELL.objects, *CELL.fixed}


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("type 'isaacsim.ros2.bridge.ROS2PublishClok' is not documented; did you mean", "type"),
        ("has no input 'topic'; did you mean 'topicName'", "input"),
        ("input Clock.queueSize is -1, which is no uint64", "negative"),
        ("input Clock.topicName is 3, which is no string", "value"),
        ("has no output 'simTime'", "output"),
        ("(double) to Clock.execIn (execution): types differ", "mixed"),
        ("no node 'Nobody'", "nobody"),
        ("input Clock.timeStamp has two sources", "two"),
        ("input Clock.context has no source", "none"),
        ("node 'Clock' is there twice", "twice"),
        ("wait for each other", "cycle"),
    ],
)
def test_planted_faults_are_found(words: str, change: str) -> None:
    graph = ros_graph(V5_1, CELL)
    clock = next(node for node in graph.nodes if node.name == "Clock")
    clocks = {
        "type": replace(clock, type=clock.type.replace("Clock", "Clok")),
        "input": replace(clock, values=(("topic", "clock"),)),
        "negative": replace(clock, values=(*clock.values, ("queueSize", -1))),
        "value": replace(clock, values=(("topicName", 3),)),
    }
    links = {
        "output": Link("Time", "simTime", "Clock", "timeStamp"),
        "mixed": Link("Time", "simulationTime", "Clock", "execIn"),
        "nobody": Link("Nobody", "step", "Clock", "execIn"),
        "two": Link("Time", "simulationTime", "Clock", "timeStamp"),
        "cycle": Link("Commands", "execOut", "Commands", "execIn"),
    }
    nodes = tuple(clocks.get(change, clock) if node is clock else node for node in graph.nodes)
    if change == "twice":
        nodes += (Node("Clock", clock.type),)
    kept = tuple(
        k for k in graph.links if not (change == "none" and (k.sink, k.input) == ("Clock", "context"))
    )
    extra = (links[change],) if change in links else ()
    faults = graph_faults(Graph(graph.path, nodes, kept + extra), DOCUMENTED[V5_1])
    assert any(words in fault for fault in faults), faults
