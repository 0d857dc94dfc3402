"""Robots made of spheres, from files, as the product's ``Robot``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TypedDict

import numpy as np

from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Joint, Robot, Spheres

from .urdf_text import write_urdf

DATA = Path(__file__).with_name("data")


@dataclass(frozen=True, slots=True)
class Motion:
    """Data that the sphere files lack: one number per joint [rad/s, rad/s^2, rad/s^3], and the rest pose [rad]."""

    base_link: str
    ee_link: str
    velocity: tuple[float, ...]
    acceleration: tuple[float, ...]
    jerk: tuple[float, ...]
    home: tuple[float, ...]


MOTION = {
    # Franka Control Interface documentation, limits for the Panda (frankaemika/docs, Apache-2.0).
    "panda": Motion(
        "panda_link0",
        "panda_hand",
        (2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61),
        (15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0),
        (7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0),
        (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785),
    ),
    # 180 deg/s: UR5 data sheet. 5 rad/s^2: ur_moveit_config (BSD-3-Clause). The jerk is an assumption.
    "ur5": Motion(
        "base_link",
        "ee_link",
        (3.141,) * 6,
        (5.0,) * 6,
        (500.0,) * 6,
        (1.57, -1.5707, 0.0, -1.5707, -1.57, 3.14),
    ),
}


class Frame(TypedDict):
    """One link. ``T``: (3, 4) rows of its pose in the parent at zero; ``joint``: index, or -1 if fixed."""

    name: str
    parent: str
    joint: int
    axis: list[float]
    T: list[list[float]]


class SphereFile(TypedDict):
    """Layout of ``data/<robot>_robot.json``; a sphere is link, x, y, z, radius."""

    name: str
    joint_names: list[str]
    lower: list[float]
    upper: list[float]
    frames: list[Frame]
    spheres: list[tuple[str, float, float, float, float]]
    self_pairs: list[tuple[str, str]]


@dataclass(frozen=True, slots=True, eq=False)
class SphereRobot:
    """A robot and the pose of its root in its problems' frame; ``mounted``: it stands on bodies of the world."""

    robot: Robot
    world_T_root: Pose
    mounted: bool = False

    @property
    def world_T_base(self) -> Pose:
        """The pose of its only arm's base, which must be fixed to the root."""
        base_link = self.robot.arm("").base_link
        return self.world_T_root @ link_poses(self.robot, {})[base_link]


def load_sphere_robot(name: str) -> SphereRobot:
    """Read ``panda`` or ``ur5``.

    Args:
        name: The name.

    Raises:
        KeyError: another name.
    """
    return build_sphere_robot(read_sphere_file(name), MOTION[name])


def read_sphere_file(name: str) -> SphereFile:
    """Read the file of ``panda`` or ``ur5`` as it is.

    Args:
        name: The name.

    Raises:
        KeyError: another name.
    """
    if name not in MOTION:
        raise KeyError(f"robot {name!r} is not one of {sorted(MOTION)}")
    content: SphereFile = json.loads((DATA / f"{name}_robot.json").read_text(encoding="utf-8"))
    return content


def build_sphere_robot(content: SphereFile, motion: Motion) -> SphereRobot:
    """Return the robot; the file's root is the world of its problems.

    Args:
        content: The file.
        motion: Limits, base, tool and home.
    """
    links = tuple(frame["name"] for frame in content["frames"])
    joints = [_joint(frame, content, motion) for frame in content["frames"] if frame["parent"]]
    spheres = [_spheres(link, content) for link in links if any(s[0] == link for s in content["spheres"])]
    arm = ArmSpec(
        f"{content['name']}_arm",
        motion.base_link,
        motion.ee_link,
        motion.ee_link,
        tuple(content["joint_names"]),
        frozen(motion.home),
        None,
    )
    robot = Robot(
        name=content["name"],
        root_link=links[0],
        links=links,
        joints={joint.name: joint for joint in joints},
        spheres=tuple(spheres),
        ignored_pairs=_ignored([s.link for s in spheres], content["self_pairs"]),
        arms={arm.name: arm},
        urdf=write_urdf(content["name"], links, joints, spheres),
    )
    return SphereRobot(robot, Pose.identity())


def _joint(frame: Frame, content: SphereFile, motion: Motion) -> Joint:
    placed = Pose.from_matrix(np.vstack([frame["T"], [0.0, 0.0, 0.0, 1.0]]))
    i, axis = frame["joint"], frozen(frame["axis"])
    if i < 0:
        name = f"{frame['name']}_fixed"
        return Joint(name, JointKind.FIXED, frame["parent"], frame["name"], placed, axis)
    return Joint(
        content["joint_names"][i],
        JointKind.REVOLUTE,
        frame["parent"],
        frame["name"],
        placed,
        axis,
        content["lower"][i],
        content["upper"][i],
        motion.velocity[i],
        motion.acceleration[i],
        motion.jerk[i],
        effort=100.0,
    )


def _spheres(link: str, content: SphereFile) -> Spheres:
    rows: Array = np.array([s[1:] for s in content["spheres"] if s[0] == link], dtype=np.float64)
    return Spheres(link, frozen(rows[:, :3]), frozen(rows[:, 3]))


def _ignored(links: list[str], checked: list[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return all pairs of links that the file does not name: it lists the checked pairs, a Robot the others."""
    wanted = {frozenset(pair) for pair in checked}
    return frozenset(
        (min(a, b), max(a, b)) for a, b in combinations(links, 2) if frozenset((a, b)) not in wanted
    )
