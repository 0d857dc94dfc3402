"""The approach to a target: a funnel that the tool follows down to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import Array, Pose, frozen

TURN_SCALE_M = 1.0 / 6.0
"""Distance that counts as much as a unit of difference between rotation matrices (Frobenius norm), m."""


@dataclass(frozen=True, slots=True, eq=False)
class Approach:
    """An approach to the target along a straight line.

    The pose to aim at lies ``direction`` before the target while the tool is beside the line or turned away by more
    than about ``std_m``, and comes up to the target as the tool comes onto the line. A tool that is pushed off the
    line is led back to its beginning.

    Attributes:
        direction: Direction of the approach in world, (3,); its length is that of the last straight piece, m.
        std_m: Width of the funnel, m.
    """

    direction: Array
    std_m: float

    @classmethod
    def along(cls, direction: ArrayLike, std_m: float) -> Approach:
        """Return an approach after a check of its numbers.

        Args:
            direction: Direction of the approach in world, (3,); its length is that of the last straight piece, m.
            std_m: Width of the funnel, more than 0, m.

        Raises:
            ValueError: The direction has no length or is not finite, or the width is not more than 0.
        """
        d = frozen(direction)
        if d.shape != (3,) or not np.isfinite(d).all() or not np.linalg.norm(d) > 0.0 or not std_m > 0.0:
            raise ValueError(
                f"approach {d.tolist()} with std {std_m}: give a direction (3,) and a std above 0, in m"
            )
        return cls(d, std_m)

    def share(self, world_T_target: Pose, world_T_ee: Pose) -> float:
        """Return the share of ``direction`` by which the pose to aim at lies before the target.

        Args:
            world_T_target: The target.
            world_T_ee: The present pose of the tool.

        Returns:
            0 on the line, up to 1 far beside it.
        """
        unit = self.direction / np.linalg.norm(self.direction)
        v = world_T_ee.translation_m - world_T_target.translation_m
        turned = float(np.linalg.norm(world_T_target.rotation.matrix() - world_T_ee.rotation.matrix()))
        d = float(np.linalg.norm(v - (v @ unit) * unit)) + TURN_SCALE_M * turned
        return 1.0 - float(np.exp(-0.5 * (d / self.std_m) ** 2))

    def shifted(self, world_T_target: Pose, world_T_ee: Pose) -> Pose:
        """Return the pose to aim at now.

        Args:
            world_T_target: The target.
            world_T_ee: The present pose of the tool.
        """
        back = self.share(world_T_target, world_T_ee) * self.direction
        return Pose.of(world_T_target.translation_m - back, world_T_target.rotation)


def are_close(a: Pose, b: Pose, distance_m: float, turn: float) -> bool:
    """Check whether two poses are near each other.

    The rotations are compared by a third of the Frobenius norm of the difference of their matrices. That is at most
    0.943: for a ``turn`` of 1 or more, rotations do not matter.

    Args:
        a: A pose.
        b: The other pose, in the same frame.
        distance_m: Largest distance of the origins, m.
        turn: Largest third of the difference of the rotation matrices.
    """
    apart = float(np.linalg.norm(a.translation_m - b.translation_m))
    return (
        apart <= distance_m and float(np.linalg.norm(a.rotation.matrix() - b.rotation.matrix())) / 3.0 <= turn
    )
