"""The places of objects in the frames of the hands, in n worlds. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from conditionals_node.views.batch_worlds import Poses
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World
from handiwork_core.robot.batch_kinematics import BatchChain
from handiwork_core.robot.robot import Robot

from .happened import Flags, Indices

ROOT = "robot"
"""The frame that is the robot's root link."""


class HandPoses:
    """Computes the poses of a robot's hands from its joints: a hand without an object is no object of the world.

    Args:
        robot: Its description.
    """

    def __init__(self, robot: Robot) -> None:
        # The frame of a mobile robot is its base, which the joints below the root move.
        root = robot.root_link if robot.base is None else robot.base.link
        hands = [arm.ee_link for arm in robot.arms.values() if arm.gripper is not None]
        self._chains = [BatchChain(robot, hand, root) for hand in hands]

    def offsets(
        self, place_m: Array, gripped: Flags, joints: Mapping[str, Array], frames: Mapping[str, Poses]
    ) -> Array:
        """Return the places of gripped objects in the frames of the hands.

        Args:
            place_m: Origins of the objects in world, (m, n, 3), m.
            gripped: Objects between the fingers, or under a cup that is sealed, (m, n).
            joints: Measured positions by joint, (n,), rad or m.
            frames: Poses of frames that are no objects.

        Returns:
            (m, n, h, 3), m; nan where an object is not gripped, or where the root's pose or a joint of the arm is not
            known.
        """
        found: Array = np.full((*gripped.shape, len(self._chains), 3), np.nan)
        root = frames.get(ROOT)
        if root is None or not gripped.any():
            return found
        which, world = np.nonzero(gripped)
        for hand, chain in enumerate(self._chains):
            if all(name in joints for name in chain.drivers):
                world_T_hand = _along(chain, joints, root, world)
                offset_m = place_m[which, world] - world_T_hand[:, :3, 3]
                found[which, world, hand] = np.einsum("kji,kj->ki", world_T_hand[:, :3, :3], offset_m)
        return found

    def offsets_of_one(self, place_m: Array, gripped: Flags, world: World) -> Array:
        """Return the places of gripped objects in the frames of the hands; see ``offsets``.

        Args:
            place_m: Origins of the objects in world, (m, 1, 3), m.
            gripped: Objects between the fingers, or under a cup that is sealed, (m, 1).
            world: The snapshot.
        """
        if not gripped.any():
            return np.full((*gripped.shape, len(self._chains), 3), np.nan)
        joints = {name: np.array([value]) for name, value in world.joints.position.items()}
        frames = {
            name: Poses(pose.translation_m[None], pose.rotation.wxyz[None])
            for name, pose in world.frames.items()
        }
        return self.offsets(place_m, gripped, joints, frames)


def _along(chain: BatchChain, joints: Mapping[str, Array], root: Poses, world: Indices) -> Array:
    """Return the poses (k, 4, 4) of the end of a chain in k worlds."""
    base = np.tile(np.eye(4), (len(world), 1, 1))
    base[:, :3, :3], base[:, :3, 3] = _matrices(root.wxyz[world]), root.position[world]
    return chain.poses({name: joints[name][world] for name in chain.drivers}, base)


def _matrices(wxyz: Array) -> Array:
    """Return the rotation matrices (k, 3, 3) of unit quaternions (k, 4)."""
    w, x, y, z = wxyz.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), -1, 0)
