"""The drawings of conditions, of rejected candidates and of belts, read from their markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from visualization_msgs.msg import Marker

from handiwork_core.model.geometry import Array, Pose
from handiwork_ros.conversions import pose_from_msg


@dataclass(frozen=True)
class BeltDrawing:
    """How one belt runs: a text at its place, and an arrow along the x axis of its pose; both in the object's frame.

    Attributes:
        object: Name of the belt's object.
        text: Its speed in words.
        object_T_text: Place of the text.
        object_T_arrow: Begin and direction of the arrow; None for a belt that stands.
        length_m: Length of the arrow, m.
    """

    object: str
    text: str
    object_T_text: Pose
    object_T_arrow: Pose | None
    length_m: float


def drawings(message: Any) -> tuple[Array, Array, Array, Array]:
    """Return points and lines of markers with their colours.

    Args:
        message: A MarkerArray of sphere lists and line lists in ``world``.

    Returns:
        Points, (n, 3), m; their colours, (n, 3), 0 to 255; segments, (m, 2, 3), m; their colours, (m, 2, 3).
    """
    points, point_rgb, lines, line_rgb = [], [], [], []
    for marker in message.markers:
        corners = np.array([(p.x, p.y, p.z) for p in marker.points], dtype=np.float64).reshape(-1, 3)
        placed = pose_from_msg(marker.pose, "marker").apply(corners) if len(corners) else corners
        colour = np.array([marker.color.r, marker.color.g, marker.color.b]) * 255.0
        if marker.type == Marker.LINE_LIST:
            segments = placed[: len(placed) // 2 * 2].reshape(-1, 2, 3)
            lines.append(segments)
            line_rgb.append(np.broadcast_to(colour, segments.shape))
        else:
            points.append(placed)
            point_rgb.append(np.broadcast_to(colour, placed.shape))
    return (
        _joined(points, (0, 3)).astype(np.float64),
        _joined(point_rgb, (0, 3)).astype(np.uint8),
        _joined(lines, (0, 2, 3)).astype(np.float64),
        _joined(line_rgb, (0, 2, 3)).astype(np.uint8),
    )


def candidates(message: Any) -> list[tuple[str, Pose]]:
    """Return rejected candidates with their causes.

    Args:
        message: A MarkerArray of arrows in ``world``, whose namespaces are the causes.

    Returns:
        Cause and pose of each.
    """
    arrows = (marker for marker in message.markers if marker.action == Marker.ADD)
    return [(marker.ns, pose_from_msg(marker.pose, "marker")) for marker in arrows]


def belts(message: Any) -> list[BeltDrawing]:
    """Return the motion of conveyor belts.

    Args:
        message: A MarkerArray with an arrow and a text for each belt, in the frame of its object.

    Returns:
        The belts that run or stand; an arrow without a text is left out.
    """
    arrows = {one.ns: one for one in message.markers if one.type == Marker.ARROW and one.action == Marker.ADD}
    found = []
    for marker in message.markers:
        if marker.type == Marker.TEXT_VIEW_FACING and marker.action == Marker.ADD:
            arrow, place = arrows.get(marker.ns), pose_from_msg(marker.pose, "marker")
            pose = None if arrow is None else pose_from_msg(arrow.pose, "marker")
            length_m = 0.0 if arrow is None else arrow.scale.x
            found.append(BeltDrawing(marker.header.frame_id, marker.text, place, pose, length_m))
    return found


def _joined(parts: Sequence[Array], empty: tuple[int, ...]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(empty)
