"""The cell over ROS: bins and joints from the world's topics, points to the arm's, the cup by its service.

Messages arrive late and unevenly. The time of each point is that of the joints that it was made from and a cycle
more, so the arm moves smoothly; observations that are too old are not acted on, and the arm comes to rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Vector3
from handiwork_msgs.srv import SetBeltVelocity, SetSuction
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, Settings
from decider_node.motion.irregular_ticks import UnevenCycles
from decider_node.ros.repeated_request import RepeatedRequest
from decider_node.stacking.cell import STALE_S, StackingCell, obstacles
from decider_node.stacking.seeds import CupSolver
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions import BadMessage, joint_state_from_msg, outcome_from_msg, time_from_msg
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.qos import LATEST

NEVER_RECEIVED = SuctionState(0.0, False, False)


class RosCell:
    """A ``CellPort`` on one arm with a suction cup. ``see`` takes the world, ``move`` sends one cycle.

    Args:
        node: Hosts publisher and clients.
        source: The newest world.
        robot: Its description.
        arm: The arm; its gripper is a suction cup.
        bins: Beginning of the names of bins.
        site: The cell: belt, shelf, and the objects that the arm avoids.

    Raises:
        ValueError: The arm has no suction cup.
    """

    def __init__(
        self, node: Node, source: RosWorldSource, robot: Robot, arm: ArmSpec, bins: str, site: StackingCell
    ) -> None:
        if arm.gripper is None or arm.gripper.suction is None:
            raise ValueError(
                f"arm {arm.name!r} has no suction cup, which the bins need; choose an arm with one"
            )
        self._node, self._source, self._arm, self._prefix = node, source, arm, bins
        self.arm_joints = frozenset(arm.joint_names)
        self._ee_T_tip = Pose.of((0.0, 0.0, arm.gripper.tcp_offset_m))
        self.controller = ReactiveController(robot, arm, Pose.identity(), Settings(clearance_m=0.002))
        self.controller.set_world(obstacles(site))
        self._solver = CupSolver(self.controller, arm.gripper.tcp_offset_m)
        self._belt_mps = site.belt.speed
        self._cycles = UnevenCycles(self.controller)
        self._world = World(0.0)
        self._stamp = Time()
        self._measured: Array = np.zeros(0)
        self._rates: Array = np.zeros(0)
        self._cup, self._suction = arm.gripper.name, NEVER_RECEIVED
        self._can_ask = False
        self._wanted: bool | None = None  # None: a new node finds the cup as the last one left it
        self._command: MotionCommand | None = None
        name = f"{arm.gripper.name}_controller"
        self._client = node.create_client(SetSuction, f"{name}/set_suction")
        self._cup_request = RepeatedRequest(node, self._client, lambda a: self._note(a, "set_suction"))
        self._belt_runs: bool | None = None
        self._belt_request = RepeatedRequest(
            node,
            node.create_client(SetBeltVelocity, "sim/set_belt_velocity"),
            lambda answer: self._note(answer, "set_belt_velocity"),
        )
        self._points = node.create_publisher(JointTrajectory, f"{arm.controller}/joint_trajectory", LATEST)

    @property
    def knows_all(self) -> bool:
        """True when joints, cup and objects were received: a start without them would let go of the bin in the cup."""
        if not self._can_ask:  # a request without a server is lost
            self._can_ask = self._client.service_is_ready()
        return self._can_ask and self._suction.stamp_s > 0.0 and bool(self._world.states)

    @property
    def is_stale(self) -> bool:
        """True when bins and cup were observed too long before the joints."""
        return time_from_msg(self._stamp) - min(self._world.stamp_s, self._suction.stamp_s) > STALE_S

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
        self._measured = np.array([read.position[name] for name in self._arm.joint_names])
        self._rates = np.array([read.velocity[name] for name in self._arm.joint_names])
        self._world, self._stamp = self._source.snapshot(), joints.header.stamp
        self._suction = self._world.suction.get(self._cup, NEVER_RECEIVED)
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

    def bins(self) -> Mapping[str, ObjectState]:
        """Return the objects whose names begin as those of bins do."""
        return {n: s for n, s in self._world.states.items() if n.startswith(self._prefix)}

    def tip(self) -> Pose:
        """Return the pose of the cup's rim in world, from the measured joints."""
        return self.controller.tool_pose(self.joints()) @ self._ee_T_tip

    def joints(self) -> Array:
        """Return the measured joint positions, (n,), rad or m."""
        return self._measured

    def suction(self) -> SuctionState:
        """Return the last received state of the cup."""
        return self._suction

    def suck(self, *, on: bool) -> None:
        """Call the service of the cup when the request is a new one; its effect is seen in the measured state.

        Args:
            on: True to hold, False to let go.
        """
        if on != self._wanted:
            self._wanted = on
            self._cup_request.send(SetSuction.Request(on=on))

    def run_belt(self, *, on: bool) -> None:
        """Call the service of the belt when the request is a new one, as soon as there is a server.

        Args:
            on: True to run the belt, False to stop it.
        """
        if on != self._belt_runs:
            self._belt_runs = on
            velocity = Vector3(y=-self._belt_mps if on else 0.0)
            self._belt_request.send(SetBeltVelocity.Request(object="belt", velocity=velocity))

    def go(self, command: MotionCommand) -> None:
        """Set the command of the next cycles.

        Args:
            command: A command for the tip; the controller's target is the flange.
        """
        flange = command.world_T_target @ self._ee_T_tip.inverse()
        self._command = MotionCommand(
            flange, command.approach, command.posture, command.world_v_target, command.speed
        )

    def stop(self) -> None:
        """Brake from the next cycle on."""
        self._command = None

    def set_off(self, names: frozenset[str]) -> None:
        """Set which regions do not count now.

        Args:
            names: Their names.
        """
        self.controller.set_off(names)

    def configuration(self, world_T_tip: Pose, near: Array | None) -> Array | None:
        """Return a configuration for a pose of the tip.

        Args:
            world_T_tip: Pose of the tip.
            near: Joint positions to stay near, (n,), rad; None: any.

        Returns:
            Joint positions, (n,), rad; None when none was found.
        """
        return self._solver.configuration(world_T_tip, near)

    def _note(self, answer: Any, service: str) -> None:
        """Log a refusal: the network itself decides by the measured state only."""
        outcome = outcome_from_msg(answer.outcome)
        if not outcome.ok:
            text = f"{service} was refused: {outcome.code.name}: {outcome.message}"
            self._node.get_logger().error(text)
