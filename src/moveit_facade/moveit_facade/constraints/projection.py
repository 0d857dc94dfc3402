"""Configurations that satisfy constraints, by damped least squares from many starts.

The step is ``J^T (J J^T + d^2 I)^-1 r`` (Nakamura and Hanafusa 1986), with r the part of the error outside of the
tolerances, so that constraints with wide tolerances leave the arm free.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot
from moveit_facade.robot.chain import LinkChain

from .evaluation import evaluate, orientation_error, worst
from .regions import nearest_of
from .types import ConstraintSet

DAMPING = 0.05
STEPS = 60
LARGEST_STEP_RAD = 0.3
MARGIN = 0.2
"""Share of each tolerance that a solution keeps from its border."""
STARTS = 24


class ConstraintSolver:
    """Finds configurations of a group that satisfy one set of constraints.

    Args:
        robot: The robot.
        joint_names: Joints of the group.
        world_T_root: Pose of the robot's root link.
        positions: Positions of all joints at the start, rad or m.
        constraints: The set; its joints belong to the group.
    """

    def __init__(
        self,
        robot: Robot,
        joint_names: tuple[str, ...],
        world_T_root: Pose,
        positions: Mapping[str, float],
        constraints: ConstraintSet,
    ) -> None:
        self._names, self._constraints = joint_names, constraints
        others = {name: value for name, value in positions.items() if name not in joint_names}
        self._chains = {
            link: LinkChain(robot, link, joint_names, world_T_root, others) for link in constraints.links
        }
        self._start = np.array([positions[name] for name in joint_names])
        joints = [robot.joints[name] for name in joint_names]
        self._lower = np.array([joint.lower for joint in joints])
        self._upper = np.array([joint.upper for joint in joints])
        self._index = {name: i for i, name in enumerate(joint_names)}

    def solutions(self, seed: int, count: int) -> Array:
        """Return configurations that satisfy the set, the one found from the start first.

        Args:
            seed: Seed of the random starts.
            count: Greatest number of configurations.

        Returns:
            Positions, (n, dof), rad or m; n is 0 if none was found.
        """
        rng, found = np.random.default_rng(seed), list[Array]()
        for attempt in range(STARTS):
            q = self._start if attempt == 0 else rng.uniform(self._lower, self._upper)
            q = self._solve(np.clip(q, self._lower, self._upper))
            if self._is_met(q) and all(np.abs(q - other).max() > 1e-3 for other in found):
                found.append(q)
            if len(found) == count:
                break
        return np.array(found).reshape(-1, len(self._names))

    def _solve(self, q: Array) -> Array:
        for _ in range(STEPS):
            residual, jacobian = self._errors(q)
            if not np.abs(residual).max(initial=0.0) > 1e-7:
                break
            square = jacobian @ jacobian.T + DAMPING**2 * min(1.0, float(residual @ residual)) * np.eye(
                len(residual)
            )
            step = jacobian.T @ np.linalg.solve(square + 1e-9 * np.eye(len(residual)), residual)
            step *= min(1.0, LARGEST_STEP_RAD / max(float(np.abs(step).max()), 1e-12))
            q = np.clip(q + step, self._lower, self._upper)
        return q

    def _errors(self, q: Array) -> tuple[Array, Array]:
        """Return the errors to remove, (k,), and their Jacobian, (k, dof)."""
        rows, errors = list[Array](), list[Array]()
        states = {link: chain.state(q) for link, chain in self._chains.items()}
        keep = 1.0 - MARGIN
        for one in self._constraints.joints:
            i = self._index[one.joint]
            wanted = np.clip(q[i], one.position - keep * one.below, one.position + keep * one.above)
            errors.append(np.array([wanted - q[i]]))
            rows.append(np.eye(len(q))[i : i + 1])
        for place in self._constraints.positions:
            state = states[place.link]
            point = state.world_T_link.apply(place.offset_m)
            errors.append(nearest_of(place.region, point, MARGIN) - point)
            arm = point - state.world_T_link.translation_m
            rows.append(state.jacobian[:3] - np.cross(arm, state.jacobian[3:].T).T)
        for turn in self._constraints.orientations:
            state = states[turn.link]
            error = orientation_error(turn, state.world_T_link.rotation)
            excess = error - np.clip(error, -keep * turn.tolerance_rad, keep * turn.tolerance_rad)
            errors.append(-turn.world_R_link.matrix() @ excess)
            rows.append(state.jacobian[3:])
        return np.concatenate(errors), np.vstack(rows)

    def _is_met(self, q: Array) -> bool:
        links = {link: chain.state(q).world_T_link for link, chain in self._chains.items()}
        joints = dict(zip(self._names, q.tolist(), strict=True))
        return worst(evaluate(self._constraints, joints, links)) is None
