"""Publishes what an arm carries at its flange, for a node that tells the robot's driver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np
from geometry_msgs.msg import Inertia, InertiaStamped, Vector3
from rclpy.node import Node
from std_msgs.msg import Header

from handiwork_core.contracts.planning import Attachment
from handiwork_core.dynamics.mass_properties import MassProperties, combined
from handiwork_core.dynamics.payload import load_mass, tool_mass
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher

SAME_M = 1e-3
"""A centre of mass that is nearer to the published one is no change, m: the pose in the hand is measured again."""


class PayloadTopics:
    """Publishes ``<arm>/load``, the held objects, and ``<arm>/payload``, the tool with them, latched.

    Both are in the frame of the flange; inertias are about the centre of mass.

    Args:
        node: Owns the publishers.
        robot: The robot.
        arm: The arm.
        objects: Returns the objects of the world by name.
    """

    def __init__(
        self, node: Node, robot: Robot, arm: ArmSpec, objects: Callable[[], Mapping[str, WorldObject]]
    ) -> None:
        self._node, self._robot, self._arm, self._objects = node, robot, arm, objects
        self._tool, self._lock = tool_mass(robot, arm), threading.Lock()
        self._load = load_mass(robot, arm, (), {})
        self._loads = LatchedPublisher(node, InertiaStamped, f"{arm.name}/load")
        self._payloads = LatchedPublisher(node, InertiaStamped, f"{arm.name}/payload")
        self._publish()

    def show(self, held: tuple[Attachment, ...]) -> None:
        """Publish both if what is held has changed; from any thread.

        Args:
            held: What the arm holds.
        """
        with self._lock:
            load = load_mass(self._robot, self._arm, held, self._objects())
            old, self._load = self._load, load
            if is_same(old, load):
                self._load = old
            else:
                self._publish()

    def _publish(self) -> None:
        header = Header(frame_id=f"{self._robot.name}/{self._arm.flange}")
        header.stamp = self._node.get_clock().now().to_msg()
        for publisher, mass in (
            (self._loads, self._load),
            (self._payloads, combined([self._tool, self._load])),
        ):
            publisher.publish(InertiaStamped(header=header, inertia=inertia_to_msg(mass)))


def is_same(old: MassProperties, new: MassProperties) -> bool:
    """Return True where the change is too small for a driver.

    Args:
        old: What was published.
        new: What is measured now.
    """
    off_m = float(np.linalg.norm(new.centre - old.centre))
    return old.mass_kg == new.mass_kg and off_m < SAME_M


def inertia_to_msg(mass: MassProperties) -> Inertia:
    """Return mass properties as a message; the tensor is about the centre of mass, in the axes of the frame.

    Args:
        mass: The properties.
    """
    tensor = mass.tensor()
    return Inertia(
        m=mass.mass_kg,
        com=Vector3(**dict(zip("xyz", mass.centre.tolist(), strict=True))),
        ixx=float(tensor[0, 0]),
        ixy=float(tensor[0, 1]),
        ixz=float(tensor[0, 2]),
        iyy=float(tensor[1, 1]),
        iyz=float(tensor[1, 2]),
        izz=float(tensor[2, 2]),
    )
