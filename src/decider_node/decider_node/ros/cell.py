"""The stacking cell over ROS: bins and joints from the world's topics, points to the arm's, the cup by its service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from geometry_msgs.msg import Vector3
from handiwork_msgs.srv import SetBeltVelocity, SetSuction
from rclpy.node import Node

from decider_node.motion.irregular_ticks import STALE_S
from decider_node.ros.arm import RosArm
from decider_node.ros.repeated_request import RepeatedRequest
from decider_node.stacking.cell import StackingCell, obstacles
from decider_node.stacking.seeds import CupSolver
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import ObjectState
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.ports.world import RosWorldSource

NEVER_RECEIVED = SuctionState(0.0, False, False)


class RosCell(RosArm):
    """A ``CellPort`` on one arm with a suction cup.

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
        super().__init__(node, source, robot, arm, clearance_m=0.002)
        self._prefix, self._belt_mps = bins, site.belt.speed
        self.controller.set_world(obstacles(site))
        self._solver = CupSolver(self.controller, arm.gripper.tcp_offset_m)
        self._cup, self._suction = arm.gripper.name, NEVER_RECEIVED
        self._can_ask = False
        self._wanted: bool | None = None  # None: a new node finds the cup as the last one left it
        name = f"{arm.gripper.name}_controller"
        self._client = node.create_client(SetSuction, f"{name}/set_suction")
        self._cup_request = RepeatedRequest(node, self._client, lambda a: self.note(a, "set_suction"))
        self._belt_runs: bool | None = None
        self._belt_request = RepeatedRequest(
            node,
            node.create_client(SetBeltVelocity, "sim/set_belt_velocity"),
            lambda answer: self.note(answer, "set_belt_velocity"),
        )

    @property
    def knows_all(self) -> bool:
        """True when joints, cup and objects were received: a start without them would let go of the bin in the cup."""
        if not self._can_ask:  # a request without a server is lost
            self._can_ask = self._client.service_is_ready()
        return self._can_ask and self._suction.stamp_s > 0.0 and super().knows_all

    @property
    def is_stale(self) -> bool:
        """True when bins and cup were observed too long before the joints."""
        return time_from_msg(self._stamp) - min(self._world.stamp_s, self._suction.stamp_s) > STALE_S

    def see(self, joints: Any) -> float:
        """Take joint_states, the newest world, and the cup in it; see ``RosArm.see``.

        Args:
            joints: The message of ``joint_states``.

        Returns:
            Stamp of the message, s.
        """
        stamp_s = super().see(joints)
        self._suction = self._world.suction.get(self._cup, NEVER_RECEIVED)
        return stamp_s

    def bins(self) -> Mapping[str, ObjectState]:
        """Return the objects whose names begin as those of bins do."""
        return {n: s for n, s in self._world.states.items() if n.startswith(self._prefix)}

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
