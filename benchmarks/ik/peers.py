"""Analytic solvers from PyPI, for this benchmark: ``pip install EAIK frankik`` in an environment that has Handiwork."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot import kinematics
from handiwork_core.robot.robot import Robot

from .arms import limits

GRID = 40
"""Number of values of a seventh joint that are tried, in random order."""

Solve = Callable[[Array, Array], "Array | None"]
"""A solver: from a pose (4, 4) and a configuration to start from to one within limits."""


class Absent(Exception):
    """A peer is not installed, or does not know the arm; the message says which."""


def eaik(robot: Robot) -> Solve:
    """Return EAIK: all solutions of six joints by subproblems; a seventh is locked at one value after the other.

    Args:
        robot: The robot.

    Raises:
        Absent: EAIK is not installed, or cannot solve the arm.
    """
    try:
        from eaik.pybindings.EAIK import Robot as Peer
    except ImportError:
        raise Absent("not installed") from None
    low, high = limits(robot)
    names = robot.arm("").joint_names
    at_zero = kinematics.link_poses(robot, dict.fromkeys(names, 0.0))
    links = [robot.joints[name].child for name in names]
    axes = np.array(
        [at_zero[robot.joints[name].child].rotation.matrix() @ robot.joints[name].axis for name in names]
    )
    tool = at_zero[robot.arm("").ee_link]
    places = np.array([at_zero[link].translation_m for link in links] + [tool.translation_m])
    steps = np.diff(places, axis=0, prepend=np.zeros((1, 3)))
    locks: list[list[tuple[int, float]]] = [[]]
    if len(low) == 7:
        locks = [[(6, value)] for value in _grid(low[6], high[6])]
    peers = [Peer(axes.T, steps.T, tool.rotation.matrix(), lock, True) for lock in locks]
    if not peers[0].has_known_decomposition():
        raise Absent(f"has no decomposition for {robot.name}")

    def candidates(pose: Array) -> Iterator[Array]:
        for peer, lock in zip(peers, locks, strict=True):
            found = peer.calculate_IK(pose)
            for q, guess in zip(found.Q, found.is_LS, strict=True):
                if not guess:
                    yield np.append(q, [value for _, value in lock])[: len(low)]

    def solve(pose: Array, _near: Array) -> Array | None:
        for q in candidates(pose):
            turned = np.where(q > high, q - 2.0 * np.pi, np.where(q < low, q + 2.0 * np.pi, q))
            if (turned >= low).all() and (turned <= high).all():
                return turned
        return None

    return solve


def frankik(robot: Robot) -> Solve:
    """Return frankik: the Panda alone, its seventh joint as above; it takes the flange's pose, not the hand's.

    Args:
        robot: The robot.

    Raises:
        Absent: frankik is not installed, or does not know the arm.
    """
    if robot.name.split("_")[0] != "panda":
        raise Absent(f"does not know {robot.name}")
    try:
        import frankik as peer
    except ImportError:
        raise Absent("not installed") from None
    low, high = limits(robot)
    half = np.sqrt(0.5)
    hand_T_flange = np.eye(4)
    hand_T_flange[:2, :2] = [[half, -half], [half, half]]
    values = _grid(low[6], high[6])

    def solve(pose: Array, near: Array) -> Array | None:
        flange = pose @ hand_T_flange
        for value in values:
            for q in peer.ik_full(flange, near, value, False):
                if not np.isnan(q[0]):
                    return np.asarray(q)
        return None

    return solve


PEERS: dict[str, Callable[[Robot], Solve]] = {"EAIK": eaik, "frankik": frankik}


def _grid(low: float, high: float) -> list[float]:
    values = np.linspace(low + 0.05, high - 0.05, GRID)
    np.random.default_rng(0).shuffle(values)
    return [float(value) for value in values]
