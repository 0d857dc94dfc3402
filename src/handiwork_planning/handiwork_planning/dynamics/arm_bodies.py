"""The rigid bodies that the joints of an arm move, from the URDF of the robot and what the arm holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.dynamics.link_masses import link_masses
from handiwork_core.dynamics.mass_properties import MassProperties, combined
from handiwork_core.dynamics.payload import object_mass
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot

from .inverse_dynamics import ArmBodies

GRAVITY = 9.81
"""Acceleration of free fall, m/s^2."""


class ArmMasses:
    """An arm with the masses of its links, at fixed positions of all joints that are not its own.

    Args:
        robot: The robot.
        arm: The arm.
        joint_positions: Positions of other joints, rad or m; those that are not named are at home.
        world_T_root: Pose of the robot's root link.

    Attributes:
        gravity: Acceleration of free fall in the frame of the link that carries the first joint, (3,), m/s^2.
    """

    def __init__(
        self, robot: Robot, arm: ArmSpec, joint_positions: Mapping[str, float], world_T_root: Pose
    ) -> None:
        poses = link_poses(robot, {k: v for k, v in joint_positions.items() if k not in arm.joint_names})
        joints = [robot.joints[name] for name in arm.joint_names]
        before = [joints[0].parent, *(joint.child for joint in joints[:-1])]
        frames = [
            poses[link].inverse() @ poses[joint.parent] @ joint.parent_T_joint
            for link, joint in zip(before, joints, strict=True)
        ]
        self._chain = (
            np.array([frame.rotation.matrix() for frame in frames]),
            np.array([frame.translation_m for frame in frames]),
            np.array([joint.axis for joint in joints]),
            np.array([int(joint.type is JointKind.PRISMATIC) for joint in joints]),
        )
        self._seat = _seats(robot, {joint.child: i for i, joint in enumerate(joints)})
        self._child_T_link = {
            link: poses[joints[i].child].inverse() @ poses[link] for link, i in self._seat.items()
        }
        masses = link_masses(robot.urdf)
        parts: list[list[MassProperties]] = [[] for _ in joints]
        for link, i in self._seat.items():
            if link in masses:
                parts[i].append(masses[link].placed(self._child_T_link[link]))
        self._whole = [combined(some) for some in parts]
        root_T_first = poses[joints[0].parent]
        self.gravity: Array = (world_T_root @ root_T_first).rotation.matrix().T @ np.array(
            [0.0, 0.0, -GRAVITY]
        )
        self._own = self._bodies(self._whole)

    def bodies(self, held: Sequence[tuple[Attachment, WorldObject]] = ()) -> ArmBodies:
        """Return the bodies of the arm with objects that it holds.

        Args:
            held: The objects, each with the link that holds it.
        """
        carried = [(one, body) for one, body in held if body.mass_kg > 0.0 and one.link in self._seat]
        if not carried:
            return self._own
        whole = list(self._whole)
        for one, body in carried:
            i, child_T_object = self._seat[one.link], self._child_T_link[one.link] @ one.link_T_object
            whole[i] = combined((whole[i], object_mass(body, child_T_object)))
        return self._bodies(whole)

    def _bodies(self, whole: Sequence[MassProperties]) -> ArmBodies:
        return ArmBodies(
            *self._chain,
            np.array([body.mass_kg for body in whole]),
            np.array([body.centre for body in whole]),
            np.array([body.tensor() for body in whole]),
        )


def _seats(robot: Robot, moved: Mapping[str, int]) -> dict[str, int]:
    """Return the joint of the arm that moves each link, by link; links that none moves are left out."""
    seats = dict[str, int]()
    for joint in robot.joints.values():
        if joint.child in moved:
            seats[joint.child] = moved[joint.child]
        elif joint.parent in seats:
            seats[joint.child] = seats[joint.parent]
    return seats
