"""The sorting cell over ROS: cubes and joints from topics, points to the arm, the gripper by its action."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future

from decider_node.motion.command import MotionCommand
from decider_node.ros.arm import RosArm
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState, ObjectState, World
from handiwork_core.robot.joint_history import JointHistory
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions.gripper import gripper_action, gripper_goal
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.safe_callbacks import guard


class RosSortingCell(RosArm):
    """A ``SortingPort`` on one arm with a gripper.

    Args:
        node: Hosts publisher and clients.
        source: The newest world.
        robot: Its description.
        arm: The arm; its gripper has fingers.
        colours: Beginnings of the names of cubes, before ``_``.
        force_n: Force of a finger, N.

    Raises:
        ValueError: The arm has no fingers.
    """

    def __init__(
        self,
        node: Node,
        source: RosWorldSource,
        robot: Robot,
        arm: ArmSpec,
        colours: Collection[str],
        force_n: float,
    ) -> None:
        if arm.gripper is None or arm.gripper.suction is not None:
            raise ValueError(
                f"arm {arm.name!r} has no fingers, which the cubes need; choose an arm with a gripper"
            )
        super().__init__(node, source, robot, arm, clearance_m=0.001)
        self._gripper, self._colours, self._force_n = arm.gripper, tuple(colours), force_n
        self._client = ActionClient(
            node, gripper_action(arm.gripper), f"{arm.gripper.name}_controller/gripper_cmd"
        )
        self._wanted_m: float | None = None
        self._version = -1
        self._history = JointHistory()
        self._posture = (
            arm.home_q.copy()
        )  # one array, which can be written: the kernels are compiled for that

    @property
    def knows_all(self) -> bool:
        """True when joints, objects and the gripper's server are there."""
        has_width = self._gripper.joint in self._positions
        return (
            super().knows_all and bool(self._world.objects) and has_width and self._client.server_is_ready()
        )

    def see(self, joints: Any) -> float:
        """Take joint_states and the newest world, whose fixed objects the arm avoids; see ``RosArm.see``.

        Args:
            joints: The message of ``joint_states``.

        Returns:
            Stamp of the message, s.
        """
        stamp_s = super().see(joints)
        self._history.take(JointState(stamp_s, dict(self._positions), {}))
        if self._world.version != self._version:
            self._version = self._world.version
            self.controller.set_world(_fixed(self._world))
        return stamp_s

    def cubes(self) -> Mapping[str, ObjectState]:
        """Return the objects whose names begin with a colour and ``_``."""
        found = self._world.states
        return {name: state for name, state in found.items() if name.split("_")[0] in self._colours}

    def tip_at(self, stamp_s: float) -> Pose:
        """Return the pose of the tool's tip in world at an earlier time, from the joints that were measured then.

        Args:
            stamp_s: The time, s; at one of before the first joints the tip is where it is now.
        """
        then = self._history.at(stamp_s)
        return self.tip() if then is None else self.tip_of(np.array([then[n] for n in self._arm.joint_names]))

    def width(self) -> float:
        """Return the measured opening, m."""
        return float(self._gripper.width(self._positions[self._gripper.joint]))

    def grip(self, width_m: float) -> None:
        """Send a goal to the gripper when the width is a new one; its effect is seen in the measured width.

        Args:
            width_m: Wanted opening, m.
        """
        if width_m == self._wanted_m:
            return
        self._wanted_m = width_m
        goal = gripper_goal(self._gripper, float(self._gripper.position(width_m)), self._force_n)
        sent = self._client.send_goal_async(goal)
        sent.add_done_callback(guard(self._node, self._on_accepted))

    def _on_accepted(self, sent: Future) -> None:
        handle = sent.result()
        if handle is None or not handle.accepted:
            self._wanted_m = None  # asked again at the next tick
            self._node.get_logger().error(
                "the gripper refused a goal; it is sent again", throttle_duration_sec=5.0
            )

    def go(self, command: MotionCommand) -> None:
        """Set the command of the next cycles, reached near the arm's home.

        Args:
            command: A command for the tip.
        """
        posture = self._posture if command.posture is None else command.posture
        near = MotionCommand(
            command.world_T_target, command.approach, posture, command.world_v_target, command.speed
        )
        super().go(near)


def _fixed(world: World) -> World:
    """Return the objects that do not move."""
    names = [name for name, body in world.objects.items() if body.is_static and name in world.states]
    return World(
        world.stamp_s,
        objects={name: world.objects[name] for name in names},
        states={name: world.states[name] for name in names},
    )
