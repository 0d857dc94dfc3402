"""The table of interfaces, from which permissions are made, equals the interfaces of the running stack."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.node import Node

from handiwork_cli.commands.stack.security import TABLE
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.security.interfaces import NodeInterfaces, load_table, nodes_of
from handiwork_cli.stack.demo_cells import robot_of
from handiwork_cli.stack.stack import NODES
from support.stack.rig import Rig

LAUNCH_ARGUMENTS = {"real_time_factor": "1"}
GRAPH_S, LOOK_S = 30.0, 0.05
SERVED_OF_ACTION = ("send_goal", "get_result", "cancel_goal")
TOPICS_OF_ACTION = ("feedback", "status")
KINDS = ("publishes", "subscribes", "serves", "calls")
TABLE_OF_FR3 = nodes_of(load_table(share_of("handiwork_bringup") / TABLE), robot_of("fr3"))


@pytest.fixture
def observer() -> Iterator[Node]:
    """A node of a DDS participant of its own, as ``ros2 node info`` makes one."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("observer", context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


def names(rows: list[tuple[str, list[str]]]) -> set[str]:
    return {name for name, _types in rows}


def in_graph(node: Node, name: str) -> dict[str, set[str]]:
    """Return the interfaces of a node in the ROS graph; empty before it was discovered."""
    if name not in node.get_node_names():
        return {kind: set() for kind in KINDS}
    return {
        "publishes": names(node.get_publisher_names_and_types_by_node(name, "/")),
        "subscribes": names(node.get_subscriber_names_and_types_by_node(name, "/")),
        "serves": names(node.get_service_names_and_types_by_node(name, "/")),
        "calls": names(node.get_client_names_and_types_by_node(name, "/")),
    }


def in_table(entry: NodeInterfaces) -> dict[str, set[str]]:
    """Return the interfaces of a node in the table, with the parts of actions."""
    own = entry.interfaces

    def parts(actions: tuple[str, ...], kinds: tuple[str, ...]) -> set[str]:
        return {f"{action}/_action/{kind}" for action in actions for kind in kinds}

    return {
        "publishes": set(own.publishes) | parts(own.executes, TOPICS_OF_ACTION),
        "subscribes": set(own.subscribes) | parts(own.sends_goals, TOPICS_OF_ACTION),
        "serves": set(own.serves) | parts(own.executes, SERVED_OF_ACTION),
        "calls": set(own.calls) | parts(own.sends_goals, SERVED_OF_ACTION),
    }


@pytest.mark.parametrize(
    "entry", [e for e in TABLE_OF_FR3 if e.process in NODES], ids=lambda entry: str(entry.node)
)
def test_a_node_uses_what_the_table_allows_it_and_nothing_else(
    rig: Rig, observer: Node, entry: NodeInterfaces
) -> None:
    if entry.node == "skill_server":  # it bonds to the planner with its first plan
        assert rig.client.pick("cube").ok
    wanted, end_s = in_table(entry), time.monotonic() + GRAPH_S
    # The graph discovers a node's interfaces one by one, and clients of /clock are made by use_sim_time alone.
    for kind in wanted:
        wanted[kind] -= {"/clock"} if kind == "subscribes" else set()
    while True:
        found = in_graph(observer, entry.node)
        found["subscribes"] -= {"/clock"}
        if found == wanted or time.monotonic() > end_s:
            break
        threading.Event().wait(LOOK_S)
    for kind, allowed in wanted.items():
        assert found[kind] - allowed == set(), f"{entry.node} {kind} what the table does not allow"
        assert allowed - found[kind] == set(), f"{entry.node}: the table allows more than it {kind}"
