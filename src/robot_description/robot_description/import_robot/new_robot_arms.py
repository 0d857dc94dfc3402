"""Names the arms of a new robot, measures their grippers, and collects remarks for a person."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import Robot
from handiwork_core.robot.urdf import UrdfModel
from robot_description.formats.given_robot import GivenRobot
from robot_description.solids.primitives import Solid

from .arm_faults import arm_faults
from .gripper_facts import GripperFacts
from .gripper_survey import measure_gripper
from .survey import FoundArm, RigidTree, find_arms

POINT_M = 0.004


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request for a new robot.

    Attributes:
        name: Name of the robot.
        urdf: Path of the description in robot.yaml.
        protrusion_m: Largest protrusion of spheres beyond shapes, m.
        samples: Number of configurations for the verdicts on pairs.
        seed: Seed of these configurations.
        is_coarse: Whether the arm gets few, large spheres, which are there sooner; those of hands stay as they are.
        cup_link: Link of a suction cup; empty: none.
        cup_radius_m: Radius of its rim, m; None: that of the end of its shape.
    """

    name: str
    urdf: str
    protrusion_m: float = 0.01
    samples: int = 5000
    seed: int = 0
    is_coarse: bool = False
    cup_link: str = ""
    cup_radius_m: float | None = None


@dataclass(slots=True)
class Remarks:
    """Remarks for a person: assumed values to check, data to add, and values that look wrong."""

    assumed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)


def named_arms(
    model: UrdfModel, urdf: Path, wanted: Wanted, given: GivenRobot, remarks: Remarks
) -> dict[str, FoundArm]:
    """Return the arms by name.

    Args:
        model: The URDF.
        urdf: Its file, for error texts.
        wanted: The request.
        given: Data of another tool's robot file.
        remarks: Receives the remarks.

    Raises:
        ConfigError: There is no arm, or one has faults.
    """
    found = find_arms(model, given.tips)
    if given.joints:
        kept = [replace(arm, joints=tuple(j for j in arm.joints if j in given.joints)) for arm in found]
        found = tuple(
            replace(arm, base_link=model.joints[arm.joints[0]].parent) for arm in kept if arm.joints
        )
    if not found:
        raise ConfigError(
            str(urdf), ["joints: no chain of four joints or more ends in a tool; Handiwork needs an arm"]
        )
    if faults := arm_faults(model, found, may_share=bool(given.tips or given.joints)):
        raise ConfigError(str(urdf), faults)
    names = _arm_names(wanted.name, found)
    for name, arm in zip(names, found, strict=True):
        chain = f"{len(arm.joints)} joints from {arm.base_link} to {arm.ee_link}"
        remarks.assumed.append(f"arms.{name}: {chain}")
    return dict(zip(names, found, strict=True))


def _arm_names(name: str, found: tuple[FoundArm, ...]) -> list[str]:
    """Return the common prefix of each arm's joints if the prefixes differ; else the names of the arms' tools."""
    if len(found) == 1:
        return [f"{name.removesuffix('_arm')}_arm"]
    starts = [re.sub(r"_*(arm)?_*(joint|j)?_*$", "", _start(arm.joints)) for arm in found]
    if all(starts) and len(set(starts)) == len(found):
        return [f"{start}_arm" for start in starts]
    return [f"{arm.ee_link}_arm" for arm in found]


def _start(names: tuple[str, ...]) -> str:
    """Return the common prefix of all names."""
    alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)


def measured(
    robot: Robot,
    arms: Mapping[str, FoundArm],
    solids: Mapping[str, tuple[Solid, ...]],
    remarks: Remarks,
    cup_arm: str = "",
) -> dict[str, GripperFacts]:
    """Measure the grippers; a gripper that cannot be measured gives a remark.

    Args:
        robot: The robot.
        arms: Arms by name.
        solids: Solids by link, in its frame.
        remarks: Receives the remarks.
        cup_arm: Name of the arm with a suction cup, which has no fingers; empty: none.

    Returns:
        Measured grippers by the name of their arm.
    """
    found = {}
    for name, arm in arms.items():
        if name == cup_arm:
            continue
        key = f"arms.{name}.gripper"
        if arm.gripper is None:
            remarks.missing.append(f"{key}: {_no_gripper(robot, arm)}")
            continue
        try:
            points = {
                link: points_of(solids[link])
                for link in (*arm.gripper.links, *arm.gripper.fixed_links)
                if link in solids
            }
            facts = measure_gripper(robot, arm, arm.gripper, points)
        except ValueError as error:
            remarks.missing.append(f"{key}: {error}")
            continue
        found[name] = facts
        low, high = facts.rows[:, 1].min(), facts.rows[:, 1].max()
        remarks.assumed.append(f"{key}: opens {low * 1e3:.1f} to {high * 1e3:.1f} mm by {arm.gripper.joint}")
        if facts.note:
            remarks.doubtful.append(f"arms.{name}.tcp_link: {facts.note}")
    return found


def _no_gripper(robot: Robot, arm: FoundArm) -> str:
    """Return why an arm has no gripper, and what to do."""
    tree = RigidTree(robot)
    if tree.below[tree.body[arm.ee_link]]:
        return "no fingers that one joint drives were found; add <mimic>, or write it by hand"
    text = f"no joint moves a finger at {arm.ee_link!r}"
    return f"{text}; name the link of a suction cup by --suction, or take a description with joints of its fingers"


def points_of(shapes: tuple[Solid, ...], step_m: float = POINT_M) -> Array:
    """Return points on and in the shapes of a link.

    Args:
        shapes: The shapes, in the link's frame.
        step_m: Distance of the points, m.

    Returns:
        Points in the link's frame, (n, 3), m.
    """
    return np.concatenate([shape.grid(step_m) for shape in shapes])
