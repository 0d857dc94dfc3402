"""Writes ``robot.yaml`` and ``spheres.yaml`` of a derived robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Robot
from robot_description.import_robot.cup_facts import cup_yaml
from robot_description.import_robot.gripper_facts import GripperFacts
from robot_description.import_robot.new_robot import Described
from robot_description.import_robot.survey import FoundArm

DEFAULT_FORCE_N = 40.0
COARSE_LINE = (
    "# Coarse ones of `handiwork new-robot`: the same command with --refine puts closer ones in their place."
)
"""A line of ``spheres.yaml`` until the spheres are refined."""


def robot_yaml(described: Described) -> str:
    """Return the text of ``robot.yaml``.

    Args:
        described: The robot.
    """
    robot, wanted = described.robot, described.wanted
    lines = [
        f"# {wanted.name}, written by `handiwork new-robot`.",
        *(f"# Assumed: {line}" for line in described.remarks.assumed),
        *(f"# Missing: {line}" for line in described.remarks.missing),
        f"name: {wanted.name}",
        f"urdf: {wanted.urdf}",
        "spheres: spheres.yaml",
        "# Limits that a URDF cannot hold [rad/s^2, rad/s^3; m/s^2, m/s^3].",
        "limits:",
        *(f"  {j}: {{acceleration: {a:g}, jerk: {b:g}}}" for j, (a, b) in described.motion.items()),
        "# Pairs of links that never count as touching.",
        f"ignored_pairs:{'' if robot.ignored_pairs else ' []'}",
        *(f"- [{a}, {b}]  # {_why(described, (a, b))}" for a, b in sorted(robot.ignored_pairs)),
        "arms:",
    ]
    for name, arm in described.arms.items():
        lines += [
            f"  {name}:",
            f"    base_link: {arm.base_link}",
            f"    ee_link: {arm.ee_link}",
            f"    tcp_link: {arm.tcp_link}",
            f"    joints: [{', '.join(arm.joints)}]",
            f"    home: {_numbers(described.homes[name])}",
        ]
        if name in described.grippers and arm.gripper is not None:
            lines += [f"    {line}" for line in _gripper(name, arm, robot, described.grippers[name])]
        if described.cup is not None and described.cup.arm == name:
            lines += [f"    {line}" for line in cup_yaml(described.cup)]
    return "\n".join(lines) + "\n"


def spheres_yaml(described: Described) -> str:
    """Return the text of ``spheres.yaml``.

    Args:
        described: The robot.
    """
    covers = {cover.link: cover for cover in described.covers}
    lines = ["# Collision spheres in each link's frame [m]."]
    lines += [COARSE_LINE] * described.wanted.is_coarse
    lines += ["links:"]
    for item in described.robot.spheres:
        cover = covers.get(item.link)
        if cover is not None:
            lines.append(f"  # sticking out at most {cover.protrusion_m * 1e3:.0f} mm")
        lines.append(f"  {item.link}:")
        for center, radius in zip(item.centers, item.radii, strict=True):
            lines.append(f"  - {{center: {_numbers(center.round(4))}, radius: {round(float(radius), 5)}}}")
    return "\n".join(lines) + "\n"


def report(described: Described) -> list[str]:
    """Return the findings for a person: coverage of each link, then assumed, doubtful and missing values.

    Args:
        described: The robot.

    Returns:
        Lines of text.
    """
    lines = [f"{'link':<28}{'spheres':>8}{'sticking out':>14}{'uncovered':>11}"]
    for cover in described.covers:
        out, gap = f"{cover.protrusion_m * 1e3:.1f} mm", f"{cover.gap_m * 1e3:.1f} mm"
        lines.append(f"{cover.link:<28}{cover.count:>8}{out:>14}{gap:>11}")
    checked = sum(verdict.pair not in described.robot.ignored_pairs for verdict in described.verdicts)
    lines.append(
        f"pairs of links: {checked} to check, {len(described.verdicts) - checked} that need no check"
    )
    remarks = described.remarks
    parts = (("assumed", remarks.assumed), ("doubtful", remarks.doubtful), ("missing", remarks.missing))
    return [*lines, *(f"{what}: {text}" for what, texts in parts for text in texts)]


def _why(described: Described, pair: tuple[str, str]) -> str:
    if pair in described.apart:
        return "spheres touch, shapes never"
    kinds = {verdict.pair: verdict.kind.value for verdict in described.verdicts}
    return kinds.get(pair, "given")


def _gripper(name: str, arm: FoundArm, robot: Robot, facts: GripperFacts) -> list[str]:
    assert arm.gripper is not None
    joint, widths = robot.joints[arm.gripper.joint], facts.rows[:, 1]
    slope = facts.slope
    low, high = (0.0, slope * joint.upper) if slope is not None else (widths.min(), widths.max())
    force = joint.effort if joint.type is JointKind.PRISMATIC and joint.effort > 0.0 else DEFAULT_FORCE_N
    towards, closing = (np.eye(3)[axis] for axis in (facts.ee_axis, facts.closing_axis))
    matrix = np.stack([towards, closing, np.cross(towards, closing)], axis=1)
    return [
        "gripper:",
        f"  name: {name.removesuffix('_arm')}_gripper",
        f"  joint: {joint.name}",
        f"  finger_links: [{', '.join(facts.finger_links)}]",
        f"  min_width: {round(float(low), 4)}",
        f"  max_width: {round(float(high), 4)}",
        *_widths(facts, slope),
        f"  max_force: {force:g}",
        f"  home_width: {round(float(high), 4)}",
        f"  ee_axis: {facts.ee_axis}",
        f"  closing_axis: {facts.closing_axis}",
        f"  tcp_offset: {round(float(facts.tcp_m[facts.ee_axis]), 5)}",
        "  R_ee_graspnet:",
        *(f"  - {_numbers(row)}" for row in matrix),
    ]


def _widths(facts: GripperFacts, slope: float | None) -> list[str]:
    if slope is not None:
        return [f"  width_per_joint: {slope:g}"]
    return ["  width_table:", *(f"  - {_numbers(row)}" for row in facts.rows.round(5))]


def _numbers(values: Sequence[float] | Array) -> str:
    return f"[{', '.join(repr(round(float(v), 6) + 0.0) for v in values)}]"
