"""Agreement of both engines: forward kinematics, and the verdict on random configurations in the demo world."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Array
from handiwork_core.robot.kinematics import forward
from planner_node.engines import CuroboEngine
from planner_node.engines.curobo.model.spheres import INFLATE_M

from .machine import engine, fr3

ACTIVATION_M = 0.01
"""Distance from an obstacle at which cuRobo's costs begin, m: engines may differ by this without effect on a plan."""
FK = 1e-5


@dataclass(frozen=True, slots=True)
class Agreement:
    """Largest differences, and our largest distance from the border at configurations with different verdicts [m]."""

    fk_m: float
    fk_rad: float
    configurations: int
    touching: int
    differ: int
    farthest_m: float


def compare(ours: CuroboEngine, count: int, seed: int = 0) -> Agreement:
    """Compare both engines at random configurations of the engine's only arm.

    Args:
        ours: The engine on the GPU.
        count: Number of configurations.
        seed: Seed of the configurations.
    """
    core, robot = ours._gpu, ours._gpu.robot
    arm = robot.arm("")
    query = core.read(arm, SceneQuery())
    q = np.random.default_rng(seed).uniform(
        query.robot.lower, query.robot.upper, (count, len(arm.joint_names))
    )
    solvers = ours._batches.configurations(arm.name, SceneQuery())
    poses, touches = solvers.tool_poses(q), ~solvers.free(q)
    fk_m, fk_rad = _kinematics(ours, q[:1000], poses[:1000])
    border = np.array([_distance(query, row) for row in q])
    differ = touches != (border < 0.0)
    return Agreement(
        fk_m,
        fk_rad,
        count,
        int((border < 0.0).sum()),
        int(differ.sum()),
        float(np.abs(border[differ]).max(initial=0.0)),
    )


def _distance(query: object, q: Array) -> float:
    """Return our distance [m], with the world nearer by the additional radius of cuRobo's spheres there."""
    d = query.distances(q, 0.1)  # type: ignore[attr-defined]
    shapes = len(query.scene.kind)  # type: ignore[attr-defined]
    return float(min(d[:, :shapes].min(initial=1.0) - INFLATE_M, d[:, shapes:].min(initial=1.0)))


def _kinematics(ours: CuroboEngine, q: Array, poses: Array) -> tuple[float, float]:
    robot, gaps, turns = ours._gpu.robot, [], []
    for row, pose in zip(q, poses, strict=True):
        there = forward(robot, "", row)
        gaps.append(float(np.linalg.norm(there.translation_m - pose[:3])))
        a = there.rotation.wxyz
        turns.append(2.0 * float(min(np.linalg.norm(a - pose[3:]), np.linalg.norm(a + pose[3:]))))
    return max(gaps), max(turns)


def main(_options: argparse.Namespace) -> int:
    ours = engine(CuroboEngine)
    assert isinstance(ours, CuroboEngine)
    assert fr3() is ours._gpu.robot
    found = compare(ours, 10_000)
    print(
        f"Forward kinematics differ by {found.fk_m:.1e} m and {found.fk_rad:.1e} rad at most.\n\n"
        f"Of {found.configurations} configurations {found.touching} touch; verdicts differ on {found.differ}, where "
        f"our distance is {1e3 * found.farthest_m:.3f} mm from the border at most "
        f"(allowed: {1e3 * ACTIVATION_M:.0f} mm)."
    )
    return int(found.fk_m > FK or found.fk_rad > FK or found.farthest_m > ACTIVATION_M)
