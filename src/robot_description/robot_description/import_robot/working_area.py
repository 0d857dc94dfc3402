"""Measures how near and how far from its base an arm can point its hand straight down, for a scene that suits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.batch_kinematics import BatchChain
from handiwork_core.robot.robot import ArmSpec, Robot
from robot_description.collision_pairs.many_poses import free_joints, many_link_poses
from robot_description.collision_pairs.pair_sampling import pair_gaps

FINE_M, FINE_TO_M, STEP_M, FARTHEST_M = 0.025, 0.4, 0.05, 1.5
"""Distance of the radii that are tried up to the second, for small arms, and beyond it; the largest of them, m."""
LOW_M, OVER_M = 0.03, 0.22
"""Heights of the TCP over the base: at a small object, and over a bin with an object in the hand, m."""
ANGLES = (-0.55, 0.0, 0.45)
"""Directions from the base about z, 0 along x, in which the radii are tried, rad."""
STARTS, ROUNDS = 24, 60
DAMPING, LARGEST_STEP = 0.03, 0.25
"""Damping of the least squares, and largest step of a joint in one round, rad or m."""
MET_M, MET_RAD = 0.002, 0.02
WIDEST = np.pi
"""Joints that turn farther start within this, rad."""


@dataclass(frozen=True, slots=True)
class WorkingArea:
    """The longest range of radii about the base at which the hand can point down.

    Attributes:
        near_m: The smallest radius, m.
        far_m: The largest one, m.
        over_m: Height of the TCP over the base up to which this holds, m.
    """

    near_m: float
    far_m: float
    over_m: float = OVER_M


def working_area(robot: Robot, arm: ArmSpec, seed: int = 0, *, over_m: float = OVER_M) -> WorkingArea | None:
    """Measure the working area by damped least squares from random starts.

    A radius counts if it is reached at all heights and in all directions without a collision of the robot with itself.
    The turn about the vertical is free.

    Args:
        robot: The robot, with spheres and ignored pairs.
        arm: Its arm, with a gripper or a suction cup.
        seed: Seed of the starts.
        over_m: The greater height of the TCP over the base, m.

    Returns:
        The area; None if the hand points down nowhere.
    """
    fine = np.arange(2.0 * FINE_M, FINE_TO_M, FINE_M)
    radii = np.concatenate([fine, np.arange(FINE_TO_M, FARTHEST_M + 1e-9, STEP_M)])
    cells = [(r, a, z) for r in radii for a in ANGLES for z in (LOW_M, over_m)]
    targets = np.array([(r * np.cos(a), r * np.sin(a), z) for r, a, z in cells])
    met = _met(robot, arm, np.repeat(targets, STARTS, axis=0), np.random.default_rng(seed))
    reached: NDArray[np.bool_] = np.any(met.reshape(len(radii), -1, STARTS), axis=2)
    each: list[bool] = np.all(reached, axis=1).tolist()
    best: tuple[int, int] | None = None
    start = 0
    for i in range(len(each)):
        start = i + 1 if not each[i] else start
        if each[i] and (best is None or radii[i] - radii[start] > radii[best[1]] - radii[best[0]]):
            best = (start, i)
    return None if best is None else WorkingArea(float(radii[best[0]]), float(radii[best[1]]), over_m)


def _met(robot: Robot, arm: ArmSpec, targets: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which targets (n, 3) in the frame of the base are reached from their starts, (n,)."""
    count = len(targets)
    middle = {joint.name: float(np.clip(0.0, joint.lower, joint.upper)) for joint in free_joints(robot)}
    q: dict[str, Array] = {name: np.full(count, value) for name, value in middle.items()}
    if arm.gripper is not None and arm.gripper.joint in q:  # closed fingers may count as touching each other
        q[arm.gripper.joint][:] = arm.gripper.position(arm.gripper.max_width_m)
    turn, place = (part[0] for part in many_link_poses(robot, q, (arm.base_link,))[arm.base_link])
    goals, down = targets @ turn.T + place, turn @ np.array([0.0, 0.0, -1.0])
    joints = [robot.joints[name] for name in arm.joint_names]
    for joint in joints:
        wide = joint.type is JointKind.REVOLUTE
        low, high = (
            (max(joint.lower, -WIDEST), min(joint.upper, WIDEST)) if wide else (joint.lower, joint.upper)
        )
        low, high = (low, high) if low < high else (joint.lower, joint.upper)
        q[joint.name] = rng.uniform(low, high, count)
    for _ in range(ROUNDS):
        error, jacobian = _error(robot, arm, q, goals, down)
        square = jacobian @ jacobian.transpose(0, 2, 1) + DAMPING**2 * np.eye(6)
        step = np.einsum("nij,ni->nj", jacobian, np.linalg.solve(square, error[:, :, None])[:, :, 0])
        step *= np.minimum(1.0, LARGEST_STEP / np.maximum(np.abs(step).max(axis=1), 1e-12))[:, None]
        for i, joint in enumerate(joints):
            q[joint.name] = np.clip(q[joint.name] + step[:, i], joint.lower, joint.upper)
    error, _ = _error(robot, arm, q, goals, down)
    near = np.linalg.norm(error[:, :3], axis=1) < MET_M
    there: NDArray[np.bool_] = near & (np.linalg.norm(error[:, 3:], axis=1) < MET_RAD)
    rows = np.flatnonzero(there)
    there[rows] = _apart(robot, {name: values[rows] for name, values in q.items()})
    return there


def _error(
    robot: Robot, arm: ArmSpec, q: Mapping[str, Array], goals: Array, down: Array
) -> tuple[Array, Array]:
    """Return the errors (n, 6) of the TCP's place and the hand's axis, and the Jacobians (n, 6, dof)."""
    assert arm.gripper is not None
    chain = BatchChain(robot, arm.ee_link, arm.base_link).driven(arm.joint_names)
    frames = many_link_poses(robot, q, {*(joint.child for _, joint, _ in chain), arm.ee_link, arm.tcp_link})
    tcp, axis = frames[arm.tcp_link][1], frames[arm.ee_link][0][:, :, arm.gripper.ee_axis]
    off = np.cross(axis, down)
    # Where the hand points up the cross product vanishes: any turn will do.
    off[axis @ down < -0.999] = np.cross(down, (0.6, 0.8, 0.0) if abs(down[2]) > 0.5 else (0.0, 0.0, 1.0))
    jacobian = np.zeros((len(goals), 6, len(arm.joint_names)))
    for _, joint, law in chain:
        turn, place = frames[joint.child]
        along = law.multiplier * (turn @ joint.axis)
        if joint.type is JointKind.PRISMATIC:
            jacobian[:, :3, law.index] += along
            continue
        across = along - np.einsum("ni,ni->n", along, axis)[:, None] * axis  # the turn about the axis is free
        jacobian[:, :3, law.index] += np.cross(along, tcp - place)
        jacobian[:, 3:, law.index] += across
    return np.concatenate([goals - tcp, off], axis=1), jacobian


def _apart(robot: Robot, q: Mapping[str, Array]) -> NDArray[np.bool_]:
    """Return at which configurations (n,) no checked pair of links touches."""
    count = len(next(iter(q.values())))
    apart = np.ones(count, dtype=np.bool_)
    if not count:
        return apart
    frames = many_link_poses(robot, q)
    for i, a in enumerate(robot.spheres):
        for b in robot.spheres[i + 1 :]:
            if (min(a.link, b.link), max(a.link, b.link)) not in robot.ignored_pairs:
                apart &= pair_gaps(frames, a, b, count) >= 0.0
    return apart
