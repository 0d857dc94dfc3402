"""Hosts action servers on wall time, so that old goals are forgotten also while a simulation is paused."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.parameter import Parameter

from .managed_node import ManagedNode


def action_host_node(node: ManagedNode) -> Node:
    """Make a node on wall time, in the namespace and executor of a node, to create action servers on.

    Its clock serves only to forget old results; no skill reads it. Under ``use_sim_time`` a paused simulation
    would keep every result, and rcl_action below 9.2.11 is reported to spin on the expiry timer of one.

    Args:
        node: The node; the new one becomes one of its ``extra_nodes``.

    Returns:
        The new node.
    """
    host = Node(
        f"{node.get_name()}_actions",
        namespace=node.get_namespace(),
        context=node.context,
        use_global_arguments=False,
        start_parameter_services=False,
        parameter_overrides=[Parameter("use_sim_time", value=False)],
    )
    node.extra_nodes.append(host)
    if node.executor is not None:
        node.executor.add_node(host)
    return host
