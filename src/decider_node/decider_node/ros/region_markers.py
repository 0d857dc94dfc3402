"""Draws the avoided regions for RViz and Foxglove on ``decider/regions``: those that count now, and the others."""

from __future__ import annotations

from collections.abc import Iterator

from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_ros.conversions import pose_to_msg, time_to_msg
from handiwork_ros.rclpy_support.qos import LATEST

ON, OFF = ColorRGBA(r=0.95, g=0.55, b=0.1, a=0.4), ColorRGBA(r=0.6, g=0.6, b=0.6, a=0.15)
Regions = dict[str, tuple[WorldObject, Pose]]


class RegionMarkers:
    """Publishes the regions while there is a subscriber.

    Args:
        node: Owns the publisher.
        regions: Body and pose of each region by name.
    """

    def __init__(self, node: Node, regions: Regions) -> None:
        self._regions = regions
        self._pub = node.create_publisher(MarkerArray, "decider/regions", LATEST)

    def show(self, off: frozenset[str], stamp_s: float) -> None:
        """Publish all regions.

        Args:
            off: Regions that do not count now.
            stamp_s: Time of the markers, s.
        """
        if self._pub.get_subscription_count() > 0:
            self._pub.publish(MarkerArray(markers=region_markers(self._regions, off, stamp_s)))


def region_markers(regions: Regions, off: frozenset[str], stamp_s: float) -> list[Marker]:
    """Return the markers of all regions in world; the namespace of a marker is a region's name.

    Args:
        regions: Body and pose of each region by name.
        off: Regions that do not count now; they are grey.
        stamp_s: Time of the markers, s.

    Raises:
        ValueError: A shape of a region cannot be drawn.
    """
    found = []
    for name, (body, pose) in regions.items():
        parts = (part for shape in body.shapes for part in _parts(shape))
        for number, (kind, size, object_T_part) in enumerate(parts):
            marker = Marker(ns=name, id=number, type=kind, color=OFF if name in off else ON)
            marker.header.frame_id, marker.header.stamp = "world", time_to_msg(stamp_s)
            marker.pose = pose_to_msg(pose @ object_T_part)
            marker.scale.x, marker.scale.y, marker.scale.z = size
            found.append(marker)
    return found


def _parts(shape: Shape) -> Iterator[tuple[int, tuple[float, float, float], Pose]]:
    """Yield marker type, full edges, m, and pose in the object of the parts that draw a shape."""
    place, size = shape.object_T_shape, shape.size.tolist()
    if shape.kind is ShapeKind.BOX:
        yield Marker.CUBE, tuple(size), place
    elif shape.kind is ShapeKind.SPHERE:
        yield Marker.SPHERE, (2.0 * size[0],) * 3, place
    elif shape.kind in (ShapeKind.CYLINDER, ShapeKind.CAPSULE):
        wide, long = 2.0 * size[0], size[1]
        yield Marker.CYLINDER, (wide, wide, long), place
        if shape.kind is ShapeKind.CAPSULE:
            for end in (0.5 * long, -0.5 * long):
                yield Marker.SPHERE, (wide, wide, wide), place @ Pose.of((0.0, 0.0, end))
    else:
        raise ValueError(
            f"a region of kind {shape.kind.name} cannot be drawn; make it of boxes, spheres, cylinders, capsules"
        )
