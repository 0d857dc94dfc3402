"""Writes a scene for a new robot: table, cube and bin of ``config/scenes/tabletop.yaml``, where its hand reaches."""

from __future__ import annotations

import numpy as np

from handiwork_core.robot.followers import has_fixed_jaw, links_moved_by
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from robot_description.collision_pairs.many_poses import free_joints, many_link_poses
from robot_description.import_robot.working_area import WorkingArea

OUTER_M, MARGIN_M = 0.63, 0.05
"""Largest distance of cube and bin from the base in ``tabletop.yaml``, and what an arm needs beyond it, m."""
LEAST_OUTER_M = 0.2
"""Nearer to the base is no room for a bin beside a cube, m."""
CUBE_M, LEAST_CUBE_M, OF_OPENING = 0.045, 0.015, 0.6
"""Edge of the cube: the first, or this share of the gripper's opening, but not less than the second, m."""
AROUND_CUP_M = 0.005
"""Least distance of the rim of a suction cup from the edges of the cube, m."""
ONE_JAW_M, TALL_M = 0.024, 0.05
"""Width of the object for a hand with one moving jaw, whose TCP is 15 mm from the fixed one, m; and height of an object
narrower than the cube, whose middle would be lower than the fingers reach beyond the TCP, m."""
WALL_M, CLEAR_M, LEAST_SPREAD_M = 0.01, 0.01, 0.02
"""Wall of the bin, least distance of an open hand from it, and least spread of the object's places across, m."""
RIM_M = 0.02
"""Least height of a held cube over the rim of the bin, where the arm points its hand down at its highest, m."""
OF_STROKE = 0.3
"""Share of the stroke by which the object is wider than closed fingers, where they do not meet."""
FRONT_M, BESIDE_M = 0.2, 0.015
"""The x of the table's front in ``tabletop.yaml``, and its least distance from the robot's base, m."""

TEXT = """# Table, cube and bin where {robot} can point its hand down, {near:.2f} to {far:.2f} m from its base.
# Written by `handiwork new-robot` after config/scenes/tabletop.yaml. World z is 0 at the table top.
name: tabletop
robot_base: {{position: [0.0, 0.0, 0.0], yaw: 0.0}}
objects:
  floor:
    static: true
    pose: {{position: [0.0, 0.0, -0.80]}}
    shapes: [{{type: box, size: [4.0, 4.0, 0.1]}}]
    color: [0.35, 0.36, 0.38, 1.0]
  pedestal: # carries the arm; ends 1 mm below its base
    static: true
    pose: {{position: [-0.04, 0.0, -0.3755]}}
    shapes: [{{type: box, size: [0.26, 0.24, 0.749]}}]
    color: [0.42, 0.44, 0.48, 1.0]
  table:
    static: true
    pose: {{position: [{table:.3f}, 0.0, -0.025]}}
    shapes: [{{type: box, size: [0.80, 1.20, 0.05]}}]
    color: [0.72, 0.60, 0.45, 1.0]
  cube:
    mass: {mass:.3f}
    friction: 0.9
    pose: {{position: [{cube_x:.3f}, {cube_y:.3f}, {half:.4f}]}}
    shapes: [{{type: box, size: [{edge:.3f}, {edge:.3f}, {tall:.3f}]}}]
    color: [0.85, 0.25, 0.20, 1.0]
    randomize: {{x: [{low:.3f}, {high:.3f}], y: [{right:.3f}, {left:.3f}], yaw: [-0.785, 0.785]}}
  bin:
    static: true
    pose: {{position: [{bin_x:.3f}, {bin_y:.3f}, 0.0]}}
    container: {{inner: [{inner:.3f}, {inner:.3f}, {deep:.3f}], wall: 0.01}}
    color: [0.25, 0.45, 0.75, 1.0]
    randomize: {{x: [{bin_low:.3f}, {bin_high:.3f}], y: [{bin_right:.3f}, {bin_left:.3f}], yaw: [-0.2, 0.2]}}
  can:
    mass: 0.2
    pose: {{position: [{can_x:.3f}, {can_y:.3f}, 0.05]}}
    shapes: [{{type: cylinder, size: [0.03, 0.10]}}]
    color: [0.40, 0.65, 0.35, 1.0]
"""


