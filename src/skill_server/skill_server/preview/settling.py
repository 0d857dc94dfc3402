"""Where an object comes to rest that a hand lets go: straight below, on the first surface under it."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from handiwork_core.scene.bounds import world_aabb
from skill_server.geometry.vertical_spans import body_triangles, moved_triangles, vertical_spans
from skill_server.placing.support import underside_lines

SUNK_M = 0.01
"""A surface that is higher than the underside of the object by at most this carries it: poses are not exact, m."""


def fall_m(world: World, name: str, with_it: frozenset[str]) -> float:
    """Return how far an object falls when it is let go; it keeps its orientation.

    Args:
        world: The objects and where they are.
        name: The object.
        with_it: Objects that fall with it.

    Returns:
        The height of the fall, m; 0 for an object with nothing below it, and for one that cannot fall.
    """
    body = world.objects[name]
    if body.is_static or body.articulation is not None or not body.shapes:
        return 0.0
    pose = world.states[name].world_T_object
    points = underside_lines(body, pose)[0]
    under = vertical_spans(moved_triangles(body_triangles(body, as_hulls=True), pose), points)[0]
    points, under = points[np.isfinite(under)], under[np.isfinite(under)]
    low, high = world_aabb(body, pose)
    gaps = [np.inf]
    for other, item in world.objects.items():
        if other == name or other in with_it or other not in world.states or not item.shapes:
            continue
        other_pose = world.states[other].world_T_object
        other_low, other_high = world_aabb(item, other_pose)
        if (other_low[:2] > high[:2]).any() or (other_high[:2] < low[:2]).any():
            continue
        top = vertical_spans(moved_triangles(body_triangles(item), other_pose), points)[1]
        gap = under - top
        gaps.append(float(np.min(gap[gap >= -SUNK_M], initial=np.inf)))
    least = min(gaps)
    return max(least, 0.0) if np.isfinite(least) else 0.0


def lowered(pose: Pose, by_m: float) -> Pose:
    """Return a pose that is lower in the world.

    Args:
        pose: Pose in the world.
        by_m: The difference in height, m.
    """
    return Pose.of((0.0, 0.0, -by_m)) @ pose
