"""Where action servers live: rcl_action 9.2.8 spins at full load under sim time once a finished goal waits to expire."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.parameter import Parameter

from .managed_node import ManagedNode


def action_host_node(node: ManagedNode) -> Node:
    """A node on wall time, in the namespace and executor of ``node``, to create action servers on.

    Its clock serves only to forget old results; no skill reads it. With ``use_sim_time`` the expiry timer of rcl_action 9.2.8,
    which counts wall time, would be armed with simulated instants and fire without end.
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
