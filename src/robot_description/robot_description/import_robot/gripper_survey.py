"""Measures a gripper on its collision shapes: its opening, its closing axis, and the place of its fingertips."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot

from .gripper_facts import ROWS, TIP_M, GripperFacts, rising
from .jaw_survey import measure_jaw
from .survey import FoundArm, FoundGripper

BEHIND_M, AHEAD_M = 0.025, 0.003
"""A maker's TCP that is farther behind the ends of the fingers, or ahead of them, is not taken, m.

Farther behind than half an object, a grasp from above would put the fingers into the table.
"""
GRIP_M = 0.01
"""Distance of the TCP behind the ends of the fingertips, if no frame defines it, m."""


def measure_gripper(
    robot: Robot, arm: FoundArm, gripper: FoundGripper, points: Mapping[str, Array]
) -> GripperFacts:
    """Measure a gripper.

    Args:
        robot: The robot.
        arm: Its arm.
        gripper: The gripper.
        points: Points on the solids by link, in its frame, (n, 3), m.

    Raises:
        ValueError: The fingers are not two, have no collision shapes, or do not open as the joint moves.
    """
    if gripper.fixed_links:
        return measure_jaw(robot, arm, gripper, points)
    sides = _sides(robot, gripper, points)
    joint = robot.joints[gripper.joint]
    x = np.linspace(joint.lower, joint.upper, ROWS)
    placed = [_placed(robot, arm, gripper, sides, points, float(q)) for q in x]
    apart = [b.mean(axis=0) - a.mean(axis=0) for a, b in placed]
    moved = apart[-1] - apart[0]
    closing = moved / max(float(np.linalg.norm(moved)), 1e-12)
    closing = closing if closing @ apart[int(np.linalg.norm(apart, axis=1).argmax())] > 0.0 else -closing
    tcp = _tcp(robot, arm, placed[ROWS // 2], int(np.abs(closing).argmax()))
    towards = np.sign(tcp) * (np.arange(3) == np.abs(tcp).argmax())
    note = _far_from_tips(arm, tcp, placed, towards)
    if note:
        tcp = _measured_tcp(placed[ROWS // 2], int(np.abs(closing).argmax()))
        towards = np.sign(tcp) * (np.arange(3) == np.abs(tcp).argmax())
    widths = np.array([_gap(a, b, closing, towards) for a, b in placed])
    level = rising(widths)
    if level is None:
        raise ValueError(f"{gripper.joint}: the opening is {widths.round(4).tolist()}; write gripper by hand")
    links = tuple(link for side in sides for link in side if _is_tip(robot, arm, link, points, towards))
    return GripperFacts(np.stack([x, level], axis=1), closing, tcp, links, note=note)


def _sides(robot: Robot, gripper: FoundGripper, points: Mapping[str, Array]) -> list[list[str]]:
    """Return the finger links with shapes, by the moving joint at the hand that carries them."""
    parents = {joint.child: joint.parent for joint in robot.joints.values()}
    sides: dict[str, list[str]] = {}
    for link in gripper.links:
        first = link
        while parents[first] in gripper.links:
            first = parents[first]
        if link in points:
            sides.setdefault(first, []).append(link)
    if len(sides) < 2:
        raise ValueError(
            f"{gripper.joint}: moves {len(sides)} fingers with collision shapes; give two of them shapes"
        )
    return list(sides.values())


def _placed(
    robot: Robot,
    arm: FoundArm,
    gripper: FoundGripper,
    sides: list[list[str]],
    points: Mapping[str, Array],
    q: float,
) -> tuple[Array, Array]:
    """Return points of the two sides in the EE frame; further sides are assigned to the nearer of the two."""
    poses = link_poses(robot, {gripper.joint: q})
    back = poses[arm.ee_link].inverse()
    clouds = [np.concatenate([(back @ poses[link]).apply(points[link]) for link in side]) for side in sides]
    axis = clouds[-1].mean(axis=0) - clouds[0].mean(axis=0)
    middle = 0.5 * (clouds[-1].mean(axis=0) + clouds[0].mean(axis=0))
    second = [(cloud.mean(axis=0) - middle) @ axis > 0.0 for cloud in clouds]
    a = np.concatenate([cloud for cloud, right in zip(clouds, second, strict=True) if not right])
    return a, np.concatenate([cloud for cloud, right in zip(clouds, second, strict=True) if right])


def _tcp(robot: Robot, arm: FoundArm, placed: tuple[Array, Array], closing_axis: int) -> Array:
    poses = link_poses(robot, {})
    tcp: Array = (poses[arm.ee_link].inverse() @ poses[arm.tcp_link]).translation_m
    if np.linalg.norm(tcp) > 1e-4:
        return tcp
    return _measured_tcp(placed, closing_axis)


def _far_from_tips(arm: FoundArm, tcp: Array, placed: list[tuple[Array, Array]], towards: Array) -> str:
    """Return why the maker's TCP frame is no place to grip at; empty if it lies between the fingertips."""
    reach = max(float(min((a @ towards).max(), (b @ towards).max())) for a, b in placed)
    ahead = float(tcp @ towards) - reach
    if arm.tcp_link == arm.ee_link or -BEHIND_M <= ahead <= AHEAD_M:
        return ""
    where = f"{abs(ahead) * 1e3:.0f} mm {'ahead of' if ahead > 0.0 else 'behind'} the ends of the fingers"
    return (
        f"{arm.tcp_link} of the URDF is {where}, where nothing can be gripped; tcp_link is a frame of our own"
    )


def _measured_tcp(placed: tuple[Array, Array], closing_axis: int) -> Array:
    both = np.concatenate(placed)
    middle = both.mean(axis=0)
    middle[closing_axis] = 0.0
    axis = int(np.abs(middle).argmax())
    sign = float(np.sign(middle[axis]))
    tcp = np.zeros(3)
    tcp[axis] = sign * (float((sign * both[:, axis]).max()) - GRIP_M)
    return tcp


def _gap(a: Array, b: Array, closing: Array, towards: Array) -> float:
    """Return the gap between the fingertips along the closing direction, not less than zero, m."""
    reach = min(float((a @ towards).max()), float((b @ towards).max()))
    tips = [cloud[cloud @ towards >= reach - TIP_M] @ closing for cloud in (a, b)]
    return max(0.0, float(tips[1].min() - tips[0].max()))


def _is_tip(robot: Robot, arm: FoundArm, link: str, points: Mapping[str, Array], towards: Array) -> bool:
    """Check whether a link reaches as far as the fingers do."""
    poses = link_poses(robot, {})
    back = poses[arm.ee_link].inverse()
    assert arm.gripper is not None
    reach = {
        each: float(((back @ poses[each]).apply(points[each]) @ towards).max())
        for each in arm.gripper.links
        if each in points
    }
    return reach[link] >= max(reach.values()) - TIP_M
