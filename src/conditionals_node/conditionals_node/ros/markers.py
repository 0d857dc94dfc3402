"""Draws conditions for RViz and Foxglove on ``conditions/markers``, while there is a subscriber."""

from __future__ import annotations

import time

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from conditionals_node.monitoring.monitor import ConditionMonitor, ConditionStatus
from conditionals_node.monitoring.visuals import Drawing, draw
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.world import World
from handiwork_ros.conversions import pose_to_msg, time_to_msg
from handiwork_ros.rclpy_support.qos import LATEST

PERIOD_S = 0.1
LIFETIME = Duration(nanosec=500_000_000)
"""Time after which drawings of conditions that are no longer watched disappear."""
LINE_M = 0.002
DOT_M = 0.012
COLOURS = {
    Truth.TRUE: ColorRGBA(r=0.1, g=0.8, b=0.2, a=0.9),
    Truth.FALSE: ColorRGBA(r=0.9, g=0.2, b=0.1, a=0.9),
    Truth.UNKNOWN: ColorRGBA(r=0.6, g=0.6, b=0.6, a=0.6),
}


class Markers:
    """Publishes the drawings, ten times a second at most.

    Args:
        node: Owns the publisher.
    """

    def __init__(self, node: Node) -> None:
        self._pub = node.create_publisher(MarkerArray, "conditions/markers", LATEST)
        self._drawn_s = 0.0

    def show(self, world: World, monitor: ConditionMonitor) -> None:
        """Publish the drawings of the watched conditions; without subscribers nothing is computed.

        Args:
            world: The newest snapshot.
            monitor: Has the conditions.
        """
        now_s = time.monotonic()
        if now_s - self._drawn_s < PERIOD_S:
            return
        self._drawn_s = now_s
        if self._pub.get_subscription_count() > 0:
            self._pub.publish(MarkerArray(markers=markers(monitor.shown(), world)))


def markers(shown: list[ConditionStatus], world: World) -> list[Marker]:
    """Return the drawings of all conditions; the namespace of a marker is a condition's key.

    Args:
        shown: States of the conditions.
        world: The snapshot.

    Returns:
        Markers in world, numbered within each condition.
    """
    stamp = time_to_msg(world.stamp_s)
    found = []
    for item in shown:
        drawings = draw(item.condition.expression, item.finding.truth, world)
        for number, drawing in enumerate(drawings):
            marker = _marker(drawing)
            marker.header.frame_id, marker.header.stamp = "world", stamp
            marker.ns, marker.id, marker.lifetime = item.condition.key, number, LIFETIME
            found.append(marker)
    return found


def _marker(drawing: Drawing) -> Marker:
    dot = len(drawing.points) == 1
    marker = Marker(type=Marker.SPHERE_LIST if dot else Marker.LINE_LIST, action=Marker.ADD)
    marker.pose = pose_to_msg(drawing.world_T_points)
    size = DOT_M if dot else LINE_M
    marker.scale = Vector3(x=size, y=size, z=size)
    marker.color = COLOURS[drawing.truth]
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in drawing.points.tolist()]
    return marker
