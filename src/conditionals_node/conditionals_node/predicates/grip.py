"""What the gripper does: holding an object, standing open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from handiwork_core.predicate import Evidence, Finding, Predicate
from handiwork_core.robot import Robot
from handiwork_core.world import World

from .checks import NO_CONTACTS, decided, finger_bodies, missing, push

OPEN_SHARE = 0.9
"""Part of the greatest width from which a gripper counts as open, when no width is given."""


@dataclass(frozen=True, slots=True)
class ObjectGrabbed(Predicate):
    """Every finger squeezes the object: it presses on it with ``min_force`` [N] towards where the others press.

    ``fingers``: body names; those of the robot when left out.
    """

    name: ClassVar[str] = "object_grabbed"
    object: str
    min_force: float = 0.1
    fingers: tuple[str, ...] = ()

    def for_robot(self, robot: Robot) -> Predicate:
        """Fill in ``fingers``."""
        return self if self.fingers else replace(self, fingers=finger_bodies(robot))

    def subjects(self) -> tuple[str, ...]:
        """The object."""
        return (self.object,)

    @property
    def needs_contacts(self) -> bool:
        """Holding is told by force."""
        return True

    def evaluate(self, world: World) -> Finding:
        """The weakest squeeze decides."""
        unknown = missing(world, self.object, geometry=False)
        if unknown is not None:
            return unknown
        if world.contacts is None:
            return NO_CONTACTS
        if len(self.fingers) < 2:
            return Finding.unknown(f"object_grabbed needs two fingers, not {list(self.fingers)}; set fingers")
        squeezes = [self._squeeze_n(world, finger) for finger in self.fingers]
        evidence = [Evidence("squeeze", n, "N", f) for f, n in zip(self.fingers, squeezes, strict=True)]
        told = ", ".join(f"{f} {n:.2f} N" for f, n in zip(self.fingers, squeezes, strict=True))
        reason = f"fingers squeeze {self.object}: {told}; {self.min_force:g} N each needed"
        return decided(min(squeezes) - self.min_force, reason, *evidence)

    def _squeeze_n(self, world: World, finger: str) -> float:
        """Force on the object from a finger towards the contact points of the others [N]; 0 without them."""
        own = push(world, self.object, finger)
        others = [push(world, self.object, other) for other in self.fingers if other != finger]
        inward = np.mean([other.point_m for other in others], axis=0) - own.point_m
        length = float(np.linalg.norm(inward))
        return float(own.force_n @ inward) / length if length > 1e-6 else 0.0


@dataclass(frozen=True, slots=True)
class GripperOpen(Predicate):
    """The gripper is measured to be at least ``min_width`` [m] open.

    ``joint`` and ``width_per_joint`` come from the robot when left out, as ``min_width`` does: 0.9 of the greatest.
    """

    name: ClassVar[str] = "gripper_open"
    min_width: float | None = None
    joint: str = ""
    width_per_joint: float = 0.0

    def for_robot(self, robot: Robot) -> Predicate:
        """Fill in joint and widths from the robot's only gripper, or from the one with this joint."""
        grippers = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
        fitting = [gripper for gripper in grippers if self.joint in ("", gripper.joint)]
        if len(fitting) != 1:
            raise ValueError(
                f"joint {self.joint!r} names no single gripper; use one of {[g.joint for g in grippers]}"
            )
        gripper = fitting[0]
        width = self.min_width if self.min_width is not None else OPEN_SHARE * gripper.max_width_m
        return replace(self, min_width=width, joint=gripper.joint, width_per_joint=gripper.width_per_joint)

    def subjects(self) -> tuple[str, ...]:
        """No object."""
        return ()

    def evaluate(self, world: World) -> Finding:
        """Width against the limit."""
        if self.joint not in world.joints.position:
            return Finding.unknown(
                f"joint {self.joint!r} is not measured; known are {sorted(world.joints.position)}"
            )
        if self.min_width is None or self.width_per_joint == 0.0:
            return Finding.unknown("min_width and width_per_joint are not set; set them, or name a robot")
        width = world.joints.position[self.joint] * self.width_per_joint
        # A gripper that stands exactly at its limit is open.
        margin = width - self.min_width + 1e-9
        reason = f"gripper is {width:.4f} m open, {self.min_width:.4f} m count as open"
        return decided(margin, reason, Evidence("width", width, "m", self.joint))
