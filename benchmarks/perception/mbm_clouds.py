"""Plan MotionBenchMaker problems in clouds of their scenes: ``python -m benchmarks.perception.mbm_clouds``.

The surfaces of each scene become points, the points occupied cells, and the planner knows these alone. A problem is
solved if it has a plan, and clean if that plan keeps clear of the true shapes, which the referee of ``benchmarks.mbm``
judges. Problems whose start or goal is nearer to a true surface than the cells can tell are counted apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from benchmarks.mbm.measure import make_engine
from benchmarks.mbm.problems import SCENES, Problem, load_problems
from benchmarks.mbm.referee import Referee
from benchmarks.mbm.sphere_robot import load_sphere_robot
from benchmarks.perception.rates import rate
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, World
from handiwork_core.voxels.voxel_map import MOST_CELLS, VoxelGrid, VoxelMap

SPACING_M = 0.004
"""Distance of the points of a cloud, m."""
REACH_M, BELOW_M = 1.0, 0.7
"""The cells cover what is so near to the robot's base, and so far below it, m; too many are made larger ones."""


def line(length: float) -> Array:
    """Return numbers from minus to plus half of a length, SPACING_M apart or less.

    Args:
        length: The length, m.
    """
    count = max(2, int(np.ceil(length / SPACING_M)) + 1)
    return np.asarray(np.linspace(-0.5 * length, 0.5 * length, count), dtype=np.float64)


def surface(shape: Shape) -> Array:
    """Return points on the surface of a shape in its own frame, (n, 3), m.

    Args:
        shape: A box, a cylinder or a sphere.

    Raises:
        ValueError: It is of another kind.
    """
    if shape.kind is ShapeKind.BOX:
        sides = []
        for axis in range(3):
            across = [line(float(edge)) for i, edge in enumerate(shape.size) if i != axis]
            u, v = (part.ravel() for part in np.meshgrid(*across))
            side = np.column_stack([u, v])
            sides += [np.insert(side, axis, end * shape.size[axis], axis=1) for end in (-0.5, 0.5)]
        return np.concatenate(sides)
    radius = float(shape.size[0])
    around = np.linspace(0.0, 2.0 * np.pi, max(8, int(2.0 * np.pi * radius / SPACING_M)))
    if shape.kind is ShapeKind.CYLINDER:
        height = float(shape.size[1])
        a, z = (part.ravel() for part in np.meshgrid(around, line(height)))
        b, r = (part.ravel() for part in np.meshgrid(around, np.arange(0.0, radius, SPACING_M)))
        side = np.column_stack([radius * np.cos(a), radius * np.sin(a), z])
        ends = [
            np.column_stack([r * np.cos(b), r * np.sin(b), np.full(len(r), at)])
            for at in (-0.5 * height, 0.5 * height)
        ]
        return np.concatenate([side, *ends])
    if shape.kind is ShapeKind.SPHERE:
        a, b = (part.ravel() for part in np.meshgrid(around, np.linspace(0.0, np.pi, len(around) // 2)))
        return radius * np.column_stack([np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.cos(b)])
    raise ValueError(f"no cloud is made of a shape of kind {shape.kind.name}")


def seen(world: World, base: Array, cell_m: float) -> World:
    """Return a world that has a cloud of another's surfaces as occupied cells, and nothing else.

    Args:
        world: The true world.
        base: Place of the robot's base, (3,), m.
        cell_m: Edge of a cell, m.
    """
    parts = [
        (world.states[name].world_T_object @ shape.object_T_shape).apply(surface(shape))
        for name, item in world.objects.items()
        for shape in item.shapes
    ]
    points = np.concatenate([np.zeros((0, 3)), *parts])
    near = (np.abs(points - base) < REACH_M).all(axis=1) & (points[:, 2] > base[2] - BELOW_M)
    points = points[near]
    low, high = points.min(axis=0), points.max(axis=0) + cell_m
    x, y, z = 0.5 * (low + high)
    room_m = float(np.prod(high - low + cell_m) / MOST_CELLS) ** (1.0 / 3.0)
    grid = VoxelGrid.over((x, y, z), tuple(high - low), max(cell_m, 1.02 * room_m))
    return World(0.0, world.version, voxels=VoxelMap.of_points(grid, points, grain_m=SPACING_M))


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--per-scene", type=int, default=20)
    parser.add_argument("--scenes", default=",".join(SCENES))
    parser.add_argument("--cell", type=float, default=0.01)
    parser.add_argument("--budget", type=float, default=20.0, help="steady seconds for each plan")
    options = parser.parse_args()
    robot = load_sphere_robot("panda")
    engine = make_engine(robot)
    referee = Referee(robot.robot, robot.world_T_root, mounted=robot.mounted)
    base, total = robot.world_T_root.translation_m, Counter[str]()
    times: list[float] = []
    for scene in options.scenes.split(","):
        count = Counter[str]()
        for problem in load_problems("panda", (scene,), options.per_scene, None):
            count.update(_attempt(engine, referee, problem, base, options, times))
        total.update(count)
        _print_row(scene, count)
    _print_row("all", total)
    p50, p95 = 1e3 * np.percentile(times, (50, 95))
    print(f"full plan, processor time: p50 {p50:.1f} ms, p95 {p95:.1f} ms")
    engine.close()
    return 0


def _attempt(
    engine: object,
    referee: Referee,
    problem: Problem,
    base: Array,
    options: argparse.Namespace,
    times: list[float],
) -> list[str]:
    """Plan one problem, and return what is counted of it."""
    from handiwork_planning.cpu_engine import CpuEngine

    assert isinstance(engine, CpuEngine)
    engine.update_world(seen(problem.world, base, options.cell))
    began = time.process_time()
    result = engine.plan(
        replace(problem.request(budget_s=options.budget, seed=0, to_pose=False)), lambda: False
    )
    times.append(time.process_time() - began)
    ends = np.concatenate([problem.start[None], problem.goals])
    room_m = referee.clearance(ends, problem.world)[0]
    counted = ["all", *(["open"] if room_m > 2.0 * options.cell else [])]
    if result.code is not Code.OK or result.trajectory is None:
        print(
            f"{problem.id}: {result.code.name}, ends are {1e3 * room_m:.1f} mm clear: {result.message}",
            flush=True,
        )
        return counted
    counted += ["solved", *(["open solved"] if "open" in counted else [])]
    ruling = referee.timed(result.trajectory, problem.start, problem.goals, problem.world)
    if ruling.clean:
        counted.append("clean")
    else:
        print(f"{problem.id}: not clean: {1e3 * ruling.world_m:.1f} mm to the true world", flush=True)
    return counted


def _print_row(name: str, count: Counter[str]) -> None:
    solved, clean = rate(count["solved"], count["all"]), rate(count["clean"], count["solved"])
    print(f"| {name} | {solved} | {rate(count['open solved'], count['open'])} | {clean} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
