"""Several robots on one mount as one robot, so that the plan of each arm knows the others."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.joint_kind import JointKind

from .robot import Joint, Robot
from .urdf import read_urdf

MOUNT = "mount"
"""Root link of the robot; the root links of its members are fixed to it."""
Pairs = frozenset[tuple[str, str]]
Row = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One of several robots.

    Attributes:
        name: Its name among the others.
        robot: The robot; its names differ from those of the others.
        xyz_m: Place of its root link on the mount, (3,), m.
        rpy_rad: Roll, pitch and yaw of its root link, (3,), rad, as in a URDF.
    """

    name: str
    robot: Robot
    xyz_m: Row
    rpy_rad: Row


def together(name: str, members: Sequence[Member], ignored_pairs: Pairs = frozenset()) -> Robot:
    """Return the robot that consists of others.

    Links of different members that never move, such as the feet of two arms, may overlap.

    Args:
        name: Name of the whole.
        members: The robots.
        ignored_pairs: Further pairs of links that may overlap, each sorted by name.

    Raises:
        ValueError: Two members have a name in common, one has a mobile base, or a pair names no link; a line for each.
    """
    faults = [*_same_names(members), *_based(members), *_unknown(members, ignored_pairs)]
    if faults:
        raise ValueError("\n".join(faults))
    robots = [member.robot for member in members]
    joints: dict[str, Joint] = {}
    for member in members:
        mount = _mount(member)
        joints |= {mount.name: mount, **member.robot.joints}
    urdf = _urdf(name, members)
    ordered = read_urdf(urdf, Path(name))
    pairs = [ignored_pairs, _still_pairs(robots), *(robot.ignored_pairs for robot in robots)]
    return Robot(
        name,
        MOUNT,
        ordered.links,
        {joint: joints[joint] for joint in ordered.joints},
        tuple(item for robot in robots for item in robot.spheres),
        frozenset().union(*pairs),
        {key: arm for robot in robots for key, arm in robot.arms.items()},
        urdf,
        posture={key: value for robot in robots for key, value in robot.posture.items()},
        tool_frames={key: frame for robot in robots for key, frame in robot.tool_frames.items()},
        cameras=tuple(camera for robot in robots for camera in robot.cameras),
    )


def _mount(member: Member) -> Joint:
    pose = Pose.of(member.xyz_m, Rotation.from_rpy(*member.rpy_rad))
    axis = frozen((1.0, 0.0, 0.0))
    return Joint(f"{member.name}_{MOUNT}", JointKind.FIXED, MOUNT, member.robot.root_link, pose, axis)


def _same_names(members: Sequence[Member]) -> Iterable[str]:
    """Yield a sentence for the first name of each kind that two members have."""
    for one, other in combinations(members, 2):
        pairs = (
            ("link", one.robot.links, other.robot.links),
            ("joint", one.robot.joints, other.robot.joints),
            ("arm", one.robot.arms, other.robot.arms),
        )
        for kind, mine, theirs in pairs:
            if shared := next((name for name in theirs if name in mine), None):
                yield (
                    f"robots.{other.name}: its {kind} {shared!r} is also in {one.name}; "
                    "give it a tf_prefix of its own"
                )
                break


def _based(members: Sequence[Member]) -> Iterable[str]:
    for member in members:
        if member.robot.base is not None:
            yield (
                f"robots.{member.name}: has a mobile base, and several robots stand on one mount; "
                "start it as a stack of its own, in a namespace"
            )


def _unknown(members: Sequence[Member], pairs: Pairs) -> Iterable[str]:
    links = {link for member in members for link in member.robot.links}
    for link in sorted({link for pair in pairs for link in pair} - links):
        yield f"ignored_pairs: no link {link!r}; write a link with its prefix, such as {min(links)!r}"


def _still_pairs(robots: Sequence[Robot]) -> Pairs:
    """Return the pairs of links of different robots that are fixed to their root links."""
    found = set()
    for one, other in combinations(robots, 2):
        found |= {(min(a, b), max(a, b)) for a in _still(one) for b in _still(other)}
    return frozenset(found)


def _still(robot: Robot) -> list[str]:
    """Return the links that no joint moves."""
    still = [robot.root_link]
    above = {joint.child: joint for joint in robot.joints.values()}
    for link in robot.links[1:]:
        if above[link].type is JointKind.FIXED and above[link].parent in still:
            still.append(link)
    return still


def _urdf(name: str, members: Sequence[Member]) -> str:
    top = ET.Element("robot", name=name)
    ET.SubElement(top, "link", name=MOUNT)
    for member in members:
        joint = ET.SubElement(top, "joint", name=f"{member.name}_{MOUNT}", type="fixed")
        ET.SubElement(joint, "parent", link=MOUNT)
        ET.SubElement(joint, "child", link=member.robot.root_link)
        ET.SubElement(joint, "origin", xyz=_words(member.xyz_m), rpy=_words(member.rpy_rad))
        top.extend(ET.fromstring(member.robot.urdf))
    return ET.tostring(top, encoding="unicode")


def _words(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
