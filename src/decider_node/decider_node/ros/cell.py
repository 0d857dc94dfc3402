"""The cell over ROS: bins and joints from the world's topics, points to the arm's, the cup by its service.

Messages come late and unevenly. Each point says for when it is, the time of the joints that it was made from and a
cycle more, so the arm goes smoothly; what is seen too late is not acted on, and the arm comes to rest.
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
from decider_node.stacking.cell import BELT_MPS, STALE_S
from decider_node.stacking.seeds import seeds
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions import BadMessage, joint_state_from_msg, outcome_from_msg, time_from_msg
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.qos import LATEST

NEVER_HEARD = SuctionState(0.0, False, False)


class RosCell:
    """A ``CellPort`` on one arm with a suction cup. ``see`` takes the world, ``move`` sends one cycle."""

    def __init__(
        self, node: Node, source: RosWorldSource, robot: Robot, arm: ArmSpec, bins: str, obstacles: World
    ) -> None:
        if arm.gripper is None or arm.gripper.suction is None:
            raise ValueError(f"arm {arm.name!r} has no suction cup: the bins are held by one")
        self._node, self._source, self._arm, self._prefix = node, source, arm, bins
        self.arm_joints = frozenset(arm.joint_names)
        self._ee_T_tip = Pose.of((0.0, 0.0, arm.gripper.tcp_offset_m))
        self.controller = ReactiveController(robot, arm, Pose.identity(), Settings(clearance_m=0.002))
        self.controller.set_world(obstacles)
        self._cycles = UnevenCycles(self.controller)
        self._world = World(0.0)
        self._stamp = Time()
        self._measured: Array = np.zeros(0)
        self._rates: Array = np.zeros(0)
        self._cup, self._suction = arm.gripper.name, NEVER_HEARD
        self._can_ask = False
        self._wanted: bool | None = None  # a node that begins anew finds the cup as the last one left it
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
        """Joints, cup and objects have been heard of: who begins without would let go of what the cup holds."""
        if not self._can_ask:  # a request to nobody is lost
            self._can_ask = self._client.service_is_ready()
        return self._can_ask and self._suction.stamp_s > 0.0 and bool(self._world.states)

    @property
    def is_stale(self) -> bool:
        """Bins and cup were seen too long before the joints."""
        return time_from_msg(self._stamp) - min(self._world.stamp_s, self._suction.stamp_s) > STALE_S

    def conflict(self) -> Outcome | None:
        """That two publishers send what only one may, with their names and GIDs; None while all is well."""
        return self._source.conflict()

    def see(self, joints: Any) -> float:
        """Take joint_states and the newest world; return the time of the joints [s].

        Raises:
            BadMessage: a number is not finite, a joint of the arm is missing, or a name occurs twice.
        """
        read = joint_state_from_msg(joints, "joint_states")
        missing = [n for n in self._arm.joint_names if n not in read.position or n not in read.velocity]
        if missing:
            raise BadMessage("joint_states", f"lacks position or velocity of {missing}; send both")
        self._measured = np.array([read.position[name] for name in self._arm.joint_names])
        self._rates = np.array([read.velocity[name] for name in self._arm.joint_names])
        self._world, self._stamp = self._source.snapshot(), joints.header.stamp
        self._suction = self._world.suction.get(self._cup, NEVER_HEARD)
        return time_from_msg(self._stamp)

    def move(self) -> None:
        """Sends the next point of the arm's motion."""
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
        """Objects whose names begin as those of bins do."""
        return {n: s for n, s in self._world.states.items() if n.startswith(self._prefix)}

    def tip(self) -> Pose:
        """From the measured joints."""
        return self.controller.tool_pose(self.joints()) @ self._ee_T_tip

    def joints(self) -> Array:
        """Measured."""
        return self._measured

    def suction(self) -> SuctionState:
        """As last heard."""
        return self._suction

    def suck(self, *, on: bool) -> None:
        """Calls the service where the wish is a new one; the answer is seen in the state."""
        if on != self._wanted:
            self._wanted = on
            self._cup_request.send(SetSuction.Request(on=on))

    def run_belt(self, *, on: bool) -> None:
        """Calls the service where the wish is a new one, as soon as there is one."""
        if on != self._belt_runs:
            self._belt_runs = on
            velocity = Vector3(y=-BELT_MPS if on else 0.0)
            self._belt_request.send(SetBeltVelocity.Request(object="belt", velocity=velocity))

    def go(self, command: MotionCommand) -> None:
        """The controller's target is the flange."""
        flange = command.world_T_target @ self._ee_T_tip.inverse()
        self._command = MotionCommand(
            flange, command.approach, command.posture, command.world_v_target, command.speed
        )

    def stop(self) -> None:
        """Brakes from the next cycle on."""
        self._command = None

    def set_off(self, names: frozenset[str]) -> None:
        """Regions that do not count."""
        self.controller.set_off(names)

    def configuration(self, world_T_tip: Pose, near: Array | None) -> Array | None:
        """Joints for a pose of the tip."""
        return self.controller.configuration(world_T_tip @ self._ee_T_tip.inverse(), seeds(world_T_tip, near))

    def _note(self, answer: Any, service: str) -> None:
        """Log a refusal: the network itself decides by the measured state only."""
        outcome = outcome_from_msg(answer.outcome)
        if not outcome.ok:
            text = f"{service} was refused: {outcome.code.name}: {outcome.message}"
            self._node.get_logger().error(text)
