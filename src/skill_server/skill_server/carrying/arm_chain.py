"""Inverse kinematics of one arm along a path of its hand, without a jump from one configuration to the next."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.batch_kinematics import BatchChain
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import ArmSpec, Robot

WITHIN_M, WITHIN_RAD = 1e-4, 5e-4
"""Largest error of a solution."""
EXACT = 0.01
"""Share of that error at which the search ends: what is left would make the curve through the samples uneven."""
KNOT = 10
"""Every so many samples are solved one after the other; those between begin at a curve through them."""
ROUNDS, KNOT_ROUNDS = 12, 40
DAMPING = 1e-2
"""Damping of the least squares, rad or m: bounds the joint motion near a singularity."""
STEP_RAD = 0.3
"""Largest change of a joint in one round, rad or m."""
JUMP_RAD = 0.25
"""Largest step of a joint between two samples, rad or m."""
POSE_DOF, RELAXING = 6, 20
SPARE_RAD = 0.04
"""Largest step between two knots of joints that are moved to the middle of their range, rad or m."""
EDGE_RAD, SLACK_RAD = 0.01, 1e-6
"""Least distance of a joint from its limits, and what rounding may take of it, rad or m."""


class PathBroken(Exception):
    """The hand cannot follow the path.

    Args:
        why: The reason in words.
        at: Index of the first sample that cannot be reached.
    """

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.why, self.at = why, at


class ArmChain:
    """One arm where its base is now.

    Args:
        robot: The robot.
        arm: The arm.
        world_T_base: Pose of the arm's base.
    """

    def __init__(self, robot: Robot, arm: ArmSpec, world_T_base: Pose) -> None:
        self.arm, self._base = arm, world_T_base.matrix()
        self._chain = BatchChain(robot, arm.ee_link, arm.base_link)
        self._rest = {name: joint_position(robot, name, {}) for name in self._chain.drivers}
        joints = [robot.joints[name] for name in arm.joint_names]
        self._low = np.array([one.lower for one in joints]) + EDGE_RAD
        self._high = np.array([one.upper for one in joints]) - EDGE_RAD
        self._middle = 0.5 * (self._low + self._high)
        self._moving = self._chain.driven(arm.joint_names)

    def hands(self, q: Array) -> Array:
        """Return the poses of the hand at configurations.

        Args:
            q: Configurations, (k, dof), rad or m.

        Returns:
            world_T_ee, (k, 4, 4).
        """
        return self._frames(q)[-1]

    def solve(self, guess_q: Array, world_T_ee: Array, rounds: int = KNOT_ROUNDS) -> Array:
        """Return configurations near given ones, by damped least squares.

        Args:
            guess_q: Configurations to begin at, (k, dof), rad or m.
            world_T_ee: Wanted poses of the hand, (k, 4, 4).
            rounds: The most steps.

        Returns:
            The configurations (k, dof), rad or m; rows of nan where the pose is not met.
        """
        q = np.array(guess_q, dtype=np.float64)
        for _ in range(rounds):
            frames = self._frames(q)
            error = _error(frames[-1], world_T_ee)
            if _is_met(error, EXACT).all():
                break
            q += np.clip(self._step(frames, error)[0], -STEP_RAD, STEP_RAD)
        q[np.logical_not(_is_met(_error(self.hands(q), world_T_ee)))] = np.nan
        return q

    def relaxed(self, q: Array, world_T_ee: Pose) -> Array:
        """Return a configuration with the same pose of the hand, whose joints are far from their limits.

        Args:
            q: Configuration at the pose, (dof,), rad or m.
            world_T_ee: The pose.

        Returns:
            The configuration, (dof,); that of an arm without joints to spare is the given one.
        """
        target, here = world_T_ee.matrix(), np.asarray(q)
        try:
            for _ in range(RELAXING if len(here) > POSE_DOF else 0):
                here = self._next(here, target, 0)
        except PathBroken:
            return q
        return here if self.is_within(here) else q

    def is_within(self, q: Array) -> bool:
        """Return True when no joint is at its limit.

        Args:
            q: Configurations, (..., dof), rad or m; one with nan is not within the limits.
        """
        return bool(((q >= self._low) & (q <= self._high)).all())

    def along(self, start_q: Array, world_T_ee: Array) -> Array:
        """Return configurations with which the hand follows a path, beginning at a known one.

        Args:
            start_q: Configuration at the first pose, (dof,), rad or m.
            world_T_ee: Poses of the hand, (n, 4, 4), n >= 2, near to each other.

        Returns:
            The configurations, (n, dof), rad or m.

        Raises:
            PathBroken: A pose is out of reach or beyond a joint's limit, or the configuration would jump.
        """
        n = len(world_T_ee)
        knots = np.unique(np.append(np.arange(0, n, KNOT), n - 1))
        made = [np.asarray(start_q, dtype=np.float64)]
        for i in knots[1:]:
            made.append(self._next(made[-1], world_T_ee[i], int(i)))
        guess = CubicSpline(knots, np.array(made))(np.arange(n))
        q = self.solve(guess, world_T_ee, ROUNDS)
        missed = np.flatnonzero(~np.isfinite(q).all(axis=1))
        if len(missed):
            raise PathBroken("the pose is out of reach", int(missed[0]))
        self._check(q)
        return q

    def _next(self, q: Array, target: Array, at: int) -> Array:
        """Return the configuration at the next knot; an arm with joints to spare moves them from their limits."""
        guess = np.array(q)[None]
        if len(q) > POSE_DOF:
            frames = self._frames(guess)
            step, spare = self._step(frames, _error(frames[-1], target[None]))
            away = np.clip(spare[0] @ (self._middle - q), -SPARE_RAD, SPARE_RAD)
            guess = guess + np.clip(step, -STEP_RAD, STEP_RAD) + away
        found = np.asarray(self.solve(guess, target[None])[0])
        if not np.isfinite(found).all():
            raise PathBroken("the pose is out of reach", at)
        return found

    def _check(self, q: Array) -> None:
        # A joint that is nearer to its limit at the beginning may stay as near.
        low, high = np.minimum(self._low, q[0]) - SLACK_RAD, np.maximum(self._high, q[0]) + SLACK_RAD
        beyond = np.flatnonzero(((q < low) | (q > high)).any(axis=1))
        if len(beyond):
            i = int(beyond[0])
            joint = int(np.maximum(low - q[i], q[i] - high).argmax())
            raise PathBroken(f"{self.arm.joint_names[joint]} would be at its limit", i)
        jumps = np.flatnonzero(np.abs(np.diff(q, axis=0)).max(axis=1) > JUMP_RAD)
        if len(jumps):
            raise PathBroken("the arm would jump to another configuration", int(jumps[0]) + 1)

    def _frames(self, q: Array) -> list[Array]:
        positions: dict[str, Array] = {name: np.full(len(q), value) for name, value in self._rest.items()}
        positions.update((name, q[:, i]) for i, name in enumerate(self.arm.joint_names))
        return self._chain.frames(positions, np.broadcast_to(self._base, (len(q), 4, 4)))

    def _step(self, frames: list[Array], error: Array) -> tuple[Array, Array]:
        """Return the change (k, dof) of the joints that reduces errors (k, 6), and what does not move the hand.

        The change is by damped least squares; the second is the projection (k, dof, dof) on the null space.
        """
        hand = frames[-1][:, :3, 3]
        dof = len(self.arm.joint_names)
        jacobian = np.zeros((len(hand), 6, dof))
        for place, joint, law in self._moving:
            world_axis = law.multiplier * (frames[place][:, :3, :3] @ joint.axis)
            if joint.type is JointKind.PRISMATIC:
                jacobian[:, :3, law.index] += world_axis
                continue
            jacobian[:, :3, law.index] += np.cross(world_axis, hand - frames[place][:, :3, 3])
            jacobian[:, 3:, law.index] += world_axis
        turned = jacobian.transpose(0, 2, 1)
        square = jacobian @ turned + (DAMPING * np.linalg.norm(error, axis=1))[:, None, None] ** 2 * np.eye(6)
        square += 1e-9 * np.eye(6)
        inverse = turned @ np.linalg.inv(square)
        return (inverse @ error[:, :, None])[:, :, 0], np.eye(dof) - inverse @ jacobian


def _error(here: Array, target: Array) -> Array:
    """Return the way (k, 6) [m, rad] from poses to others, in the world."""
    turn = target[:, :3, :3] @ here[:, :3, :3].transpose(0, 2, 1)
    sine = 0.5 * np.stack(
        [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], axis=1
    )
    return np.hstack([target[:, :3, 3] - here[:, :3, 3], sine])


def _is_met(error: Array, share: float = 1.0) -> Array:
    moved, turned = np.linalg.norm(error[:, :3], axis=1), np.linalg.norm(error[:, 3:], axis=1)
    return np.asarray((moved < share * WITHIN_M) & (turned < share * WITHIN_RAD))
