"""Arms to measure: the FR3 of this repository, a Panda and a UR10e from their makers' Denavit-Hartenberg tables.

The collision spheres of the latter two are rows along straight lines, made for these measurements only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.mbm.sphere_robot import Motion, build_sphere_robot
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, Joint, Robot, Spheres
from handiwork_core.robot_files.loader import load_robot

Point = tuple[float, float, float]
QUARTER = 0.5 * np.pi
AHEAD = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Row:
    """Spheres in a row, in the frame of a link.

    Attributes:
        link: Index of the link.
        radius: Radius, m.
        a: First centre, m.
        b: Last centre, m.
        count: Number of spheres.
    """

    link: int
    radius: float
    a: Point
    b: Point
    count: int = 2


# Link offsets and limits of the Panda: Denavit-Hartenberg table (Craig's convention) of frankaemika/docs, Apache-2.0.
PANDA_A = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
PANDA_D = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
PANDA_ALPHA = (0.0, -QUARTER, QUARTER, QUARTER, -QUARTER, QUARTER, QUARTER)
PANDA_LOWER = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
PANDA_UPPER = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
PANDA_ROWS = (
    Row(0, 0.09, (-0.09, 0.0, 0.06), (0.0, 0.0, 0.06)),
    Row(1, 0.08, (0.0, 0.0, -0.15), (0.0, 0.0, 0.0), 3),
    Row(2, 0.08, (0.0, -0.12, 0.0), (0.0, 0.0, 0.05), 3),
    Row(3, 0.07, (0.0, 0.0, -0.12), (0.08, 0.06, 0.0), 3),
    Row(4, 0.07, (0.0, 0.0, 0.05), (-0.08, 0.1, 0.0), 3),
    Row(5, 0.065, (0.0, 0.0, -0.23), (0.0, 0.07, 0.0), 5),
    Row(6, 0.055, (0.0, 0.0, 0.0), (0.09, 0.0, 0.0), 2),
    Row(7, 0.045, (0.0, 0.0, 0.07), (0.0, 0.0, 0.12), 2),
    Row(7, 0.035, (0.06, -0.06, 0.14), (-0.06, 0.06, 0.14), 5),
    Row(7, 0.025, (0.02, -0.02, 0.19), (-0.02, 0.02, 0.19), 3),
)

# The UR10e: "DH parameters for calculations of kinematics and dynamics", Universal Robots; limits: its data sheet.
UR10E_A = (0.0, -0.6127, -0.57155, 0.0, 0.0, 0.0)
UR10E_D = (0.1807, 0.0, 0.0, 0.17415, 0.11985, 0.11655)
UR10E_ALPHA = (QUARTER, 0.0, 0.0, QUARTER, -QUARTER, 0.0)
UR10E_TURNS = (2.0, 2.0, 1.0, 2.0, 2.0, 2.0)
UR10E_ROWS = (
    Row(0, 0.09, (0.0, 0.0, 0.05), (0.0, 0.0, 0.05), 1),
    Row(1, 0.08, (0.0, 0.0, 0.18), (0.0, 0.0, 0.18), 1),
    Row(2, 0.08, (0.0, 0.0, 0.17), (-0.6127, 0.0, 0.17), 8),
    Row(3, 0.06, (0.0, 0.0, 0.05), (-0.57155, 0.0, 0.05), 8),
    Row(4, 0.05, (0.0, 0.0, 0.12), (0.0, 0.0, 0.17), 2),
    Row(5, 0.05, (0.0, 0.0, 0.05), (0.0, 0.0, 0.11), 2),
    Row(6, 0.045, (0.0, 0.0, 0.05), (0.0, 0.0, 0.11), 2),
)


def fr3() -> Robot:
    """Return the FR3 of the product."""
    return load_robot(Path(__file__).parents[2] / "src/robot_description/robots/fr3")


def panda() -> Robot:
    """Return the Panda with its hand, whose frame is the tool."""
    along = [
        Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle((1.0, 0.0, 0.0), alpha)) @ Pose.of((a, 0.0, d))
        for a, d, alpha in zip(PANDA_A, PANDA_D, PANDA_ALPHA, strict=True)
    ]
    hand = Pose.of((0.0, 0.0, 0.107), Rotation.from_axis_angle(AHEAD, -0.25 * np.pi))
    home = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
    return _serial("panda", [*along, hand], PANDA_LOWER, PANDA_UPPER, home, PANDA_ROWS, apart=3)


def ur10e() -> Robot:
    """Return the UR10e in the axes of ROS, in which the base is turned by half a turn from the table."""
    after = [
        Pose.of((a, 0.0, d), Rotation.from_axis_angle((1.0, 0.0, 0.0), alpha))
        for a, d, alpha in zip(UR10E_A, UR10E_D, UR10E_ALPHA, strict=True)
    ]
    upper = [2.0 * np.pi if turns == 2.0 else np.pi for turns in UR10E_TURNS]
    home = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
    first = Pose.of((0.0, 0.0, 0.0), Rotation.from_axis_angle(AHEAD, np.pi))
    return _serial("ur10e", [first, *after], [-x for x in upper], upper, home, UR10E_ROWS, apart=2)


def from_file(path: Path, frame: str) -> Robot:
    """Return a robot of spheres from a file in the layout of ``mbm/data``.

    Args:
        path: The file; ``self_buffer`` of a link widens its spheres.
        frame: Name of the tool's link.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    for link in content["frames"]:
        link["T"] = link["T"][:3]
    buffer = content.get("self_buffer", {})
    content["spheres"] = [(s[0], *s[1:4], s[4] + buffer.get(s[0], 0.0)) for s in content["spheres"]]
    one = (1.0,) * len(content["joint_names"])
    middle = 0.5 * (np.array(content["lower"]) + np.array(content["upper"]))
    base = content["frames"][0]["name"]
    return build_sphere_robot(content, Motion(base, frame, one, one, one, tuple(middle))).robot


