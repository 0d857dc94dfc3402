"""Converts a robot to cuRobo's robot configuration, so that its spheres and pairs have only one source.

Format: NVlabs/curobo, Apache-2.0, ``robot_cfg.kinematics`` of version 2.0.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import followers_of
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import ArmSpec, Robot

Ignored = dict[str, list[str]]
"""Links that need no check against the link that is the key."""

FORMAT_VERSION = 2.0
HELD_SPHERES = 100


@dataclass(frozen=True, slots=True)
class CuroboUse:
    """The use of a configuration.

    A joint that is neither in an arm nor locked has the position of ``kinematics.joint_position``.

    Attributes:
        arms: Names of the arms that plan.
        locked: Positions of other joints by name, rad or m.
        held_spheres: Number of spheres reserved for the objects that each arm holds.
    """

    arms: tuple[str, ...]
    locked: Mapping[str, float] = field(default_factory=dict)
    held_spheres: int = HELD_SPHERES


def held_link(use: CuroboUse, arm: str) -> str:
    """Return the name of the link that carries the spheres of held objects; cuRobo's own default if there is one arm.

    Args:
        use: The use of the configuration.
        arm: Name of the arm.
    """
    return "attached_object" if len(use.arms) == 1 else f"attached_object_{arm}"


def follower_fault(robot: Robot) -> str:
    """Return why cuRobo does not get a robot whose arms have joints that follow theirs; empty for other robots.

    Args:
        robot: The robot.
    """
    for arm in robot.arms.values():
        if names := [each.name for name in arm.joint_names for each in followers_of(robot.joints, name)]:
            return (
                f"joints {', '.join(names)} of robot {robot.name!r} follow joints of arm {arm.name!r} by <mimic>, and "
                "how cuRobo moves such joints is not verified; plan with engine:=cpu"
            )
    return ""


def curobo_config(robot: Robot, urdf_path: Path, use: CuroboUse) -> dict[str, Any]:
    """Return the mapping that cuRobo reads, in plain values that YAML can hold.

    cuRobo then takes and gives poses in the root link's frame.

    Args:
        robot: The robot.
        urdf_path: Absolute path of a file with ``robot.urdf``, the expanded description.
        use: The use of the configuration.

    Raises:
        KeyError: There is no such arm.
        ValueError: Joints follow those of an arm, or a locked joint does not exist, is fixed, is a mimic or belongs to
            a planning arm.
    """
    if fault := follower_fault(robot):
        raise ValueError(fault)
    arms = [robot.arm(name) for name in use.arms]
    planned = [joint for arm in arms for joint in arm.joint_names]
    locked = _locked(robot, use, planned)
    links = [item.link for item in robot.spheres]
    held = {held_link(use, arm.name): arm for arm in arms}
    kinematics = {
        "format_version": FORMAT_VERSION,
        "urdf_path": str(urdf_path),
        "asset_root_path": str(urdf_path.parent),
        "base_link": robot.root_link,
        "tool_frames": [arm.ee_link for arm in arms],
        "collision_link_names": [*links, *held],
        "collision_spheres": {
            item.link: [
                {"center": [float(x) for x in center], "radius": float(radius)}
                for center, radius in zip(item.centers, item.radii, strict=True)
            ]
            for item in robot.spheres
        },
        "collision_sphere_buffer": 0.0,
        "extra_collision_spheres": dict.fromkeys(held, use.held_spheres),
        "extra_links": {name: _extra_link(name, arm) for name, arm in held.items()},
        "self_collision_ignore": _ignored(robot, links, held, planned),
        "self_collision_buffer": dict.fromkeys([*links, *held], 0.0),
        "mesh_link_names": [],
        "grasp_contact_link_names": _contact_links(robot, arms, held),
        "lock_joints": locked,
        "cspace": _cspace(robot, arms, locked),
    }
    return {"robot_cfg": {"kinematics": kinematics}}


def _locked(robot: Robot, use: CuroboUse, planned: Sequence[str]) -> dict[str, float]:
    """Return the positions of all joints that move by themselves and are not planned."""
    free = [j.name for j in robot.joints.values() if j.type is not JointKind.FIXED and j.mimic is None]
    for name in use.locked:
        if name not in free or name in planned:
            raise ValueError(
                f"joint {name!r} cannot be locked; lock one of {sorted(set(free) - set(planned))}"
            )
    return {name: joint_position(robot, name, use.locked) for name in free if name not in planned}


def _extra_link(name: str, arm: ArmSpec) -> dict[str, Any]:
    return {
        "link_name": name,
        "parent_link_name": arm.ee_link,
        "joint_name": f"{name}_joint",
        "joint_type": "FIXED",
        "fixed_transform": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
    }


def _ignored(
    robot: Robot, links: Sequence[str], held: Mapping[str, ArmSpec], planned: Sequence[str]
) -> Ignored:
    """Return each pair once, below its first link. Links that no planned joint moves apart are one body."""
    body = _bodies(robot, planned)
    body |= {name: body[arm.ee_link] for name, arm in held.items()}
    listed = [*links, *held]
    found: Ignored = {}
    for a, b in itertools.combinations(listed, 2):
        if body[a] == body[b] or (min(a, b), max(a, b)) in robot.ignored_pairs:
            found.setdefault(a, []).append(b)
    return found


def _bodies(robot: Robot, planned: Sequence[str]) -> dict[str, str]:
    """Return the body of each link, by its topmost link: only planned joints separate bodies."""
    body = {robot.root_link: robot.root_link}
    for joint in robot.joints.values():
        source = joint.mimic.joint if joint.mimic is not None else joint.name
        body[joint.child] = joint.child if source in planned else body[joint.parent]
    return body


def _contact_links(robot: Robot, arms: Sequence[ArmSpec], held: Mapping[str, ArmSpec]) -> list[str]:
    """Return the links that may touch a grasped object: the hand, its fingers and the held objects."""
    links = [item.link for item in robot.spheres]
    hands: list[str] = []
    for arm in arms:
        hands += [arm.ee_link, *(arm.gripper.finger_links if arm.gripper is not None else ())]
    return [*(link for link in hands if link in links), *held]


def _cspace(robot: Robot, arms: Sequence[ArmSpec], locked: Mapping[str, float]) -> dict[str, Any]:
    """Return the planned joints, then the locked ones.

    cuRobo needs limits of the locked ones too; they do not move, so the largest values are used.
    """
    planned = [robot.joints[name] for arm in arms for name in arm.joint_names]
    home = [float(x) for arm in arms for x in arm.home_q]
    acceleration = [joint.acceleration for joint in planned]
    jerk = [joint.jerk for joint in planned]
    ones = [1.0] * (len(planned) + len(locked))
    return {
        "joint_names": [*(joint.name for joint in planned), *locked],
        "default_joint_position": [*home, *locked.values()],
        "cspace_distance_weight": ones,
        "null_space_weight": list(ones),
        "max_acceleration": [*acceleration, *[max(acceleration)] * len(locked)],
        "max_jerk": [*jerk, *[max(jerk)] * len(locked)],
    }
