"""The check of collision spheres against keep-out zones on the way to the end of a stop, compiled."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.model.geometry import Array

from .jit import compiled
from .kernel_arrays import Body, Scratch, Zones

SAMPLES = 6
"""Number of places on the way to the stop at which a sphere is compared with a zone."""
DEEPER = 1e-6
"""Motion into a zone below this distance is ignored, m."""


@compiled
def place(rotation: Array, translation: Array, frame: int, point: Array, out: Array) -> None:
    """Compute a point of a frame in the root link's frame.

    Args:
        rotation: Rotations of the frames, (k + 1, 3, 3).
        translation: Origins of the frames, (k + 1, 3), m.
        frame: Number of the frame.
        point: Point in this frame, (3,), m.
        out: Filled with the point in the root link's frame, (3,), m.
    """
    for a in range(3):
        out[a] = translation[frame, a]
        for b in range(3):
            out[a] += rotation[frame, a, b] * point[b]


@compiled
def distance(zones: Zones, z: int, x: float, y: float, w: float) -> float:
    """Return the signed distance of a point from a zone, below zero inside.

    Args:
        zones: Keep-out zones in the root link's frame.
        z: Number of the zone.
        x: First coordinate of the point in the root link's frame, m.
        y: Second coordinate, m.
        w: Third coordinate, m.

    Returns:
        Distance, m.
    """
    dx, dy, dw = x - zones.translation[z, 0], y - zones.translation[z, 1], w - zones.translation[z, 2]
    r = zones.rotation[z]
    a = r[0, 0] * dx + r[1, 0] * dy + r[2, 0] * dw
    b = r[0, 1] * dx + r[1, 1] * dy + r[2, 1] * dw
    c = r[0, 2] * dx + r[1, 2] * dy + r[2, 2] * dw
    if zones.kind[z] == 2:
        return c
    if zones.kind[z] == 1:
        a, b = math.sqrt(a * a + b * b) - zones.half[z, 0], -math.inf
    else:
        a, b = abs(a) - zones.half[z, 0], abs(b) - zones.half[z, 1]
    c = abs(c) - zones.half[z, 2]
    inside = max(a, b, c)
    if inside <= 0.0:
        return inside
    a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)
    return math.sqrt(a * a + b * b + c * c)


@compiled
def travel(scratch: Scratch, frame: int, radius: float, now: Array, stop: Array) -> float:
    """Return a bound of the distance that a point of a group of spheres moves.

    Args:
        scratch: Poses of all frames at both ends of the motion.
        frame: Number of the group's frame.
        radius: Radius of the group about its middle, m.
        now: Middle of the group at the beginning, (3,), m.
        stop: Middle of the group at the end, (3,), m.

    Returns:
        Distance, m.
    """
    way, turn = 0.0, 0.0
    for a in range(3):
        way += (stop[a] - now[a]) ** 2
        for b in range(3):
            turn += (scratch.stop_rotation[frame, a, b] - scratch.rotation[frame, a, b]) ** 2
    return math.sqrt(way) + radius * math.sqrt(turn)


@compiled
def check_zones(zones: Zones, body: Body, scratch: Scratch, margin: float, found: Array) -> tuple[int, int]:
    """Find a sphere that moves into a zone, or deeper into one, between the command and the end of a stop.

    Args:
        zones: Keep-out zones.
        body: The spheres.
        scratch: Poses of all frames at both ends of the way.
        margin: Distance that is kept, m.
        found: Gets the least distance on the way, m, at 1 and the margin, m, at 2; (3,).

    Returns:
        Numbers of the zone and of the group of the sphere; -1 if there is none.
    """
    now, stop = np.zeros(3), np.zeros(3)
    for g in range(len(body.group_frame)):
        f, bound = body.group_frame[g], body.group_radius[g]
        place(scratch.rotation, scratch.translation, f, body.group_center[g], now)
        place(scratch.stop_rotation, scratch.stop_translation, f, body.group_center[g], stop)
        far = travel(scratch, f, bound, now, stop) + bound + margin
        for z in range(len(zones.kind)):
            if distance(zones, z, now[0], now[1], now[2]) > far:
                continue
            for s in range(body.first[g], body.first[g + 1]):
                if enters(zones, z, body, s, f, scratch, margin, found):
                    return z, g
    return -1, -1


@compiled
def enters(
    zones: Zones, z: int, body: Body, s: int, f: int, scratch: Scratch, margin: float, found: Array
) -> bool:
    """Check whether a sphere moves into a zone, or deeper into it; see ``check_zones``.

    Args:
        zones: Keep-out zones.
        z: Number of the zone.
        body: The spheres.
        s: Number of the sphere.
        f: Number of its frame.
        scratch: Poses of all frames at both ends of the way.
        margin: Distance that is kept, m.
        found: Gets the distance, m, at 1 and the margin, m, at 2; (3,).

    Returns:
        True if it does.
    """
    now, stop, radius = np.zeros(3), np.zeros(3), body.sphere_radius[s]
    place(scratch.rotation, scratch.translation, f, body.sphere_center[s], now)
    place(scratch.stop_rotation, scratch.stop_translation, f, body.sphere_center[s], stop)
    here = distance(zones, z, now[0], now[1], now[2]) - radius
    dx, dy, dz = stop[0] - now[0], stop[1] - now[1], stop[2] - now[2]
    if here > margin + math.sqrt(dx * dx + dy * dy + dz * dz):
        return False
    for k in range(1, SAMPLES + 1):
        u = k / SAMPLES
        there = distance(zones, z, now[0] + u * dx, now[1] + u * dy, now[2] + u * dz) - radius
        if there < margin and there < here - DEEPER:
            found[1], found[2] = there, margin
            return True
    return False
