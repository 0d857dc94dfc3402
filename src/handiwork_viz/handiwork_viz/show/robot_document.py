"""A page in Markdown about a robot: arms, grippers, limits, collision model, and where its numbers come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Joint, Robot, Spheres

ASSUMED = re.compile(
    r"estimated|assumed|written here|worked out|derived|no product|not published", re.IGNORECASE
)
"""A source with one of these words was not read anywhere: the value was assumed or worked out here."""
DASH = "-"
ENDLESS_RAD = 1000.0
"""A joint with a wider range than this turns without end."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Where some values of a robot come from.

    Attributes:
        what: The values.
        source: Their source.
    """

    what: str
    source: str

    @property
    def is_assumed(self) -> bool:
        """True when the source says that the values, or some of them, are not from the maker."""
        return ASSUMED.search(self.source) is not None


@dataclass(frozen=True, slots=True)
class RobotReadme:
    """What the README of a robot's folder says.

    Attributes:
        title: Its first heading, without the robot's name.
        sources: The rows of its table.
    """

    title: str
    sources: tuple[SourceRow, ...] = ()


def read_readme(text: str, robot: str) -> RobotReadme:
    """Read the README of a robot's folder.

    Args:
        text: Markdown with a heading and, where there is one, a table whose first two columns are the values and their
            source.
        robot: Name of the robot, which is the title where there is no heading.

    Returns:
        Title and sources.
    """
    heading = next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), robot)
    rows = [_cells(line) for line in text.splitlines() if line.startswith("|")]
    # The first two rows are the heads and the line below them.
    sources = tuple(SourceRow(row[0], row[1]) for row in rows[2:] if len(row) > 1)
    return RobotReadme(heading.removeprefix(f"{robot}: "), sources)


def robot_document(
    robot: Robot, readme: RobotReadme, picture: str = "", reach_pictures: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the page of a robot.

    Args:
        robot: The robot.
        readme: What its README says.
        picture: Address of a picture of the robot, relative to the page; empty for none.
        reach_pictures: Name of an arm, and address of the picture of its reach.

    Returns:
        The page, in Markdown.
    """
    parts = [f"# {robot.name}: {readme.title}"]
    if picture:
        parts.append(f"![{robot.name} at home, with its EE and TCP frames]({picture})")
    parts += ["## Arms", _arms(robot), "## Grippers", _grippers(robot), "## Limits", _limits(robot)]
    if reach_pictures:
        parts.append("## Reach")
        parts += [f"![Reach of {arm} of {robot.name}]({address})" for arm, address in reach_pictures]
        parts.append(
            "Shares of the orientations in which the TCP reaches a place, and the manipulability, by `handiwork reach`."
        )
    parts += ["## Collision model", _collision_model(robot), *_sources(readme)]
    return "\n\n".join(parts) + "\n"


def _arms(robot: Robot) -> str:
    heads = (
        "arm",
        "joints",
        "base link",
        "EE link",
        "TCP link",
        "home, rad or m",
        "controller",
        "rated payload, its tool, kg",
    )
    return _table(heads, (_arm_row(arm) for arm in robot.arms.values()))


def _arm_row(arm: ArmSpec) -> tuple[str, ...]:
    home = ", ".join(f"{value:.3g}" for value in arm.home_q)
    payload = f"{arm.rated_payload_kg:g}, {arm.tool_mass_kg:.2f}" if arm.rated_payload_kg else "not known"
    return (
        _code(arm.name), str(len(arm.joint_names)), _code(arm.base_link), _code(arm.ee_link), _code(arm.tcp_link),
        home, _code(arm.controller), payload,
    )  # fmt: skip


def _grippers(robot: Robot) -> str:
    heads = (
        "gripper",
        "arm",
        "opening, mm",
        "greatest force, N",
        "TCP before the EE, mm",
        "approach, closing axis",
        "action",
    )
    found = [(arm, arm.gripper) for arm in robot.arms.values() if arm.gripper is not None]
    if not found:
        return "None."
    return _table(heads, (_gripper_row(arm, gripper) for arm, gripper in found))


def _gripper_row(arm: ArmSpec, gripper: GripperSpec) -> tuple[str, ...]:
    opening = f"{1e3 * gripper.min_width_m:.3g} to {1e3 * gripper.max_width_m:.3g}"
    force, axes = f"{gripper.max_force_n:.4g}", f"{'xyz'[gripper.ee_axis]}, {'xyz'[gripper.closing_axis]}"
    if gripper.suction is not None:
        opening, force, axes = "suction cup", DASH, f"{'xyz'[gripper.ee_axis]}, {DASH}"
    offset = f"{1e3 * gripper.tcp_offset_m:.4g}"
    return _code(gripper.name), _code(arm.name), opening, force, offset, axes, _code(gripper.action_name)


def _limits(robot: Robot) -> str:
    moved = [
        joint for joint in robot.joints.values() if joint.type is not JointKind.FIXED and joint.mimic is None
    ]
    heads = ("joint", "position", "velocity, /s", "acceleration, /s^2", "jerk, /s^3", "effort", "unit")
    text = _table(heads, (_limit_row(joint) for joint in moved))
    held = ", ".join(f"{_code(name)} at {value:.3g}" for name, value in robot.posture.items())
    return f"{text}\n\nHeld where they are, and part of no arm: {held}." if held else text


def _limit_row(joint: Joint) -> tuple[str, ...]:
    slides = joint.type is JointKind.PRISMATIC
    rates = (joint.velocity, joint.acceleration, joint.jerk, joint.effort)
    values = [f"{value:.4g}" if value > 0.0 else DASH for value in rates]
    is_endless = joint.upper - joint.lower > ENDLESS_RAD
    position = "any" if is_endless else f"{joint.lower:.4g} to {joint.upper:.4g}"
    return _code(joint.name), position, *values, "m, N" if slides else "rad, Nm"


def _collision_model(robot: Robot) -> str:
    fine, coarse = _count(robot.spheres), _count(robot.coarse_spheres)
    text = f"{fine} spheres on {sum(len(s.radii) > 0 for s in robot.spheres)} links"
    if coarse:
        text += f", and {coarse} large ones for a GPU's optimiser, whose motions are checked with the others"
    return (
        f"{text}. {len(robot.ignored_pairs)} pairs of links are not checked, as they touch always or never."
    )


def _sources(readme: RobotReadme) -> list[str]:
    read = [row for row in readme.sources if not row.is_assumed]
    assumed = [row for row in readme.sources if row.is_assumed]
    parts = []
    for heading, rows in (
        ("## Values from sources", read),
        ("## Values assumed or worked out here", assumed),
    ):
        if rows:
            parts += [heading, _table(("what", "from"), ((row.what, row.source) for row in rows))]
    return parts


def _count(spheres: Iterable[Spheres]) -> int:
    return sum(len(item.radii) for item in spheres)


def _code(text: str) -> str:
    return f"`{text}`" if text else DASH


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
