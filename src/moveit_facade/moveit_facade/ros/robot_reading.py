"""The state of the robot: as it is measured, and as a request describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handiwork_core.model.geometry import Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import joint_state_from_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.ports.frames import UnknownFrame
from handiwork_ros.ports.world import RosWorldSource
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.scene.client_scene import ClientScene
from moveit_facade.scene.frames import Frames

STALE_S = 1.2
"""The age of ``joint_states`` from which on the robot is not known, s."""
LIMIT_SLACK = 1e-3
"""The excess of a joint over its limit that is the noise of a sensor, rad or m."""


@dataclass(frozen=True, eq=False)
class StartState:
    """The start of a request.

    Attributes:
        positions: Positions of all joints by name, rad or m.
        is_measured: True if it is the measured state.
        attached: Messages of the objects that it has attached, in addition to those of the scene.
        keeps_attached: False if only these are attached.
        world: Snapshot of the world.
    """

    positions: Mapping[str, float]
    is_measured: bool
    world: World
    attached: tuple[Any, ...] = field(default_factory=tuple)
    keeps_attached: bool = True


class RobotReader:
    """Reads states of the robot.

    Args:
        node: Gives the limits of silence.
        robot: The robot.
        source: The world.
    """

    def __init__(self, node: ManagedNode, robot: Robot, source: RosWorldSource) -> None:
        self._node, self._robot, self._source = node, robot, source
        self._moving = tuple(j.name for j in robot.joints.values() if j.type is not JointKind.FIXED)

    def measured(self) -> StartState:
        """Return the measured state.

        Raises:
            RequestError: ROBOT_STATE_STALE.
        """
        age_s = self._source.joint_age_s()
        if age_s > self._node.silence_limit_s(STALE_S):
            text = f"no good joint_states for {age_s:.1f} s: {self._source.joint_silence()}"
            raise RequestError(ErrorCode.ROBOT_STATE_STALE, text, "joint_states")
        world = self._source.snapshot()
        return StartState(self._whole(world.joints.position), True, world)

    def start_state(self, msg: Any, field: str = "start_state") -> StartState:
        """Read a ``moveit_msgs/msg/RobotState``; joints that it does not name have their measured positions.

        Args:
            msg: The message; without joints it is the measured state.
            field: Name of the message in errors.

        Raises:
            RequestError: The robot has no such joint, a position is missing or leaves its limits, or a joint of several
                degrees of freedom is given.
            BadMessage: A number is not finite.
        """
        if msg.multi_dof_joint_state.joint_names and list(msg.multi_dof_joint_state.joint_names) != [
            "virtual_joint"
        ]:
            text = (
                f"{field}.multi_dof_joint_state names {list(msg.multi_dof_joint_state.joint_names)[:3]}; "
                "the robot has no joint of several degrees of freedom"
            )
            raise RequestError(ErrorCode.INVALID_ROBOT_STATE, text)
        given = joint_state_from_msg(msg.joint_state, f"{field}.joint_state").position
        unknown = [name for name in given if name not in self._robot.joints]
        if unknown:
            text = f"{field}.joint_state names {unknown[0][:80]!r}, which is no joint of {self._robot.name!r}"
            raise RequestError(ErrorCode.INVALID_ROBOT_STATE, text)
        if all(name in given for name in self._moving if self._robot.joints[name].mimic is None):
            world = self._source.snapshot()
            base, is_measured = StartState({}, True, world), False
        else:
            base, is_measured = self.measured(), not given
        positions = self._whole({**base.positions, **given})
        self._check_limits(given, field)
        keeps = msg.is_diff or not given
        return StartState(positions, is_measured, base.world, tuple(msg.attached_collision_objects), keeps)

    def frames(self, start: StartState, scene: ClientScene) -> Frames:
        """Return the frames at a state.

        Args:
            start: The state.
            scene: The objects of clients.
        """
        poses = {name: state.world_T_object for name, state in start.world.states.items()}
        return Frames(
            self._robot, self.world_T_root(start.world), start.positions, scene, poses, self._look_up
        )

    def world_T_root(self, world: World) -> Pose:
        """Return the pose of the robot's root link.

        Args:
            world: The snapshot.

        Raises:
            RequestError: FRAME_TRANSFORM_FAILURE, while it is not known.
        """
        if self._robot.base is None and (known := world.frames.get("robot")) is not None:
            return known
        try:
            return self._source.world_T_base()
        except UnknownFrame as error:
            raise RequestError(ErrorCode.FRAME_TRANSFORM_FAILURE, f"/tf_static: {error}", "tf") from error

    def _look_up(self, name: str) -> Pose:
        return self._source.frames.lookup("world", name)

    def _whole(self, known: Mapping[str, float]) -> dict[str, float]:
        """Return the positions of all joints, mimics computed."""
        return {name: joint_position(self._robot, name, known) for name in self._moving}

    def _check_limits(self, given: Mapping[str, float], field: str) -> None:
        for name, value in given.items():
            joint = self._robot.joints[name]
            if joint.type is JointKind.FIXED or not joint.upper > joint.lower:
                continue
            if not joint.lower - LIMIT_SLACK <= value <= joint.upper + LIMIT_SLACK:
                text = (
                    f"{field}: joint {name!r} is at {value:.4f}, outside of its limits "
                    f"{joint.lower:.4f} to {joint.upper:.4f}"
                )
                raise RequestError(ErrorCode.START_STATE_INVALID, text)
