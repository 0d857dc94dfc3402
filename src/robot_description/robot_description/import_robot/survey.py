"""Finds the arms of a robot in its URDF: serial chains that end in a tool, and the grippers at their ends."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Joint, Robot
from handiwork_core.robot.urdf import UrdfModel
from robot_description.formats.tcp_names import TCP_WORDS

MIN_JOINTS = 4
"""A chain with fewer joints is no arm: a head, a lift, a wheel."""
SPIN_RAD = 4.0 * math.pi - 0.01
"""A joint of a hand that turns farther drives no finger, rad: two turns either way stand for a continuous one."""
JAW_JOINT = re.compile(r"jaw|grip|finger|claw|pincer", re.IGNORECASE)
WRIST_JOINT = re.compile(r"wrist|roll|rot|turn|twist", re.IGNORECASE)
"""Names of the joints of a single jaw, and of joints that turn a gripper: the tree alone cannot tell them apart."""


@dataclass(frozen=True, slots=True)
class FoundGripper:
    """Fingers that one joint drives.

    Attributes:
        joint: The joint.
        links: All links that move, from the hand outwards.
        fixed_links: With one moving jaw the links of the hand, one of which is the other jaw; else empty.
    """

    joint: str
    links: tuple[str, ...]
    fixed_links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundArm:
    """A chain from ``base_link`` to ``ee_link``; ``tcp_link`` equals ``ee_link`` if the URDF has no frame for it."""

    base_link: str
    ee_link: str
    tcp_link: str
    joints: tuple[str, ...]
    gripper: FoundGripper | None


class RigidTree:
    """Rigid bodies of a URDF, each named by its topmost link, and the joints that move them.

    Args:
        model: The URDF, or the robot of one.
    """

    def __init__(self, model: UrdfModel | Robot) -> None:
        self.joints = model.joints
        self.body = {model.links[0]: model.links[0]}
        self.links: dict[str, list[str]] = {model.links[0]: [model.links[0]]}
        self.above: dict[str, Joint] = {}
        self.below: dict[str, list[str]] = {model.links[0]: []}
        for joint in model.joints.values():
            parent = self.body[joint.parent]
            if joint.type is JointKind.FIXED:
                self.body[joint.child] = parent
                self.links[parent].append(joint.child)
            else:
                self.body[joint.child] = joint.child
                self.links[joint.child], self.below[joint.child] = [joint.child], []
                self.above[joint.child] = joint
                self.below[parent].append(joint.child)

    def under(self, body: str) -> list[str]:
        """Return all bodies below one, nearest first.

        Args:
            body: Name of the body.
        """
        found = list(self.below[body])
        for each in found:
            found.extend(self.below[each])
        return found

    def free(self, bodies: Iterable[str]) -> list[str]:
        """Return the joints of bodies that move by themselves.

        Args:
            bodies: Names of the bodies; none may be the root.

        Returns:
            Names of the joints without mimic joints.
        """
        return [self.above[each].name for each in bodies if self.above[each].mimic is None]

    def up(self, body: str) -> list[Joint]:
        """Return the joints between the root and a body, from the root on.

        Args:
            body: Name of the body.
        """
        path: list[Joint] = []
        while body in self.above:
            path.append(self.above[body])
            body = self.body[path[-1].parent]
        return path[::-1]

    def fixed_tip(self, body: str) -> str:
        """Return the link of a body at the end of the longest chain of fixed joints; of several, the first.

        Args:
            body: Name of the body.
        """
        depth: dict[str, int] = {}
        for link in self.links[body]:
            parents = [j.parent for j in self.joints.values() if j.child == link]
            depth[link] = depth.get(parents[0], -1) + 1 if parents else 0
        return max(self.links[body], key=lambda link: depth[link])


def find_arms(model: UrdfModel, tips: Iterable[str] = ()) -> tuple[FoundArm, ...]:
    """Find the arms of a robot, in tree order.

    Args:
        model: The URDF.
        tips: Links that are known to be tools; empty: every end of a chain that is long enough.
    """
    tree = RigidTree(model)
    hands = {body for body in tree.links if _is_hand(tree, body)}
    ends = [tree.body[tip] for tip in tips] or [body for body in tree.links if _is_end(tree, body, hands)]
    named = {tree.body[tip]: tip for tip in tips}
    arms = [_arm(tree, end, named.get(end), end in hands, set(ends)) for end in ends]
    return tuple(arm for arm in arms if arm is not None)


def _is_hand(tree: RigidTree, body: str) -> bool:
    """Check whether one joint drives all bodies below, the others mimic it, and it moves a body directly below.

    One body alone is a jaw, if its joint is named as one.
    """
    bodies = _gripping(tree, body)
    drives = tree.free(bodies)
    if len(drives) != 1 or body not in tree.above:
        return False
    if len(bodies) == 1:
        return bool(JAW_JOINT.search(drives[0])) and not WRIST_JOINT.search(drives[0])
    return any(tree.above[each].name == drives[0] for each in tree.below[body])


def _gripping(tree: RigidTree, hand: str) -> list[str]:
    """Return the bodies below a hand, without parts that only spin beside fingers, such as the horn of a motor."""
    bodies = tree.under(hand)
    followed = {joint.mimic.joint for joint in tree.joints.values() if joint.mimic is not None}
    if not followed & set(tree.free(bodies)):
        return bodies
    return [body for body in bodies if tree.below[body] or not _spins(tree.above[body], followed)]


def _spins(joint: Joint, followed: set[str]) -> bool:
    """Check whether a joint turns as far as one that was continuous, and neither follows nor leads another one."""
    is_apart = joint.mimic is None and joint.name not in followed
    return is_apart and joint.type is JointKind.REVOLUTE and joint.upper - joint.lower > SPIN_RAD


def _is_end(tree: RigidTree, body: str, hands: set[str]) -> bool:
    if body in hands:
        return True
    inside = any(body in tree.under(hand) for hand in hands)
    return not tree.below[body] and body in tree.above and not inside


def _arm(tree: RigidTree, end: str, tip: str | None, has_gripper: bool, ends: set[str]) -> FoundArm | None:
    path = tree.up(end)
    fork = max((i for i, joint in enumerate(path) if _forks(tree, joint, ends)), default=-1)
    chain = [joint for joint in path[fork + 1 :] if joint.mimic is None]
    if len(chain) < MIN_JOINTS:
        return None
    gripper = _gripper(tree, end) if has_gripper else None
    ee = tree.fixed_tip(end)
    if gripper is not None:
        ee = tree.joints[gripper.joint].parent
    tcps = [link for link in tree.links[end] if TCP_WORDS.search(link)]
    ee = tip or ee
    tcp = tcps[-1] if tcps else ee
    return FoundArm(chain[0].parent, ee, tcp, tuple(joint.name for joint in chain), gripper)


def _forks(tree: RigidTree, joint: Joint, ends: set[str]) -> bool:
    """Check whether the body that a joint moves carries several arms."""
    arms = 0
    for body in tree.below[joint.child]:
        reached = [end for end in ends if end == body or end in tree.under(body)]
        arms += any(_own(tree, end) - _own(tree, joint.child) >= MIN_JOINTS for end in reached)
    return arms > 1


def _own(tree: RigidTree, body: str) -> int:
    """Return the number of joints between the root and a body that move by themselves."""
    return sum(joint.mimic is None for joint in tree.up(body))


def _gripper(tree: RigidTree, hand: str) -> FoundGripper:
    bodies = _gripping(tree, hand)
    links = tuple(link for body in bodies for link in tree.links[body])
    return FoundGripper(tree.free(bodies)[0], links, tuple(tree.links[hand]) if len(bodies) == 1 else ())
