"""The state of an observation: which numbers, and in which order."""

from __future__ import annotations

import re

import numpy as np

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot

STATE_WORDS = (
    "joint_position",
    "joint_velocity",
    "gripper_width",
    "gripper_open_share",
    "ee_pose",
    "object_pose(NAME)",
)
OBJECT = re.compile(r"object_pose\((?P<name>[^()]+)\)")


def is_state_word(word: str) -> bool:
    """Return True for a known part of a state.

    Args:
        word: The part.
    """
    return word in STATE_WORDS[:-1] or OBJECT.fullmatch(word) is not None


class StateLayout:
    """Makes the state of a snapshot.

    Poses are x, y, z, m, and the quaternion w, x, y, z with w at least 0, in ``world``.

    Args:
        robot: The robot.
        arm: The arm.
        words: The parts, in order.

    Raises:
        ValueError: A part is unknown, or the arm lacks it.
    """

    def __init__(self, robot: Robot, arm: ArmSpec, words: tuple[str, ...]) -> None:
        self._arm, self._words = arm, words
        self._kinematics = ArmKinematics(robot, arm)
        for word in words:
            if not is_state_word(word):
                raise ValueError(f"state has {word!r}; write some of {', '.join(STATE_WORDS)}")
            if word.startswith("gripper") and (arm.gripper is None or arm.gripper.suction is not None):
                raise ValueError(f"state has {word!r}, but arm {arm.name!r} has no fingers; take it out")

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of the objects whose poses it has."""
        found = (OBJECT.fullmatch(word) for word in self._words)
        return tuple(match["name"] for match in found if match)

    def check(self, world: World) -> str:
        """Return what the world lacks of it, in one sentence; empty for nothing.

        Args:
            world: A snapshot.
        """
        missing = [name for name in self.objects if name not in world.states]
        if missing:
            return f"state has object_pose({missing[0]}), but the known objects are {sorted(world.states)}"
        lost = [name for name in self._arm.joint_names if name not in world.joints.position]
        return (
            f"joint {lost[0]!r} of arm {self._arm.name!r} has no measured position; start its driver"
            if lost
            else ""
        )

    def make(self, world: World, world_T_base: Pose) -> Array:
        """Return the state, (n,), float32.

        Args:
            world: A snapshot that ``check`` accepts.
            world_T_base: Pose of the arm's base.
        """
        parts = self.parts(world, world_T_base)
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def parts(self, world: World, world_T_base: Pose) -> list[Array]:
        """Return the parts of the state, in order, each (n,), float32.

        Args:
            world: A snapshot that ``check`` accepts.
            world_T_base: Pose of the arm's base.
        """
        q = np.array([world.joints.position[name] for name in self._arm.joint_names])
        return [self._part(word, world, q, world_T_base).astype(np.float32) for word in self._words]

    def _part(self, word: str, world: World, q: Array, world_T_base: Pose) -> Array:
        if word == "joint_position":
            return q
        if word == "joint_velocity":
            return np.array([world.joints.velocity.get(name, 0.0) for name in self._arm.joint_names])
        if word == "ee_pose":
            matrix = world_T_base.matrix() @ self._kinematics.pose_and_jacobian(q)[0]
            return _row(Pose.of(matrix[:3, 3], Rotation.from_matrix(matrix[:3, :3])))
        gripper, match = self._arm.gripper, OBJECT.fullmatch(word)
        if match:
            return _row(world.states[match["name"]].world_T_object)
        assert gripper is not None
        width = gripper.width(world.joints.position[gripper.joint])
        share = (width - gripper.min_width_m) / (gripper.max_width_m - gripper.min_width_m)
        return np.array([width if word == "gripper_width" else np.clip(share, 0.0, 1.0)])


def _row(pose: Pose) -> Array:
    wxyz = np.asarray(pose.rotation.wxyz)
    return np.concatenate([pose.translation_m, wxyz if wxyz[0] >= 0.0 else -wxyz])
