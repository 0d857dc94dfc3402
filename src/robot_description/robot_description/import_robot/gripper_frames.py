"""Frames of a gripper as skills need them: +z of the EE points to the TCP, and the fingers close along its y."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

from .gripper_facts import GripperFacts
from .survey import FoundArm

ON_AXIS = 0.995
"""Least cosine between the closing direction and an axis of the EE frame."""
OFF_M = 0.001
"""Largest distance of the TCP from the axis of the EE frame, m."""
LEAST_AHEAD_M = 0.02
"""Least distance of the TCP ahead of the EE frame, m."""


@dataclass(frozen=True, slots=True, eq=False)
class AddedFrame:
    """A fixed link that the URDF gets."""

    name: str
    parent: str
    parent_T_frame: Pose


def with_own_frames(
    name: str, arm: FoundArm, facts: GripperFacts, taken: Iterable[str]
) -> tuple[FoundArm, GripperFacts, tuple[AddedFrame, ...]]:
    """Add an EE and a TCP frame where those of the maker do not suit.

    Args:
        name: Name of the arm.
        arm: The arm.
        facts: What was measured, in the frame ``arm.ee_link``.
        taken: Names of links.

    Returns:
        The arm and the facts with the new frames, and these; without a need unchanged and none.
    """
    suits = np.abs(facts.closing).max() >= ON_AXIS and facts.tcp_m[facts.ee_axis] > 0.0
    suits = suits and float(np.linalg.norm(np.delete(facts.tcp_m, facts.ee_axis))) <= OFF_M
    if suits and facts.ahead is None and arm.tcp_link != arm.ee_link and not facts.note:
        return arm, facts, ()
    ee_T_own, distance = _own_frame(facts) if not suits or facts.ahead is not None else _same_frame(facts)
    prefix = name.removesuffix("_arm")
    ee, tcp = _free(f"{prefix}_ee", taken), _free(f"{prefix}_tcp", taken)
    forward = Pose.of((0.0, 0.0, distance), Rotation.identity())
    if suits and facts.ahead is None:  # the maker's EE frame suits, and only the TCP is missing
        return replace(arm, tcp_link=tcp), facts, (AddedFrame(tcp, arm.ee_link, ee_T_own @ forward),)
    frames = (AddedFrame(ee, arm.ee_link, ee_T_own), AddedFrame(tcp, ee, forward))
    turned = replace(
        facts, closing=np.array([0.0, 1.0, 0.0]), tcp_m=np.array([0.0, 0.0, distance]), ahead=None
    )
    return replace(arm, ee_link=ee, tcp_link=tcp), turned, frames


def _same_frame(facts: GripperFacts) -> tuple[Pose, float]:
    """Return the turn that makes z the axis towards the TCP and y the closing one, at the same place."""
    ahead, closing = np.eye(3)[facts.ee_axis], np.eye(3)[facts.closing_axis]
    return Pose.of((0.0, 0.0, 0.0), _rotation(ahead, closing)), float(facts.tcp_m[facts.ee_axis])


def _own_frame(facts: GripperFacts) -> tuple[Pose, float]:
    """Return the frame behind the TCP, against the fingers' direction, and its distance, m."""
    ahead = facts.ahead
    if ahead is None:
        ahead = np.sign(facts.tcp_m) * (np.arange(3) == facts.ee_axis)
    ahead = ahead - (ahead @ facts.closing) * facts.closing
    ahead = ahead / np.linalg.norm(ahead)
    distance = max(float(facts.tcp_m @ ahead), LEAST_AHEAD_M)
    return Pose.of(facts.tcp_m - distance * ahead, _rotation(ahead, facts.closing)), distance


def _rotation(ahead: Array, closing: Array) -> Rotation:
    return Rotation.from_matrix(np.stack([np.cross(closing, ahead), closing, ahead], axis=1))


def _free(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    while name in names:
        name = f"{name}_0"
    return name


def all_with_own_frames(
    arms: Mapping[str, FoundArm], grippers: Mapping[str, GripperFacts], taken: Iterable[str]
) -> tuple[dict[str, FoundArm], dict[str, GripperFacts], tuple[AddedFrame, ...]]:
    """Call ``with_own_frames`` for each arm that has a gripper.

    Args:
        arms: Arms by name.
        grippers: Measured grippers by the name of their arm.
        taken: Names of links.
    """
    own_arms, own_facts, frames = dict(arms), dict(grippers), list[AddedFrame]()
    for name, facts in grippers.items():
        names = [*taken, *(frame.name for frame in frames)]
        own_arms[name], own_facts[name], added = with_own_frames(name, arms[name], facts, names)
        frames += added
    return own_arms, own_facts, tuple(frames)
