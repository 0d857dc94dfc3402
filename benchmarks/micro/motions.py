"""Duration of timed motions, against bounds, and the time of timing: random paths without obstacles.

``all moves``: the way points at the velocity limits, as if acceleration and jerk were free. ``with stops``: every line
by itself, from rest to rest at the limits of velocity, acceleration and jerk.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.mbm.rows import markdown
from handiwork_core.model.geometry import Array
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.postprocessing import PARTS, ROUNDING
from handiwork_planning.search.requests import limits_of
from handiwork_planning.timing.parameterization import Corners, Limits, parameterise

from .clocked import clocked

FR3 = Path(__file__).parents[2] / "src/robot_description/robots/fr3"
PERCENTILES = (10, 50, 90, 99)


def random_path(rng: np.random.Generator, low: Array, high: Array) -> Array:
    """Return 3 to 8 way points (k, n) like those of shortened paths: steps of about 1 rad.

    Args:
        rng: Random numbers.
        low: Joint limits, (n,), rad.
        high: Joint limits, (n,), rad.
    """
    points = [rng.uniform(low, high)]
    while len(points) < rng.integers(3, 9):
        points.append(np.clip(points[-1] + rng.normal(size=len(low)) * 0.5, low, high))
    return np.array(points)


def from_rest_to_rest(moves: Array, limits: Limits) -> float:
    """Return the least time of one line, all joints together: the slowest joint's own, with seven phases or fewer, s.

    Args:
        moves: The line, (n,), rad.
        limits: Limits of velocity, acceleration and jerk.
    """
    longest = 0.0
    for d, v, a, j in zip(np.abs(moves), limits.velocity, limits.acceleration, limits.jerk, strict=True):
        a = min(a, np.sqrt(v * j))
        if d >= v * (v / a + a / j):
            time = d / v + v / a + a / j
        elif d >= 2.0 * a**3 / j**2:
            time = a / j + np.sqrt((a / j) ** 2 + 4.0 * d / a)
        else:
            time = 4.0 * np.cbrt(d / (2.0 * j))
        longest = max(longest, float(time))
    return longest


def corners_of(path: Array, low: Array, high: Array, level: int) -> Corners:
    """Return corners that are all rounded by one row of ``ROUNDING``.

    Args:
        path: Way points, (k, n), rad.
        low: Joint limits, (n,), rad.
        high: Joint limits, (n,), rad.
        level: The row.
    """
    share, shift = ROUNDING[level]
    return Corners(np.full(len(path), share), np.full(len(path), shift), PARTS, low, high)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    robot = load_robot(FR3)
    arm, rng = robot.arm(""), np.random.default_rng(0)
    limits = limits_of(robot, arm, 1.0, 1.0)
    low = np.array([robot.joints[name].lower for name in arm.joint_names])
    high = np.array([robot.joints[name].upper for name in arm.joint_names])
    paths = [random_path(rng, low, high) for _ in range(options.runs)]
    bare = np.array([(np.abs(np.diff(p, axis=0)) / limits.velocity).max(axis=1).sum() for p in paths])
    stops = np.array([sum(from_rest_to_rest(move, limits) for move in np.diff(p, axis=0)) for p in paths])
    lines = [["with stops / all moves", *(f"{x:.3f}" for x in np.percentile(stops / bare, PERCENTILES))]]
    for level, (share, shift) in enumerate(ROUNDING):
        parameterise(paths[0], limits, corners=corners_of(paths[0], low, high, level))
        made, spent = clocked(
            lambda p, level=level: parameterise(p, limits, corners=corners_of(p, low, high, level)), paths
        )
        last = np.array([samples.t[-1] for samples in made])
        name = f"share {share:g}, shift {shift:g}"
        for what, values in (
            ("/ all moves", last / bare),
            ("/ with stops", last / stops),
            ("timing, us", 1e6 * spent),
        ):
            lines.append([f"{name}: {what}", *(f"{x:.3f}" for x in np.percentile(values, PERCENTILES))])
    print(markdown(("motion", *(f"p{p}" for p in PERCENTILES)), lines))


if __name__ == "__main__":
    main()
