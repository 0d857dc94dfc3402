"""Destroys a node with all objects that keep it alive."""

from __future__ import annotations

from rclpy.action import ActionClient, ActionServer
from rclpy.lifecycle import LifecycleNodeMixin
from rclpy.node import Node

from .rclpy_internals import destroy_life_cycle


def destroy_with_actions(node: Node) -> None:
    """Destroy the actions and the life cycle of a node that is not spun any more, then the node.

    ``destroy_node`` leaves these out. They and the node refer to each other, so the DDS participant with its
    threads and sockets would stay until a garbage collection, which may come in the middle of another call of
    rclpy and block there.

    Args:
        node: The node.
    """
    for waitable in list(node.waitables):
        if isinstance(waitable, (ActionClient, ActionServer)):
            waitable.destroy()
    if isinstance(node, LifecycleNodeMixin):
        destroy_life_cycle(node)
    node.destroy_node()