ARMS: dict[str, Callable[[], Robot]] = {"fr3": fr3, "panda": panda, "ur10e": ur10e}


def limits(robot: Robot) -> tuple[Array, Array]:
    """Return the lowest and highest positions, (dof,) each, rad.

    Args:
        robot: The robot.
    """
    joints = [robot.joints[name] for name in robot.arm("").joint_names]
    return np.array([j.lower for j in joints]), np.array([j.upper for j in joints])


def _serial(
    name: str,
    steps: list[Pose],
    lower: Sequence[float],
    upper: Sequence[float],
    home: Array,
    rows: tuple[Row, ...],
    apart: int,
) -> Robot:
    """Return a robot with a joint about z after each of ``steps`` but the last.

    Links nearer than ``apart`` in the chain are not tested against each other.
    """
    n = len(home)
    joints = {
        f"joint{i + 1}": Joint(
            f"joint{i + 1}",
            JointKind.REVOLUTE,
            f"link{i}",
            f"link{i + 1}",
            steps[i],
            AHEAD,
            lower[i],
            upper[i],
            1.0,
            1.0,
            1.0,
        )
        for i in range(n)
    }
    names = tuple(joints)
    joints["tool"] = Joint("tool", JointKind.FIXED, f"link{n}", "ee", steps[n], AHEAD)
    near = frozenset((f"link{i}", f"link{k}") for i in range(n + 1) for k in range(i, min(n + 1, i + apart)))
    arm = ArmSpec("arm", "link0", "ee", "ee", names, home, None)
    links = (*(f"link{i}" for i in range(n + 1)), "ee")
    spheres = tuple(_spheres(i, rows) for i in range(n + 1))
    return Robot(name, "link0", links, joints, spheres, near, {"arm": arm}, "")


def _spheres(link: int, rows: tuple[Row, ...]) -> Spheres:
    mine = [row for row in rows if row.link == link]
    centres = [np.linspace(row.a, row.b, row.count) for row in mine]
    radii = [np.full(row.count, row.radius) for row in mine]
    return Spheres(f"link{link}", np.concatenate(centres), np.concatenate(radii))
