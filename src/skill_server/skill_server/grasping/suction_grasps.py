"""Grasps of a suction cup, made from an object's shapes, at places where its rim fits and can bear the load."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.suction import SuctionSpec
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from skill_server.geometry.solids import contains, object_box
from skill_server.state.gripper_reach import hand_links

from .antipodal_grasps import Grasp, GraspSet
from .suction_sites import places

TURNS = 8
"""The number of headings that are tried about the axis of the cup."""
PRESS_SHARE = 0.5
"""The part of the lip's reach that the rim goes beyond the surface, so that all of it touches."""
LOWEST_NORMAL = -0.1
"""Surfaces whose normal has a smaller z are left out: the arm cannot reach them from below."""
LOAD_SHARE = 0.7
"""The part of the greatest pull and moment that the weight alone may take, so that a motion has the rest."""
GRAVITY = 9.81
_SIDES = np.array([d for d in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
_SIDES /= np.linalg.norm(_SIDES, axis=1)[:, None]
MOST_ON_A_FACE = 9


@dataclass(frozen=True, slots=True, eq=False)
class CupTool:
    """The suction tool of an arm.

    Attributes:
        gripper: Gripper.
        cup: Suction cup.
        points: Points of the tool's surface behind the rim, in the EE frame, (n, 3), m.
    """

    gripper: GripperSpec
    cup: SuctionSpec
    points: Array


def cup_tool(robot: Robot, arm: ArmSpec, gripper: GripperSpec) -> CupTool:
    """Make the tool from the spheres of all links that move with the EE link and stay behind the lip.

    Args:
        robot: Robot with the spheres.
        arm: Arm with the tool.
        gripper: Gripper of the arm, which has a suction cup.

    Returns:
        The tool.
    """
    assert gripper.suction is not None
    poses, found = link_poses(robot, {}), []
    ee_T_root = poses[arm.ee_link].inverse()
    for spheres in robot.spheres:
        if spheres.link in hand_links(robot, arm):
            centers = (ee_T_root @ poses[spheres.link]).apply(spheres.centers)
            found += [centers + spheres.radii[:, None] * direction for direction in _SIDES]
    points = np.concatenate(found) if found else np.zeros((0, 3))
    before = gripper.tcp_offset_m - 2.0 * gripper.suction.reach_m
    return CupTool(gripper, gripper.suction, points[points[:, gripper.ee_axis] < before])


def suction_grasps(body: WorldObject, world_T_object: Pose, tool: CupTool) -> GraspSet:
    """Make grasps on the faces of a body, best first: from above and near the middle.

    The tool is clear of the body.

    Args:
        body: Object to grasp.
        world_T_object: Pose of the object.
        tool: Tool of the arm.

    Returns:
        The grasps; none when the object is too heavy.
    """
    cup, weight_n = tool.cup, body.mass_kg * GRAVITY
    if weight_n > LOAD_SHARE * cup.max_pull_n:
        most = LOAD_SHARE * cup.max_pull_n / GRAVITY
        return GraspSet((), f"it weighs {body.mass_kg:g} kg, and the cup lifts {most:.1f} kg")
    middle = (world_T_object @ object_box(body).pose).translation_m
    made: list[Grasp] = []
    below = heavy = blocked = 0
    for index, shape in enumerate(body.shapes):
        world_T_shape = world_T_object @ shape.object_T_shape
        taken: dict[int, int] = {}
        for place in places(shape, cup.radius_m, cup.reach_m):
            if taken.get(place.face, 0) >= MOST_ON_A_FACE and place.face:
                continue
            normal = world_T_shape.rotation.matrix() @ place.normal
            point = world_T_shape.apply(place.point)
            if normal[2] < LOWEST_NORMAL:
                below += 1
            elif weight_n * float(np.linalg.norm((middle - point)[:2])) > LOAD_SHARE * cup.max_moment_nm:
                heavy += 1
            elif _is_blocked(body, world_T_object, _pose(point, normal, 0.0, tool), tool, index):
                blocked += 1
            else:
                taken[place.face] = taken.get(place.face, 0) + 1
                made += _turned(point, normal, place.off_m, tool)
    removed = (
        f"{below} places look down, {heavy} would bear more than {LOAD_SHARE:.0%} of the cup's moment, "
        f"at {blocked} the tool would be in the object; others are smaller than the cup"
    )
    return GraspSet(tuple(sorted(made, key=lambda grasp: grasp.score)), removed)


def _turned(point: Array, normal: Array, off_m: float, tool: CupTool) -> list[Grasp]:
    """Return the grasps of one place in every heading."""
    steep = float(np.arccos(np.clip(normal[2], -1.0, 1.0))) / (np.pi / 2.0)
    turns = 2.0 * np.pi * np.arange(TURNS) / TURNS
    score = steep + 2.0 * off_m
    return [Grasp(_pose(point, normal, float(turn), tool), 0.0, score) for turn in turns]


def _pose(point: Array, normal: Array, turn_rad: float, tool: CupTool) -> Pose:
    gripper = tool.gripper
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    side = Rotation.from_axis_angle(normal, turn_rad).matrix() @ (side / np.linalg.norm(side))
    columns = np.zeros((3, 3))
    columns[:, gripper.ee_axis], columns[:, gripper.closing_axis] = -normal, side
    third = 3 - gripper.ee_axis - gripper.closing_axis
    columns[:, third] = np.cross(columns[:, (third + 1) % 3], columns[:, (third + 2) % 3])
    away = gripper.tcp_offset_m - PRESS_SHARE * tool.cup.reach_m
    return Pose.of(point + away * normal, Rotation.from_matrix(columns))


def _is_blocked(body: WorldObject, world_T_object: Pose, pose: Pose, tool: CupTool, own: int) -> bool:
    """Check whether the tool, or a rim that should be free, is inside of one of the body's shapes."""
    outside = pose.apply(tool.points)
    rim = pose.apply(_rim(tool))
    for index, shape in enumerate(body.shapes):
        shape_T_world = (world_T_object @ shape.object_T_shape).inverse()
        points = outside if index == own else np.concatenate([outside, rim])
        if contains(shape, shape_T_world.apply(points)).any():
            return True
    return False


def _rim(tool: CupTool) -> Array:
    """Return points (n, 3) on the rim, lifted by the lip's reach from its pressed position, in the EE frame."""
    angles = 2.0 * np.pi * np.arange(8) / 8
    points = np.zeros((8, 3))
    axis, gripper = tool.gripper.ee_axis, tool.gripper
    points[:, axis] = gripper.tcp_offset_m - 2.0 * tool.cup.reach_m
    points[:, (axis + 1) % 3] = tool.cup.radius_m * np.cos(angles)
    points[:, (axis + 2) % 3] = tool.cup.radius_m * np.sin(angles)
    return points
