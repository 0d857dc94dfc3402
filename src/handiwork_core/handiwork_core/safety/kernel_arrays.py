"""The arrays that the compiled checks take: limits, joint tree, spheres, zones and scratch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

Ints = NDArray[np.int64]


class JointTable(NamedTuple):
    """Limits of the m supervised joints.

    Attributes:
        place: Their indices in the robot's joint vector, (m,).
        lower: Lower positions, (m,), rad or m.
        upper: Upper positions, (m,), rad or m.
        velocity: Largest speeds, (m,), rad/s or m/s.
        acceleration: Largest accelerations, (m,), rad/s^2 or m/s^2.
        deceleration: Decelerations of a stop, (m,), rad/s^2 or m/s^2.
        effort: Largest efforts, (m,), Nm or N.
    """

    place: Ints
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    deceleration: Array
    effort: Array


class Tree(NamedTuple):
    """The k moving joints in tree order. Frame 0 is the root link; joint ``i`` moves frame ``i + 1``.

    Attributes:
        parent: Frame that carries the joint, (k,).
        rotation: Rotation of the joint in this frame at zero, (k, 3, 3).
        translation: Origin of the joint in this frame, (k, 3), m.
        axis: Axis in the joint's frame, (k, 3).
        is_prismatic: 1 for a prismatic joint, else 0, (k,).
        source: Index of the joint, or of the joint that it mimics, in the joint vector; -1 for none, (k,).
        multiplier: Factor on the position at ``source``, (k,).
        offset: Offset of the position; the position itself if ``source`` is -1, (k,), rad or m.
    """

    parent: Ints
    rotation: Array
    translation: Array
    axis: Array
    is_prismatic: Ints
    source: Ints
    multiplier: Array
    offset: Array


class Body(NamedTuple):
    """Collision spheres (s,) and tool centre points (t,), each fixed in a frame of the tree.

    The spheres of group ``g`` are those from ``first[g]`` to ``first[g + 1]``; they lie in frame ``group_frame[g]``
    within ``group_radius[g]`` of ``group_center[g]``. Lengths are in m.
    """

    first: Ints
    group_frame: Ints
    group_center: Array
    group_radius: Array
    sphere_center: Array
    sphere_radius: Array
    tool_frame: Ints
    tool_point: Array


class Scratch(NamedTuple):
    """Memory for poses and velocities of the frames: at the command, and at the end of a stop."""

    rotation: Array
    translation: Array
    linear: Array
    angular: Array
    stop_rotation: Array
    stop_translation: Array

    @classmethod
    def of(cls, tree: Tree) -> Scratch:
        """Return memory for a robot.

        Args:
            tree: The robot's tree.
        """
        count = len(tree.parent) + 1
        turns, places = (count, 3, 3), (count, 3)
        return cls(*(np.zeros(shape) for shape in (turns, places, places, places, turns, places)))


class Zones(NamedTuple):
    """Keep-out zones (z,) in the root link's frame.

    Attributes:
        kind: 0 box, 1 cylinder, 2 half-space, (z,).
        rotation: Rotations, (z, 3, 3).
        translation: Centres, (z, 3), m.
        half: Half edges of a box; radius, radius and half height of a cylinder, (z, 3), m.
    """

    kind: Ints
    rotation: Array
    translation: Array
    half: Array