def scene_yaml(robot: Robot, arm: ArmSpec, area: WorkingArea) -> str | None:
    """Return the text of a scene, with the places of ``tabletop.yaml`` drawn nearer as far as the arm needs it.

    Args:
        robot: The robot, with spheres.
        arm: Its arm, with a gripper or a suction cup.
        area: Where the arm points its hand down.

    Returns:
        The text; None if the area is too small for a cube and a bin.
    """
    assert arm.gripper is not None
    outer = min(OUTER_M, area.far_m - MARGIN_M)
    scale = outer / OUTER_M
    low, high = max(0.42 * scale, area.near_m), 0.58 * scale
    if outer < LEAST_OUTER_M or low > 0.5 * scale:
        return None
    edge, tall = _object_size(robot, arm.gripper)
    # Fingers hold the object at its middle, a cup at its top.
    hanging = tall if arm.gripper.suction is not None else 0.5 * tall
    deep = min(max(0.04, 0.08 * scale), area.over_m - hanging - RIM_M)
    inner = max(0.12, 0.22 * scale)
    # The open hand, or its jaw, passes beside the bin.
    beside = -0.27 * scale + 0.5 * inner + WALL_M + _open_m(arm.gripper) + CLEAR_M + 0.7 * edge
    right = max(0.02 * scale, beside)
    left = max(0.24 * scale, right + LEAST_SPREAD_M)
    front = max(FRONT_M * scale, _base_front(robot, arm) + BESIDE_M)
    return TEXT.format(
        robot=robot.name, near=area.near_m, far=area.far_m, table=front + 0.40,
        mass=0.1 * edge**2 * tall / CUBE_M**3, edge=edge, tall=tall, half=0.5 * tall, low=low, high=high,
        cube_x=0.5 * scale, cube_y=max(0.12 * scale, 0.5 * (right + left) if beside > 0.02 * scale else 0.0),
        right=right, left=left,
        bin_x=0.5 * scale, bin_y=-0.3 * scale, inner=inner, deep=deep,
        bin_low=0.47 * scale, bin_high=0.53 * scale, bin_right=-0.33 * scale, bin_left=-0.27 * scale,
        can_x=0.72 * scale + 0.03, can_y=0.20 * scale + 0.03,
    )  # fmt: skip


def _object_size(robot: Robot, gripper: GripperSpec) -> tuple[float, float]:
    """Return width and height of an object that fits between the fingers, or that the rim of a cup fits onto, m."""
    if gripper.suction is not None:
        edge = max(CUBE_M, 2.0 * (gripper.suction.radius_m + AROUND_CUP_M))
        return edge, edge
    stroke_m = gripper.max_width_m - gripper.min_width_m
    graspable_m = gripper.min_width_m + OF_STROKE * stroke_m
    edge = float(np.clip(max(OF_OPENING * gripper.max_width_m, graspable_m), LEAST_CUBE_M, CUBE_M))
    if has_fixed_jaw(robot.joints, gripper):
        edge = min(edge, ONE_JAW_M)
    return edge, edge if edge >= CUBE_M else TALL_M


def _open_m(gripper: GripperSpec) -> float:
    """Return the opening of the fingers, or the width of a suction cup, m."""
    return gripper.max_width_m if gripper.suction is None else 2.0 * gripper.suction.radius_m


def _base_front(robot: Robot, arm: ArmSpec) -> float:
    """Return how far the links that no joint of the arm moves reach ahead of the base link, m."""
    moved = links_moved_by(robot.joints, arm.joint_names)
    q = {j.name: np.array([float(np.clip(0.0, j.lower, j.upper))]) for j in free_joints(robot)}
    frames = many_link_poses(robot, q)
    turn, place = (part[0] for part in frames[arm.base_link])
    ends = [0.0]
    for item in robot.spheres:
        if item.link not in moved:
            own_turn, own_place = (part[0] for part in frames[item.link])
            centers = (item.centers @ own_turn.T + own_place - place) @ turn
            ends.append(float((centers[:, 0] + item.radii).max()))
    return max(ends)
