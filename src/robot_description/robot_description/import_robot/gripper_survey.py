"""Measures a gripper on its collision shapes: its opening, its closing axis, and the place of its fingertips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot

from .survey import FoundArm, FoundGripper

ROWS = 9
TIP_M = 0.02
"""Points this near to the farthest point of the fingers belong to the fingertip, m."""
GRIP_M = 0.01
"""Distance of the TCP behind the ends of the fingertips, if no frame defines it, m."""
LINE_M = 0.0005


@dataclass(frozen=True, slots=True, eq=False)
class GripperFacts:
    """The measured facts. Axes are those of the EE frame, 0 to 2.

    Attributes:
        rows: Joint position, rad or m, and opening, m, (n, 2).
        closing: Unit direction in which the fingers move apart, (3,).
        tcp_m: The TCP in the EE frame, (3,), m.
        finger_links: Links of the fingertips.
    """

    rows: Array
    closing: Array
    tcp_m: Array
    finger_links: tuple[str, ...]

    @property
    def closing_axis(self) -> int:
        """Index of the axis along which the fingers close."""
        return int(np.abs(self.closing).argmax())

    @property
    def ee_axis(self) -> int:
        """Index of the axis towards the TCP."""
        return int(np.abs(self.tcp_m).argmax())

    @property
    def slope(self) -> float | None:
        """Opening per joint position, if it is constant and the opening is zero at zero; else None."""
        x, y = self.rows.T
        # Rounded shapes may hold nearly closed fingers apart: the wider half is more reliable.
        factor = float((y[-1] - y[ROWS // 2]) / (x[-1] - x[ROWS // 2]))
        return round(factor, 4) if np.abs(factor * x - y).max() < LINE_M else None


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
    widths = np.array([_gap(a, b, closing, towards) for a, b in placed])
    steps = np.diff(widths)
    if not ((steps > 0.0).all() or (steps < 0.0).all()):
        raise ValueError(f"{gripper.joint}: the opening is {widths.round(4).tolist()}; write gripper by hand")
    links = tuple(link for side in sides for link in side if _is_tip(robot, arm, link, points, towards))
    return GripperFacts(np.stack([x, widths], axis=1), closing, tcp, links)


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
