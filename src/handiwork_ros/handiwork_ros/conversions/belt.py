"""The motion of conveyor belts as markers, which RViz, Foxglove and the page draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from geometry_msgs.msg import Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.scene.bounds import world_aabb
from handiwork_core.scene.layout import SceneObject

from .pose import pose_to_msg

ABOVE_M = 0.005
"""Height of the drawing above the belt's box, m."""
LENGTH = 0.6
"""Length of the arrow as a share of the belt's length along its motion."""
ARROW, WORDS = 0, 1
COLOUR = ColorRGBA(r=0.95, g=0.75, b=0.1, a=1.0)
STOPPED_MPS = 1e-4


def belts_to_msg(
    objects: Iterable[SceneObject], velocities: Mapping[str, tuple[float, float, float]]
) -> MarkerArray:
    """Write an arrow along the motion of each belt and its speed in words, both in the frame of the belt's object.

    Args:
        objects: The objects of the scene; those without a belt are left out.
        velocities: Velocity of the surface by belt in the object's frame, m/s.

    Returns:
        The markers, whose namespaces are the names of the belts, after one that removes those before.
    """
    made = [Marker(action=Marker.DELETEALL)]
    for item in objects:
        if item.belt is not None:
            made += _markers(item, np.array(velocities.get(item.name, item.belt.velocity)))
    return MarkerArray(markers=made)


def _markers(item: SceneObject, velocity: Array) -> list[Marker]:
    low, high = world_aabb(item.body, Pose.identity())
    speed = float(np.linalg.norm(velocity))
    top = np.array([*(0.5 * (low + high))[:2], high[2] + ABOVE_M])
    text = f"{speed:.3g} m/s" if speed > STOPPED_MPS else "stopped"
    words = Marker(type=Marker.TEXT_VIEW_FACING, ns=item.name, id=WORDS, text=text, color=COLOUR)
    words.pose, words.scale = pose_to_msg(Pose.of(top + (0.0, 0.0, 0.05))), Vector3(z=0.05)
    made = [words]
    if speed > STOPPED_MPS:
        along = velocity / speed
        length = LENGTH * float(np.abs(along) @ (high - low))
        arrow = Marker(type=Marker.ARROW, ns=item.name, id=ARROW, color=COLOUR)
        yaw = Rotation.from_rpy(0.0, -np.arcsin(along[2]), np.arctan2(along[1], along[0]))
        arrow.pose = pose_to_msg(Pose.of(top - 0.5 * length * along, yaw))
        arrow.scale = Vector3(x=length, y=0.02, z=0.02)
        made.append(arrow)
    for marker in made:
        marker.header.frame_id, marker.frame_locked = item.name, True
    return made
