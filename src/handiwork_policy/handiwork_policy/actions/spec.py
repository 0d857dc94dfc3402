"""The numbers of an action: which they are, and how an arm does them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_policy.protocol.errors import BadAnswer
from handiwork_policy.protocol.policy import ACTIONS

from .inverse_kinematics import solve, turned


class ActionSpace(Enum):
    """The space of a policy's actions, without the number of the gripper."""

    JOINT_POSITION = "joint_position"
    """Joint positions, rad or m."""
    JOINT_DELTA = "joint_delta"
    """Changes of the joint positions from action to action, rad or m."""
    EE_POSE = "ee_pose"
    """Pose of the EE in the arm's base: x, y, z, m, and a rotation vector, rad."""
    EE_DELTA = "ee_delta"
    """Change of that pose from action to action: x, y, z, m, and a rotation vector, rad, in the axes of the base."""


FIELDS = {
    "action_dim": "action_space",
    "action_space": "action_space",
    "gripper": "gripper",
    "action_horizon": "chunk",
}
"""Key of a server's metadata -> the setting that it must fit."""


class GripperSpace(Enum):
    """The last number of an action."""

    NONE = "none"
    """There is none."""
    WIDTH = "width"
    """Opening, m."""
    OPEN_SHARE = "open_share"
    """0 closed, 1 open."""
    CLOSED_SHARE = "closed_share"
    """0 open, 1 closed, as DROID has it."""


@dataclass(frozen=True, eq=False)
class ActionChunk:
    """Commands of consecutive steps.

    Attributes:
        q: Joint positions, (h, dof), rad or m.
        width_m: Openings of the gripper, (h,), m; nan: as it is.
    """

    q: Array
    width_m: Array

    def __len__(self) -> int:
        return len(self.q)


class ActionDecoder:
    """Checks a policy's actions, and turns them into joint positions and openings.

    Args:
        robot: The robot.
        arm: The arm.
        space: The space of the actions.
        gripper: Meaning of the last number.
        horizon: Number of actions in a chunk; 0: any.
        scale: Factor on deltas; 1 for SI units.

    Raises:
        ValueError: The arm has no such gripper.
    """

    def __init__(
        self,
        robot: Robot,
        arm: ArmSpec,
        space: ActionSpace,
        gripper: GripperSpace,
        horizon: int = 0,
        scale: float = 1.0,
    ) -> None:
        if gripper is not GripperSpace.NONE and (arm.gripper is None or arm.gripper.suction is not None):
            raise ValueError(
                f"gripper is {gripper.value!r}, but arm {arm.name!r} has no fingers; write 'none'"
            )
        self._arm, self._space, self._gripper = arm, space, gripper
        self._horizon, self._scale = horizon, scale
        self._dof = len(arm.joint_names)
        joints = [robot.joints[name] for name in arm.joint_names]
        self._low, self._high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
        self._kinematics = ArmKinematics(robot, arm)

    @property
    def size(self) -> int:
        """Number of numbers in an action."""
        is_joint = self._space in (ActionSpace.JOINT_POSITION, ActionSpace.JOINT_DELTA)
        return (self._dof if is_joint else 6) + (self._gripper is not GripperSpace.NONE)

    @property
    def is_relative(self) -> bool:
        """True where actions are changes."""
        return self._space in (ActionSpace.JOINT_DELTA, ActionSpace.EE_DELTA)

    def check_metadata(self, about: Mapping[str, Any]) -> None:
        """Check what a server says about its policy, where it says it.

        Args:
            about: The server's metadata.

        Raises:
            BadAnswer: The policy was made for other actions.
        """
        wanted = {"action_dim": self.size, "action_space": self._space.value, "gripper": self._gripper.value}
        if self._horizon:
            wanted["action_horizon"] = self._horizon
        if "joint" in self._space.value:
            self._check_joints(about.get("joint_names"))
        for key, value in wanted.items():
            if key in about and about[key] != value:
                text = f"the server's {key} is {about[key]!r}, but the goal asks for {value!r}"
                raise BadAnswer(
                    f"{text}; correct the goal, or give the server that belongs to it", FIELDS[key]
                )

    def _check_joints(self, names: Sequence[str] | None) -> None:
        mine = list(self._arm.joint_names)
        if names is not None and list(names) != mine:
            unknown = [name for name in names if name not in mine]
            text = f"the server's joint_names are {list(names)}, but arm {self._arm.name!r} has {mine}"
            what = f"; {unknown[0]!r} is unknown" if unknown else ""
            raise BadAnswer(f"{text}{what}; give the server that belongs to this arm", "server")

    def decode(self, answer: Mapping[str, Any], q: Array) -> ActionChunk:
        """Turn an answer into commands.

        Args:
            answer: The server's map.
            q: Joint positions to which deltas refer, and from which poses are solved, (dof,), rad or m.

        Returns:
            The commands; positions are within the joints' limits only as far as the policy cared.

        Raises:
            BadAnswer: The answer does not fit; names the field.
        """
        actions = self._checked(answer)
        body = actions[:, : self._dof] if "joint" in self._space.value else actions[:, :6]
        width: Array = np.full(len(actions), np.nan)
        if self._gripper is not GripperSpace.NONE:
            width = self._widths(actions[:, -1])
        return ActionChunk(self._positions(body, q), width)

    def _checked(self, answer: Mapping[str, Any]) -> Array:
        if ACTIONS not in answer:
            raise BadAnswer(
                f"the answer has no {ACTIONS!r}, only {sorted(map(str, answer))}; correct the server"
            )
        try:
            actions = np.asarray(answer[ACTIONS], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadAnswer(f"{ACTIONS} are no numbers ({error}); correct the server") from error
        if actions.ndim != 2 or not len(actions) or actions.shape[1] != self.size:
            shape = list(actions.shape)
            raise BadAnswer(
                f"{ACTIONS} has the shape {shape}; {self._space.value} with gripper {self._gripper.value} "
                f"needs [steps, {self.size}]"
            )
        if self._horizon and len(actions) != self._horizon:
            raise BadAnswer(
                f"{ACTIONS} has {len(actions)} steps, but chunk is {self._horizon}; correct one of them"
            )
        if not np.isfinite(actions).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(actions))[0])
            text = f"{ACTIONS}[{row}, {column}] is {actions[row, column]}"
            raise BadAnswer(f"{text}; numbers must be finite, correct the policy")
        return actions

    def _widths(self, numbers: Array) -> Array:
        gripper = self._arm.gripper
        assert gripper is not None
        low, high = gripper.min_width_m, gripper.max_width_m
        if self._gripper is GripperSpace.WIDTH:
            return np.clip(numbers, low, high)
        share = np.clip(numbers, 0.0, 1.0)
        if self._gripper is GripperSpace.CLOSED_SHARE:
            share = 1.0 - share
        return np.asarray(low + share * (high - low))

    def _positions(self, body: Array, q: Array) -> Array:
        if self._space is ActionSpace.JOINT_POSITION:
            return body
        if self._space is ActionSpace.JOINT_DELTA:
            return np.asarray(q + self._scale * np.cumsum(body, axis=0))
        rows, here = list[Array](), np.asarray(q, dtype=np.float64)
        pose = self._kinematics.pose_and_jacobian(here)[0]
        for row in body:
            step = row if self._space is ActionSpace.EE_POSE else self._scale * row
            pose = turned(pose, step, is_delta=self._space is ActionSpace.EE_DELTA)
            here = solve(self._kinematics, pose, here, self._low, self._high)
            rows.append(here)
        return np.array(rows)
