"""Goals of the planner for the constraint sets of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.robot.groups import rigid_links

from .projection import ConstraintSolver
from .regions import radius_of, sample_in
from .types import ConstraintSet, OrientationConstraint

EXACT_M, EXACT_RAD = 0.005, 0.05
"""Tolerances up to which only the middle of a region is tried at first, m and rad."""
SAMPLES = 16
"""Further poses of a set with wide tolerances."""
CONFIGURATIONS = 8
"""Configurations of a set that no single pose of the EE describes."""


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """What the goals of one request are computed from.

    Attributes:
        robot: The robot.
        arm: The arm of the group.
        world_T_root: Pose of the robot's root link.
        positions: Positions of all joints at the start, rad or m.
        seed: Seed of random choices.
    """

    robot: Robot
    arm: ArmSpec
    world_T_root: Pose
    positions: Mapping[str, float]
    seed: int = 0

    def link_poses(self, links: Sequence[str], q: Array | None = None) -> dict[str, Pose]:
        """Return ``world_T_link`` of some links.

        Args:
            links: Their names.
            q: Positions of the arm's joints, (dof,); None: those of the start.
        """
        if not links:
            return {}
        named = dict(self.positions)
        if q is not None:
            named.update(zip(self.arm.joint_names, q.tolist(), strict=True))
        found = link_poses(self.robot, named, tuple(links))
        return {link: self.world_T_root @ found[link] for link in links}


@dataclass(frozen=True, slots=True, eq=False)
class PlannerGoals:
    """Goals of which the planner reaches any one.

    Attributes:
        world_T_ee: Poses of the arm's EE link.
        q: Configurations, (n, dof), rad or m.
        is_exact: True if nothing else satisfies the sets, so that further samples find nothing.
    """

    world_T_ee: tuple[Pose, ...]
    q: Array
    is_exact: bool


def goals_of(sets: Sequence[ConstraintSet], situation: Situation) -> PlannerGoals:
    """Return the first goals for the planner: poses of the EE where a set means them, else configurations.

    Args:
        sets: The sets of constraints, of which one must be satisfied.
        situation: The robot and its start.

    Raises:
        RequestError: A set is empty, or names a link that the arm does not move or a joint of another group.
    """
    poses, rows, is_exact = list[Pose](), list[Array](), True
    for number, one in enumerate(sets):
        _check(one, number, situation)
        found, exact = _ee_poses(one, situation)
        if found:
            poses += found
            is_exact = is_exact and exact
            continue
        q, exact = _configurations(one, situation)
        rows += list(q)
        is_exact = is_exact and exact
    if not poses and not rows:
        text = "goal_constraints: no configuration within the joint limits satisfies them; check the pose and the link"
        raise RequestError(ErrorCode.NO_IK_SOLUTION, text)
    return PlannerGoals(tuple(poses), np.array(rows).reshape(-1, len(situation.arm.joint_names)), is_exact)


def further_configurations(sets: Sequence[ConstraintSet], situation: Situation) -> Array:
    """Return configurations anywhere within the tolerances of the sets, for goals whose middle cannot be reached.

    Args:
        sets: The sets.
        situation: The robot and its start.

    Returns:
        Positions, (n, dof), rad or m; n may be 0.
    """
    rows = [row for one in sets for row in _solved(one, situation)]
    return np.array(rows).reshape(-1, len(situation.arm.joint_names))


def _check(one: ConstraintSet, number: int, situation: Situation) -> None:
    field, arm = f"goal_constraints[{number}]", situation.arm
    if one.is_empty:
        text = f"{field} has no constraint; add a joint, position or orientation constraint"
        raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
    for joint in one.joints:
        if joint.joint not in arm.joint_names:
            text = f"{field}: joint {joint.joint!r} is not in group {arm.name!r}, which has {list(arm.joint_names)}"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        limits = situation.robot.joints[joint.joint]
        if (
            joint.position - joint.below > limits.upper + 1e-9
            or joint.position + joint.above < limits.lower - 1e-9
        ):
            text = (
                f"{field}: joint {joint.joint!r} at {joint.position:.4f} leaves its limits {limits.lower:.4f} to "
                f"{limits.upper:.4f} by more than its tolerance; choose a position inside"
            )
            raise RequestError(ErrorCode.GOAL_STATE_INVALID, text)


def _ee_poses(one: ConstraintSet, situation: Situation) -> tuple[list[Pose], bool]:
    """Return the EE poses that a set of one position and one orientation means, and whether they are all."""
    if one.joints or len(one.positions) != 1 or len(one.orientations) != 1:
        return [], False
    place, turn = one.positions[0], one.orientations[0]
    arm = situation.arm
    if place.link != turn.link or place.link not in rigid_links(situation.robot, arm.ee_link):
        return [], False
    links = situation.link_poses((place.link, arm.ee_link))
    link_T_ee = links[place.link].inverse() @ links[arm.ee_link]
    is_exact = (
        max(radius_of(shape) for shape in place.region) <= EXACT_M
        and float(turn.tolerance_rad.max()) <= EXACT_RAD
    )

    def ee(point: Array, world_R_link: Rotation) -> Pose:
        origin = point - world_R_link.matrix() @ place.offset_m
        return Pose.of(origin, world_R_link) @ link_T_ee

    found = [ee(shape.object_T_shape.translation_m, turn.world_R_link) for shape in place.region]
    if not is_exact:
        rng = np.random.default_rng(situation.seed)
        for k in range(SAMPLES):
            shape = place.region[k % len(place.region)]
            found.append(ee(sample_in(shape, rng), _sampled_turn(turn, rng)))
    return found, is_exact


def _sampled_turn(turn: OrientationConstraint, rng: np.random.Generator) -> Rotation:
    """Return a random orientation within the tolerances."""
    angles = np.minimum(turn.tolerance_rad, np.pi) * rng.uniform(-0.95, 0.95, 3)
    if not turn.is_rotation_vector:
        x, y, z = (
            Rotation.from_axis_angle(axis, angle) for axis, angle in zip(np.eye(3), angles, strict=True)
        )
        return turn.world_R_link @ x @ y @ z
    length = float(np.linalg.norm(angles))
    if length < 1e-9:
        return turn.world_R_link
    return turn.world_R_link @ Rotation.from_axis_angle(angles, min(length, np.pi))


def _configurations(one: ConstraintSet, situation: Situation) -> tuple[list[Array], bool]:
    """Return configurations for a set without a pose, and whether they are the only ones."""
    arm, robot = situation.arm, situation.robot
    named = {joint.joint: joint for joint in one.joints}
    if one.positions or one.orientations or len(named) < len(arm.joint_names):
        return list(_solved(one, situation)), False
    limits = [(robot.joints[name].lower, robot.joints[name].upper) for name in arm.joint_names]
    q = [
        float(np.clip(named[name].position, low, high))
        for name, (low, high) in zip(arm.joint_names, limits, strict=True)
    ]
    return [np.array(q)], True


def _solved(one: ConstraintSet, situation: Situation) -> Array:
    solver = ConstraintSolver(
        situation.robot, situation.arm.joint_names, situation.world_T_root, situation.positions, one
    )
    return solver.solutions(situation.seed, CONFIGURATIONS)
