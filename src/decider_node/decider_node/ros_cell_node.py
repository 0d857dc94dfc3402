"""The cell over ROS: bins and joints from the world's topics, points to the arm's, the cup by its service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Vector3
from handiwork_msgs.msg import SuctionState as SuctionStateMsg
from handiwork_msgs.srv import SetBeltVelocity, SetSuction
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, Settings
from decider_node.stacking.cell import BELT_MPS
from decider_node.stacking.seeds import seeds
from handiwork_core.geometry import Array, Pose
from handiwork_core.robot import ArmSpec, Robot
from handiwork_core.suction import SuctionState
from handiwork_core.world import ObjectState, World
from handiwork_ros.guards import guard
from handiwork_ros.qos import LATEST
from handiwork_ros.world_source import RosWorldSource

SHORTEST_S, LONGEST_S = 0.002, 0.05


class RosCell:
    """A ``CellPort`` on one arm with a suction cup. ``see`` takes the world, ``move`` sends one cycle."""

    def __init__(
        self, node: Node, source: RosWorldSource, robot: Robot, arm: ArmSpec, bins: str, obstacles: World
    ) -> None:
        if arm.gripper is None or arm.gripper.suction is None:
            raise ValueError(f"arm {arm.name!r} has no suction cup: the bins are held by one")
        self._node, self._source, self._arm, self._prefix = node, source, arm, bins
        self._ee_T_tip = Pose.of((0.0, 0.0, arm.gripper.tcp_offset_m))
        self.controller = ReactiveController(robot, arm, Pose.identity(), Settings(clearance_m=0.002))
        self.controller.set_world(obstacles)
        self._world = World(0.0)
        self._suction = SuctionState(0.0, False, False)
        self._wanted: bool | None = None  # a node that begins anew finds the cup as the last one left it
        self._command: MotionCommand | None = None
        name = f"{arm.gripper.name}_controller"
        self._states = node.create_subscription(
            SuctionStateMsg, f"{name}/suction_state", guard(node, self._heard), LATEST
        )
        self._client = node.create_client(SetSuction, f"{name}/set_suction")
        self._belt_runs: bool | None
        self._belt, self._belt_runs = node.create_client(SetBeltVelocity, "sim/set_belt_velocity"), None
        self._points = node.create_publisher(JointTrajectory, f"{arm.controller}/joint_trajectory", LATEST)

    @property
    def knows_all(self) -> bool:
        """Joints, cup and objects have been heard of: who begins without would let go of what the cup holds."""
        names = self._arm.joint_names
        heard = self._suction.stamp_s > 0.0 and bool(self._world.states)
        return heard and all(n in self._world.joints.position for n in names)

    def see(self) -> float:
        """Takes the newest world; returns the time of the joints [s]."""
        self._world = self._source.snapshot()
        return self._world.joints.stamp_s

    def move(self, dt: float) -> None:
        """Sends the next point of the arm's motion, for a cycle of ``dt`` [s]."""
        was_late = dt > LONGEST_S
        q, dt, arm = self.joints(), min(max(dt, SHORTEST_S), LONGEST_S), self.controller
        if was_late:  # the arm went on, or braked, without us
            arm.begin(q, np.array([self._world.joints.velocity[name] for name in self._arm.joint_names]))
        reference = arm.stop(q, dt) if self._command is None else arm.step(self._command, q, dt)
        point = JointTrajectoryPoint(positions=reference.q.tolist(), velocities=reference.rate.tolist())
        point.time_from_start = Duration(nanosec=int(dt * 1e9))
        self._points.publish(JointTrajectory(joint_names=list(self._arm.joint_names), points=[point]))

    def bins(self) -> Mapping[str, ObjectState]:
        """Objects whose names begin as those of bins do."""
        return {n: s for n, s in self._world.states.items() if n.startswith(self._prefix)}

    def tip(self) -> Pose:
        """From the measured joints."""
        return self.controller.tool_pose(self.joints()) @ self._ee_T_tip

    def joints(self) -> Array:
        """Measured."""
        return np.array([self._world.joints.position[name] for name in self._arm.joint_names])

    def suction(self) -> SuctionState:
        """As last heard."""
        return self._suction

    def suck(self, *, on: bool) -> None:
        """Calls the service where the wish is a new one; the answer is seen in the state."""
        if on != self._wanted:
            self._wanted = on
            self._client.call_async(SetSuction.Request(on=on))

    def run_belt(self, *, on: bool) -> None:
        """Calls the service where the wish is a new one."""
        if on != self._belt_runs:
            self._belt_runs = on
            self._belt.call_async(
                SetBeltVelocity.Request(object="belt", velocity=Vector3(y=-BELT_MPS if on else 0.0))
            )

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

    def _heard(self, message: Any) -> None:
        stamp_s = message.stamp.sec + 1e-9 * message.stamp.nanosec
        self._suction = SuctionState(stamp_s, message.on, message.sealed, message.object)
