"""One arm over ROS that follows the commands of a decider network: joints come in, points of its motion go out.

Messages arrive late and unevenly. The time of each point is that of the joints that it was made from and a cycle
more, so the arm moves smoothly; observations that are too old are not acted on, and the arm comes to rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, Settings
from decider_node.motion.irregular_ticks import STALE_S, UnevenCycles
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions import BadMessage, joint_state_from_msg, outcome_from_msg, time_from_msg
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.qos import LATEST


class RosArm:
    """The arm's part of a cell. ``see`` takes the joints and the world, ``move`` sends one cycle.

    Args:
        node: Hosts the publisher.
        source: The newest world.
        robot: Its description.
        arm: The arm, with a gripper.
        clearance_m: Smallest distance between bodies, m.

    Raises:
        ValueError: The arm has no gripper.
    """

    def __init__(
        self, node: Node, source: RosWorldSource, robot: Robot, arm: ArmSpec, clearance_m: float
    ) -> None:
        if arm.gripper is None:
            raise ValueError(f"arm {arm.name!r} has no gripper; choose an arm with one")
        self._node, self._source, self._arm = node, source, arm
        self.arm_joints = frozenset(arm.joint_names)
        self._ee_T_tip = Pose.of((0.0, 0.0, arm.gripper.tcp_offset_m))
        self._tip_T_ee = self._ee_T_tip.inverse()
        self.controller = ReactiveController(robot, arm, Pose.identity(), Settings(clearance_m=clearance_m))
        self._cycles = UnevenCycles(self.controller)
        self._world = World(0.0)
        self._positions: dict[str, float] = {}
        self._stamp = Time()
        self._measured: Array = np.zeros(0)
        self._rates: Array = np.zeros(0)
        self._command: MotionCommand | None = None
        self._points = node.create_publisher(JointTrajectory, f"{arm.controller}/joint_trajectory", LATEST)

    @property
    def knows_all(self) -> bool:
        """True when the objects were received."""
        return bool(self._world.states)

    @property
    def is_stale(self) -> bool:
        """True when the objects were observed too long before the joints."""
        return time_from_msg(self._stamp) - self._world.stamp_s > STALE_S

    def conflict(self) -> Outcome | None:
        """Return the conflict of two publishers on one topic, with their names and GIDs; None without one."""
        return self._source.conflict()

    def see(self, joints: Any) -> float:
        """Take joint_states and the newest world.

        Args:
            joints: The message of ``joint_states``.

        Returns:
            Stamp of the message, s.

        Raises:
            BadMessage: A number is not finite, a joint of the arm is missing, or a name occurs twice.
        """
        read = joint_state_from_msg(joints, "joint_states")
        missing = [n for n in self._arm.joint_names if n not in read.position or n not in read.velocity]
        if missing:
            raise BadMessage("joint_states", f"lacks position or velocity of {missing}; send both")
        self._positions.update(read.position)
        self._measured = np.array([read.position[name] for name in self._arm.joint_names])
        self._rates = np.array([read.velocity[name] for name in self._arm.joint_names])
        self._world, self._stamp = self._source.snapshot(), joints.header.stamp
        return time_from_msg(self._stamp)

    def move(self) -> None:
        """Publish the next point of the arm's motion."""
        command = None if self.is_stale else self._command
        stamp_s = time_from_msg(self._stamp)
        to = self._cycles.point(command, stamp_s, self._measured, self._rates)
        if to is None:
            return
        point = JointTrajectoryPoint(positions=to.q.tolist(), velocities=to.rate.tolist())
        point.time_from_start = Duration(nanosec=int(to.ahead_s * 1e9))
        message = JointTrajectory(joint_names=list(self._arm.joint_names), points=[point])
        message.header.stamp = self._stamp
        self._points.publish(message)

    def tip(self) -> Pose:
        """Return the pose of the tool's tip in world, from the measured joints."""
        return self.tip_of(self.joints())

    def tip_of(self, q: Array) -> Pose:
        """Return the pose of the tool's tip in world.

        Args:
            q: Joint positions, (n,), rad or m.
        """
        return self.controller.tool_pose(q) @ self._ee_T_tip

    def joints(self) -> Array:
        """Return the measured joint positions, (n,), rad or m."""
        return self._measured

    def go(self, command: MotionCommand) -> None:
        """Set the command of the next cycles.

        Args:
            command: A command for the tip; the controller's target is the flange.
        """
        flange = command.world_T_target @ self._tip_T_ee
        self._command = MotionCommand(
            flange, command.approach, command.posture, command.world_v_target, command.speed
        )

    def stop(self) -> None:
        """Brake from the next cycle on."""
        self._command = None

    def note(self, answer: Any, service: str) -> None:
        """Log a refusal: the network itself decides by the measured state only.

        Args:
            answer: Response of a service.
            service: Its name.
        """
        outcome = outcome_from_msg(answer.outcome)
        if not outcome.ok:
            text = f"{service} was refused: {outcome.code.name}: {outcome.message}"
            self._node.get_logger().error(text)
