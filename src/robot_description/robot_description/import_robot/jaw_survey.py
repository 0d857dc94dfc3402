"""Measures a gripper with one moving jaw: where it is closed, how far it opens, and where it grips."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Joint, Robot

from .gripper_facts import TIP_M, GripperFacts, rising
from .survey import FoundArm, FoundGripper

STEPS = 41
ROWS = 9
REACH_M = 0.03
"""A jaw that has turned so far that its tip is this much behind does not grip any more, m."""
USUAL_M = 0.03
"""Width of an object for which the TCP is in its middle, m; less if the jaw opens less: only one side moves."""
OVERLAP_M = 0.06
"""Width beside the jaw in which the fixed jaw is looked for, m."""


def measure_jaw(
    robot: Robot, arm: FoundArm, gripper: FoundGripper, points: Mapping[str, Array]
) -> GripperFacts:
    """Measure a gripper with one moving jaw.

    Args:
        robot: The robot.
        arm: Its arm.
        gripper: The gripper, with ``fixed_links``.
        points: Points on the solids by link, in its frame, (n, 3), m.

    Raises:
        ValueError: One of the two jaws has no collision shape, or the opening is not measurable.
    """
    joint = robot.joints[gripper.joint]
    jaw = [link for link in gripper.links if link in points]
    hand = [link for link in gripper.fixed_links if link in points]
    if not jaw or not hand:
        raise ValueError(f"{joint.name}: the moving jaw or the hand has no collision shape; give it one")
    poses = link_poses(robot, {})
    back = poses[arm.ee_link].inverse()
    fixed = np.concatenate([(back @ poses[link]).apply(points[link]) for link in hand])
    positions = np.linspace(joint.lower, joint.upper, STEPS)
    clouds = [_jaw_points(robot, arm, joint, jaw, points, float(q)) for q in positions]
    ahead, closing = _axes(robot, arm, joint, clouds[0])
    if _opened(clouds, ahead, closing, fixed) < 0.0:
        closing = -closing
    reach = min(float((cloud @ ahead).max()) for cloud in (fixed, clouds[0]))
    wall = _wall(fixed, clouds[len(clouds) // 2], ahead, closing, reach)
    # The same points of the jaw at all positions: others would come and go as it turns.
    tips = (clouds[0] @ ahead >= reach - TIP_M) & (clouds[0] @ ahead <= reach)
    rows = [
        (float(q), max(0.0, float((cloud[tips] @ closing).min()) - wall))
        for q, cloud in zip(positions, clouds, strict=True)
        if float((cloud @ ahead).max()) > reach - REACH_M
    ]
    widths = rising(np.array([width for _, width in rows]))
    if widths is None:
        opened = [round(width, 4) for _, width in rows]
        raise ValueError(f"{joint.name}: the opening is {opened}; write gripper by hand")
    keep = np.linspace(0, len(rows) - 1, min(ROWS, len(rows))).round().astype(int)
    table = np.column_stack([[rows[i][0] for i in keep], widths[keep]])
    across = np.cross(ahead, closing)
    middle = 0.5 * (_spread(clouds[0] @ across) + _spread(_tips(fixed, ahead, reach) @ across))
    half = 0.5 * min(USUAL_M, float(widths.max()))
    tcp = (reach - 0.5 * TIP_M) * ahead + (wall + half) * closing + middle * across
    return GripperFacts(table, closing, tcp, (jaw[-1], hand[0]), ahead)


def _axes(robot: Robot, arm: FoundArm, joint: Joint, closed: Array) -> tuple[Array, Array]:
    """Return the direction from the hand to the tips, and that in which the jaw opens or closes, in the EE frame."""
    poses = link_poses(robot, {joint.name: joint.lower})
    ee_T_joint: Pose = poses[arm.ee_link].inverse() @ poses[joint.child]
    axis = np.asarray(ee_T_joint.rotation.matrix() @ joint.axis)
    if joint.type is JointKind.PRISMATIC:
        ahead = _beside(closed.mean(axis=0), axis)
        return ahead, axis
    far = closed[int(np.linalg.norm(closed - ee_T_joint.translation_m, axis=1).argmax())]
    ahead = _beside(far - ee_T_joint.translation_m, axis)
    tcp = (poses[arm.ee_link].inverse() @ poses[arm.tcp_link]).translation_m
    if np.linalg.norm(tcp) > 1e-4:  # the maker's frame tells it better than the jaw's slant
        nearest = np.sign(tcp) * (np.arange(3) == np.abs(tcp).argmax())
        if abs(nearest @ axis) < 0.5:
            ahead = _beside(nearest, axis)
    return ahead, np.asarray(np.cross(axis, ahead), dtype=np.float64)


def _beside(vector: Array, axis: Array) -> Array:
    """Return the unit vector of the part of a vector that is perpendicular to an axis."""
    part = vector - (vector @ axis) * axis
    out: Array = part / max(float(np.linalg.norm(part)), 1e-12)
    return out


def _jaw_points(
    robot: Robot, arm: FoundArm, joint: Joint, jaw: list[str], points: Mapping[str, Array], q: float
) -> Array:
    poses = link_poses(robot, {joint.name: q})
    back = poses[arm.ee_link].inverse()
    return np.concatenate([(back @ poses[link]).apply(points[link]) for link in jaw])


def _opened(clouds: list[Array], ahead: Array, closing: Array, fixed: Array) -> float:
    """Return how much farther from the fixed jaw the moving one is when it is open; along ``closing``, m."""
    reach = float((fixed @ ahead).max())
    wall = float((_tips(fixed, ahead, reach) @ closing).mean())
    near = [float((_tips(cloud, ahead, float((cloud @ ahead).max())) @ closing).mean()) for cloud in clouds]
    return near[int(np.abs(np.array(near) - wall).argmax())] - wall


def _tips(cloud: Array, ahead: Array, reach: float) -> Array:
    return cloud[cloud @ ahead >= reach - TIP_M]


def _wall(fixed: Array, jaw: Array, ahead: Array, closing: Array, reach: float) -> float:
    """Return where the fixed jaw ends towards the moving one, along ``closing``, m."""
    tips = _tips(fixed, ahead, reach) @ closing
    middle = float((_tips(jaw, ahead, float((jaw @ ahead).max())) @ closing).mean())
    behind = tips[(tips < middle) & (tips > middle - 10.0 * OVERLAP_M)]
    return float(behind.max()) if len(behind) else float(tips.min())


def _spread(values: Array) -> float:
    return 0.5 * float(values.min() + values.max())
