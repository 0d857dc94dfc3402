"""The guard: every command of a policy passes it, and the arm can come to rest safely after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot

from .clearance import ClearanceChecker
from .joint_filter import (
    ROUND_OFF,
    Motion,
    StepLimits,
    braked,
    braking_path,
    braking_points,
    moved,
    step_toward,
)
from .settings import GuardSettings, OnCollision, OnExcess

SHARES = (0.5, 0.25, 0.1)
"""Shares of a command that are tried once the whole is not safe."""
KINDS = ("position", "velocity", "acceleration", "jerk", "tool_speed", "workspace", "collision", "fingers")
"""The kinds of faults that the guard counts."""


@dataclass(frozen=True, eq=False)
class Guarded:
    """A command that is safe.

    Attributes:
        motion: The reference after the step.
        refused: Why the run is to end, in one clause; empty while it goes on.
    """

    motion: Motion
    refused: str = ""


@dataclass
class GuardCounts:
    """What the guard did.

    Attributes:
        steps: Number of commands.
        changed: Number of commands that were not done as asked.
        kinds: Number of commands by the kind of their fault.
        reasons: Number of commands by fault and joint or bodies.
    """

    steps: int = 0
    changed: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def shown(self) -> dict[str, int]:
        """Return the counts by kind, with the kinds that never came."""
        return {kind: self.kinds[kind] for kind in KINDS}


class Guard:
    """Guards the commands of one run.

    A step is done only if the arm can brake after it, on a path that keeps the clearance. So when a command is not
    safe, or none comes, the brake of the step before still is: it was checked.

    Args:
        robot: The robot.
        arm: The arm.
        world_T_root: Pose of the robot's root link.
        step_s: Time of a step, s.
        settings: The settings.
    """

    def __init__(
        self, robot: Robot, arm: ArmSpec, world_T_root: Pose, step_s: float, settings: GuardSettings
    ) -> None:
        self._arm, self._settings = arm, settings
        self.limits = StepLimits.of(
            robot,
            arm,
            step_s,
            settings.velocity_scaling,
            settings.acceleration_scaling,
            settings.joint_margin,
        )
        self._checker = ClearanceChecker(robot, arm, world_T_root, settings.clearance, settings.may_touch)
        self._kinematics = ArmKinematics(robot, arm)
        self.counts = GuardCounts()

    def update(self, world: World, world_T_base: Pose, held: tuple[Attachment, ...], motion: Motion) -> None:
        """Take the newest world over; comes before ``step``.

        Args:
            world: The world.
            world_T_base: Pose of the arm's base.
            held: What the arm holds.
            motion: Reference of the arm.
        """
        self._world_T_base = world_T_base.matrix()
        self._checker.update(world, held, motion.q)

    def step(self, motion: Motion, target: Array) -> Guarded:
        """Return the safe part of a command.

        Args:
            motion: Reference of the arm.
            target: Positions that the policy asks for one step later, (dof,), finite, rad or m.
        """
        self.counts.steps += 1
        found = self._checked(motion, target)
        return found

    def brake(self, motion: Motion) -> Motion:
        """Return the reference one step later while the arm brakes.

        Args:
            motion: Reference of the arm.
        """
        return braked(motion, self.limits)

    def opening(self, width_m: float, motion: Motion) -> float | None:
        """Return an opening that the fingers may be sent to; None for one at which they would touch something.

        Args:
            width_m: Opening that the policy asks for, m.
            motion: Reference of the arm.
        """
        pair = self._checker.blocked_opening(width_m, braking_path(motion, self.limits))
        if pair is None:
            self._checker.commanded_m = width_m
            return width_m
        self._count({"fingers": f"{pair.a} and {pair.b}"})
        return None

    def ahead(self, motion: Motion) -> tuple[Array, Array]:
        """Return positions and velocities of the reference and of its brake, (n, dof) each; all of them are checked.

        Args:
            motion: Reference of the arm, as ``step`` or ``brake`` has returned it.
        """
        return braking_points(motion, self.limits)

    def warm_up(self, motion: Motion) -> None:
        """Run through a command that changes nothing, so that the first one of the loop takes no longer than others.

        Args:
            motion: Reference of an arm at rest.
        """
        self._checked(motion, motion.q)
        self._checker.blocked(np.vstack([motion.q, motion.q]))

    def _checked(self, motion: Motion, target: Array) -> Guarded:
        settings, limits = self._settings, self.limits
        v, held = step_toward(motion, target, limits)
        faults: dict[str, str] = {kind: self._arm.joint_names[j] for kind, j in held.items()}
        if faults and settings.on_excess is OnExcess.REFUSE:
            kind, name = next(iter(faults.items()))
            return self._refused(motion, {kind: name}, f"joint {name} would exceed its limit of {kind}")
        if faults and settings.on_excess is OnExcess.SLOW:
            v = _along(motion, target, v, limits)
        rest = braked(motion, limits).v
        wanted = rest + self._share_of_speed(motion.q, rest, v) * (v - rest)
        if np.abs(wanted - v).max() > ROUND_OFF:
            text = f"more than {settings.tool_speed:g} m/s"
            faults["tool_speed"] = text
            if settings.on_excess is OnExcess.REFUSE:
                return self._refused(motion, faults, f"the speed of the TCP would be {text}")
        for share in (1.0, *SHARES):
            made = moved(motion, rest + share * (wanted - rest), limits.step_s)
            fault = self._fault(motion, made)
            if fault is None:
                return self._done(made, faults)
            kind, text = fault
            faults.setdefault(kind, text)
            is_ended = (
                settings.on_collision is OnCollision.REFUSE
                if kind == "collision"
                else (settings.on_excess is OnExcess.REFUSE)
            )
            if is_ended:
                return self._refused(motion, faults, f"{kind}: {text}")
        return self._done(braked(motion, limits), faults)

    def _share_of_speed(self, q: Array, rest: Array, wanted: Array) -> float:
        """Return the greatest share of the way from the brake to a velocity at which the TCP keeps its speed."""
        pose, jacobian = self._kinematics.pose_and_jacobian(q)
        arm_m = self._tcp(pose) - pose[:3, 3]
        at_rest, change = (
            (jacobian[:3] @ one) + np.cross(jacobian[3:] @ one, arm_m) for one in (rest, wanted - rest)
        )
        most = self._settings.tool_speed**2
        if float((at_rest + change) @ (at_rest + change)) <= most:
            return 1.0
        a, b, c = change @ change, at_rest @ change, at_rest @ at_rest - most
        return float(np.clip((np.sqrt(b * b - a * c) - b) / a, 0.0, 1.0)) if c < 0.0 else 0.0

    def _tcp(self, pose: Array) -> Array:
        """Return the place of the TCP for a pose of the EE link, in the same axes."""
        gripper = self._arm.gripper
        return (
            pose[:3, 3] if gripper is None else pose[:3, 3] + gripper.tcp_offset_m * pose[:3, gripper.ee_axis]
        )

    def _fault(self, motion: Motion, made: Motion) -> tuple[str, str] | None:
        path = braking_path(made, self.limits)
        if self._settings.workspace and (text := self._outside(motion.q, path)):
            return "workspace", text
        pair = self._checker.blocked(np.vstack([motion.q, path]))
        return None if pair is None else ("collision", f"{pair.a} and {pair.b}")

    def _outside(self, before: Array, path: Array) -> str:
        """Return in which axis the TCP leaves the workspace; one that is outside may only come back."""
        box = np.array(self._settings.workspace)
        here = self._excess(before, box)
        for q in (path[0], path[-1]):
            excess = self._excess(q, box)
            worse = excess > np.maximum(here, 0.0) + 1e-9
            if worse.any():
                return "xyz"[int(np.flatnonzero(worse)[0])]
        return ""

    def _excess(self, q: Array, box: Array) -> Array:
        place = self._tcp(self._world_T_base @ self._kinematics.pose_and_jacobian(q)[0])
        return np.asarray(np.maximum(box[:3] - place, place - box[3:]))

    def _done(self, made: Motion, faults: Mapping[str, str]) -> Guarded:
        self._count(faults)
        return Guarded(made)

    def _refused(self, motion: Motion, faults: Mapping[str, str], why: str) -> Guarded:
        self._count(faults)
        return Guarded(braked(motion, self.limits), why)

    def _count(self, faults: Mapping[str, str]) -> None:
        self.counts.changed += bool(faults)
        for kind, text in faults.items():
            self.counts.kinds[kind] += 1
            self.counts.reasons[f"{kind}: {text}"] += 1


def _along(motion: Motion, target: Array, clipped: Array, limits: StepLimits) -> Array:
    """Return the velocities in the direction of the command, slowed until every joint keeps its limits."""
    wanted = (target - motion.q) / limits.step_s
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(np.abs(wanted) > 1e-9, clipped / wanted, 1.0)
    slowed = float(np.clip(shares.min(), 0.0, 1.0)) * wanted
    low, high = motion.v - limits.change, motion.v + limits.change
    inside = np.clip(slowed, np.maximum(low, -limits.velocity), np.minimum(high, limits.velocity))
    return np.asarray(np.where(np.abs(inside) > np.abs(clipped), clipped, inside))
