"""Inverse kinematics on one core: ``python -m benchmarks.ik [--robot ur10e] [--poses FILE] [--spheres FILE]``.

Without files: the poses of 1,000 configurations drawn evenly within limits. A pose counts as found when plain forward
kinematics puts the tool within 0.02 mm and 0.02 mrad of it, within limits. Times are CPU times of this process.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import IkRequest, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.robot import kinematics
from handiwork_core.robot.robot import Robot
from planner_node.engines import CpuEngine

from .arms import ARMS, from_file, limits
from .peers import PEERS, Absent

WITHIN = 2.0e-5
"""Largest error of a pose that counts as found, m and rad."""


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """Poses to reach.

    Attributes:
        poses: base_T_ee.
        reference: A configuration of each that reaches it, (k, dof), rad.
    """

    poses: tuple[Pose, ...]
    reference: Array


def drawn(robot: Robot, count: int, seed: int) -> Poses:
    """Return poses of configurations that are uniform within limits; a joint with several turns gets one about zero.

    Args:
        robot: The robot.
        count: Number of poses.
        seed: Seed of the configurations.
    """
    low, high = limits(robot)
    q = np.random.default_rng(seed).uniform(
        np.maximum(low, -np.pi), np.minimum(high, np.pi), (count, len(low))
    )
    return Poses(tuple(kinematics.forward(robot, "", row) for row in q), q)


def read(path: Path) -> Poses:
    """Read poses and configurations from a JSON file.

    Args:
        path: The file. ``pose``: rows x, y, z, qw, qx, qy, qz; ``q_ref``: configurations.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    poses = tuple(Pose.of(row[:3], Rotation.from_wxyz(row[3:])) for row in content["pose"])
    return Poses(poses, np.array(content["q_ref"]))


def reached(robot: Robot, poses: Sequence[Pose], q: Array) -> Array:
    """Check by plain forward kinematics which poses are reached, (k,) bool.

    Args:
        robot: The robot.
        poses: base_T_ee.
        q: Configurations, (k, dof), rad; nan without a solution.
    """
    low, high = limits(robot)
    good = np.zeros(len(poses), dtype=bool)
    for i in np.flatnonzero(np.isfinite(q).all(axis=1)):
        there = kinematics.forward(robot, "", q[i])
        near = there.almost_equal(poses[i], within_m=WITHIN, within_rad=WITHIN)
        good[i] = near and bool((q[i] >= low - 1e-9).all() and (q[i] <= high + 1e-9).all())
    return good


def show(name: str, good: Array, total_s: float, single_us: Array) -> None:
    """Print one row.

    Args:
        name: Its label.
        good: Whether each pose was found, (k,) bool.
        total_s: Time for all poses, s.
        single_us: Time for each pose, (k,), us.
    """
    p50, p95, p99 = np.percentile(single_us, [50, 95, 99])
    found, rate = 100.0 * good.mean(), good.sum() / total_s
    print(f"{name:<44}{found:>8.2f}{rate:>12.0f}{p50:>10.1f}{p95:>9.1f}{p99:>9.1f}", flush=True)


def engine_rows(robot: Robot, work: Poses) -> None:
    """Print the engine's rows: all poses in one request for the rate, one request each for the percentiles.

    Args:
        robot: The robot.
        work: The poses.
    """
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    home = np.array(robot.arm("").home_q)
    free = np.array([engine.explain("", q, SceneQuery()).code is Code.OK for q in work.reference])
    for avoid in (False, True):
        spent = []
        for _ in range(5):
            began = time.process_time()
            result = engine.solve_ik(IkRequest("", work.poses, home, avoid_collision=avoid), lambda: False)
            spent.append(time.process_time() - began)
        single = []
        for pose in work.poses:
            began = time.process_time()
            engine.solve_ik(IkRequest("", (pose,), home, avoid_collision=avoid), lambda: False)
            single.append(1e6 * (time.process_time() - began))
        good = reached(robot, work.poses, result.q)
        show(
            f"{robot.name}, {'free of self-collision' if avoid else 'any'}",
            good,
            np.median(spent),
            np.array(single),
        )
        if avoid:
            share, known = 100.0 * good[free].mean(), int(free.sum())
            print(f"  of {known} poses known to have a free configuration: {share:.2f} % found")


def peer_rows(robot: Robot, work: Poses) -> None:
    """Print the rows of other solvers, a pose at a time, without collisions; an absent one is named.

    Args:
        robot: The robot.
        work: The poses.
    """
    for name, make in PEERS.items():
        try:
            solve = make(robot)
        except Absent as why:
            print(f"{name}: {why}")
            continue
        q, single = np.full(work.reference.shape, np.nan), []
        for i, pose in enumerate(work.poses):
            matrix, began = pose.matrix(), time.process_time()
            solution = solve(matrix, work.reference[0])
            single.append(1e6 * (time.process_time() - began))
            if solution is not None:
                q[i] = solution
        show(
            f"{robot.name}, any: {name}", reached(robot, work.poses, q), 1e-6 * sum(single), np.array(single)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", choices=sorted(ARMS), action="append", help="default: all")
    parser.add_argument("--poses", type=Path, help="poses and the configurations they come from")
    parser.add_argument("--spheres", type=Path, help="a robot of spheres instead of --robot")
    parser.add_argument("--frame", default="tool0", help="its tool")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    robots = [ARMS[name]() for name in options.robot or ARMS]
    if options.spheres:
        robots = [from_file(options.spheres, options.frame)]
    print(
        f"{'one thread, CPU time':<44}{'found %':>8}{'solutions/s':>12}{'1 pose us':>10}{'p95':>9}{'p99':>9}"
    )
    for robot in progress(robots, "ik"):
        work = read(options.poses) if options.poses else drawn(robot, options.count, options.seed)
        engine_rows(robot, work)
        peer_rows(robot, work)


if __name__ == "__main__":
    main()
