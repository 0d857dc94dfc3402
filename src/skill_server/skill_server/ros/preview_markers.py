"""Draws the newest plan for RViz and Foxglove on ``preview/markers``: the tool's path, and the hand at each end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions import pose_to_msg, time_to_msg
from handiwork_ros.rclpy_support.qos import LATCHED
from skill_server.preview.skill_plan import PlannedMotion, SkillPlan
from skill_server.state.gripper_reach import hand_links

LINE_M, TEXT_M = 0.004, 0.025
COLOURS = (
    ColorRGBA(r=0.12, g=0.47, b=0.71, a=0.9),
    ColorRGBA(r=1.0, g=0.5, b=0.05, a=0.9),
    ColorRGBA(r=0.17, g=0.63, b=0.17, a=0.9),
    ColorRGBA(r=0.58, g=0.4, b=0.74, a=0.9),
)
"""The colours of successive motions."""
GHOST = 0.25
"""The opacity of the hand at the end of a motion."""


class PreviewMarkers:
    """Publishes the plans, each in place of the one before.

    Args:
        node: Owns the publisher; its executor publishes.
        robot: Robot of the plans.
    """

    def __init__(self, node: Node, robot: Robot) -> None:
        self._node, self._robot = node, robot
        self._pub = node.create_publisher(MarkerArray, "preview/markers", LATCHED)

    def show(self, plan: SkillPlan) -> None:
        """Publish a plan; from any thread.

        Args:
            plan: The plan.
        """
        message = MarkerArray(markers=[Marker(action=Marker.DELETEALL), *markers(plan, self._robot)])
        self._node.executor.create_task(lambda: self._pub.publish(message))


def markers(plan: SkillPlan, robot: Robot) -> list[Marker]:
    """Return the markers of a plan in ``world``; the namespace of each begins with the name of its stage.

    Args:
        plan: The plan.
        robot: Its robot.
    """
    made = list[Marker]()
    for number, motion in enumerate(plan.motions):
        colour = COLOURS[number % len(COLOURS)]
        for marker in _motion(motion, robot, colour):
            marker.header.frame_id, marker.header.stamp = "world", time_to_msg(plan.before.world.stamp_s)
            marker.id, marker.lifetime = len(made), Duration(sec=int(plan.kept_for_s))
            made.append(marker)
    return made


def _motion(motion: PlannedMotion, robot: Robot, colour: ColorRGBA) -> Iterator[Marker]:
    for name, world_T_ee in motion.world_T_ee.items():
        yield from _way(motion.stage, world_T_ee, robot, robot.arms[name], colour)


def _way(
    stage: str, world_T_ee: Sequence[Pose], robot: Robot, arm: ArmSpec, colour: ColorRGBA
) -> Iterator[Marker]:
    end, tool = world_T_ee[-1], np.zeros(3)
    if arm.gripper is not None:
        tool[arm.gripper.ee_axis] = arm.gripper.tcp_offset_m
    points = [_point(pose.apply(tool)) for pose in world_T_ee]
    line = Marker(ns=f"{stage} path", type=Marker.LINE_STRIP, color=colour, points=points)
    line.scale.x, line.pose.orientation.w = LINE_M, 1.0
    yield line
    name = Marker(ns=f"{stage} name", type=Marker.TEXT_VIEW_FACING, color=colour, text=stage)
    name.scale.z, name.pose = TEXT_M, pose_to_msg(end)
    yield name
    ghost = ColorRGBA(r=colour.r, g=colour.g, b=colour.b, a=GHOST)
    for center, radius_m in _hand(robot, arm):
        ball = Marker(ns=f"{stage} hand", type=Marker.SPHERE, color=ghost)
        ball.pose.position, ball.pose.orientation.w = _point(end.apply(center)), 1.0
        ball.scale = Vector3(x=2.0 * radius_m, y=2.0 * radius_m, z=2.0 * radius_m)
        yield ball


def _hand(robot: Robot, arm: ArmSpec) -> Iterator[tuple[Array, float]]:
    """Yield the collision spheres of hand and fingers in the frame of the EE: center (3,) [m] and radius [m]."""
    fingers = arm.gripper.finger_links if arm.gripper is not None else ()
    links, poses = {*hand_links(robot, arm), *fingers}, link_poses(robot, {})
    ee_T_root = poses[arm.ee_link].inverse()
    for spheres in robot.spheres:
        if spheres.link in links:
            centers = (ee_T_root @ poses[spheres.link]).apply(spheres.centers)
            yield from zip(centers, np.broadcast_to(spheres.radii, len(centers)).tolist(), strict=True)


def _point(p_m: Array) -> Point:
    x, y, z = (float(value) for value in p_m)
    return Point(x=x, y=y, z=z)
