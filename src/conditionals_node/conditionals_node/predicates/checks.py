"""Pieces that predicates are made of: what is missing, what presses on what, and how part findings combine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.predicate import Evidence, Finding, Predicate, Truth
from handiwork_core.robot import Robot
from handiwork_core.world import World


@runtime_checkable
class NeedsRobot(Protocol):
    """A predicate with arguments that the robot fills in when they are left out."""

    def for_robot(self, robot: Robot) -> Predicate:
        """The same predicate with those arguments filled.

        Raises:
            ValueError: the robot cannot fill them.
        """
        ...


def finger_bodies(robot: Robot) -> tuple[str, ...]:
    """Body names of the finger links of the robot's grippers."""
    grippers = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
    return tuple(f"{robot.name}/{link}" for gripper in grippers for link in gripper.finger_links)


def missing(world: World, *names: str, geometry: bool = True) -> Finding | None:
    """UNKNOWN where an object has no pose or no geometry, else None."""
    for name in names:
        if name not in world.states:
            return Finding.unknown(
                f"object {name!r} has no pose in the world; known are {sorted(world.states)}"
            )
        if geometry and name not in world.objects:
            return Finding.unknown(
                f"object {name!r} has no geometry in the world; known are {sorted(world.objects)}"
            )
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Push:
    """Net force (3,) on a body from another [N], and the mean point (3,) where it acts [m]."""

    force_n: Array
    point_m: Array

    @property
    def size_n(self) -> float:
        """Magnitude."""
        return float(np.linalg.norm(self.force_n))


def push(world: World, on: str, by: str) -> Push:
    """Sum over the contacts of two bodies; no contact is a force of zero. Call it only where contacts are known."""
    force: Array = np.zeros(3)
    points: list[Array] = []
    for contact in world.contacts or ():
        if (contact.a, contact.b) == (on, by):
            force, points = force + contact.force_on_a_n, [*points, contact.point_m]
        elif (contact.b, contact.a) == (on, by):
            force, points = force - contact.force_on_a_n, [*points, contact.point_m]
    return Push(force, np.mean(points, axis=0) if points else np.full(3, math.nan))


NO_CONTACTS = Finding.unknown("the world has no contact source; start one that publishes world/contacts")


def decided(margin: float, reason: str, *evidence: Evidence) -> Finding:
    """TRUE exactly when ``margin`` is more than 0; UNKNOWN where it is not a number."""
    if math.isnan(margin):
        return Finding.unknown(f"cannot be computed: {reason}")
    return Finding(Truth.of(margin > 0.0), margin, reason, evidence)


def all_of(parts: Sequence[Finding]) -> Finding:
    """FALSE where a part is FALSE, else UNKNOWN where one is UNKNOWN, else TRUE.

    Margin and first words are those of the part that decides; when all are TRUE, those of the first.
    """
    order = (Truth.FALSE, Truth.UNKNOWN)
    leading = next((part for truth in order for part in parts if part.truth is truth), parts[0])
    rest = [part for part in parts if part is not leading]
    words = "; ".join([leading.reason, *(part.reason for part in rest)])
    evidence = tuple(item for part in (leading, *rest) for item in part.evidence)
    return Finding(leading.truth, leading.margin, words, evidence)


def is_slow(world: World, name: str, limit_mps: float) -> Finding:
    """TRUE when an object moves slower than ``limit_mps``."""
    speed = float(np.linalg.norm(world.states[name].world_v_object))
    reason = f"{name} moves at {speed:.3f} m/s, the limit is {limit_mps:g}"
    return decided(limit_mps - speed, reason, Evidence("speed", speed, "m/s", name))


def is_released(world: World, name: str, fingers: Sequence[str], min_force_n: float) -> Finding:
    """TRUE when no finger presses on an object."""
    if world.contacts is None:
        return NO_CONTACTS
    if not fingers:
        return Finding.unknown("no finger bodies are given; set fingers")
    forces = [push(world, name, finger).size_n for finger in fingers]
    strongest = max(forces)
    reason = f"fingers press on {name} with {strongest:.2f} N, {min_force_n:g} N count as touching"
    return decided(min_force_n - strongest, reason, Evidence("finger_force", strongest, "N", name))
