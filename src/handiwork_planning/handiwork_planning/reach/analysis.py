"""Tries the inverse kinematics of an arm on a grid of places, with many orientations at each."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.contracts.planning import Engine, IkRequest
from handiwork_core.model.geometry import Array, Pose, PoseArray, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.reach_map import ReachMap, ReachSource
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.cpu_engine import CpuEngine

from .orientations import sphere_directions, tool_rotations

BLOCK_POSES = 1024
"""Poses that a worker solves at once, about."""
ENGINE_POSES = 200_000
"""The same of an engine that was given: a GPU is fast with many poses only."""
REACH_STARTS, REACH_CLIMBS = 1000, 5
"""Random configurations, and those from which the greatest reach is searched."""

Watch = Callable[[Collection[int]], Iterable[int]]
"""Wraps the numbers of the blocks, so that a caller can show the progress."""


@dataclass(frozen=True, slots=True, eq=False)
class ReachSampling:
    """The places and orientations to try.

    Attributes:
        cell_m: Distance of the places, m.
        directions: Unit vectors along which the tool approaches, (d, 3), in ``world``.
        rolls: Number of angles about each direction.
        seed: Seed of the inverse kinematics.
        avoid_collision: Whether configurations that touch something count as not reached.
    """

    cell_m: float = 0.08
    directions: Array = field(default_factory=lambda: sphere_directions(12))
    rolls: int = 2
    seed: int = 0
    avoid_collision: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ReachTask:
    """What every worker needs.

    Attributes:
        robot: The robot.
        arm: Its arm.
        world_T_base: Pose of the robot's root link.
        world: The obstacles.
        sampling: Places and orientations.
        rotations: Orientations of the EE link, by direction.
        ee_T_tcp: Pose of the TCP on the EE link.
    """

    robot: Robot
    arm: ArmSpec
    world_T_base: Pose
    world: World
    sampling: ReachSampling
    rotations: list[list[Rotation]]
    ee_T_tcp: Pose


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Places that are solved together: (n, 3), m, and the number of the block."""

    number: int
    points_m: Array


def compute_reach(
    robot: Robot,
    arm: ArmSpec,
    sampling: ReachSampling,
    *,
    world_T_base: Pose | None = None,
    world: World | None = None,
    scene: str = "",
    workers: int | None = None,
    watch: Watch = iter,
    engine: Engine | None = None,
) -> ReachMap:
    """Compute the map of an arm. Equal arguments give equal maps, for any number of workers.

    With an engine of another kind a map differs by the few poses that only one of both reaches.

    Args:
        robot: The robot.
        arm: Its arm; all other joints stay at their home.
        sampling: Places and orientations.
        world_T_base: Pose of the robot's root link; None: the map is in the axes of that link.
        world: Obstacles; None: none but the robot itself.
        scene: Name of the scene that ``world`` is of.
        workers: Number of processes; None: one for each core, 1: this process.
        watch: See ``Watch``.
        engine: Solves the inverse kinematics in this process, such as one with a GPU; it is given ``world``. None: the
            CPU engine in the workers.

    Returns:
        The map.
    """
    base = world_T_base or Pose.identity()
    axis = arm.gripper.ee_axis if arm.gripper is not None else 2
    poses = link_poses(robot, {})
    task = ReachTask(
        robot,
        arm,
        base,
        world or World(0.0),
        sampling,
        tool_rotations(sampling.directions, sampling.rolls, axis),
        poses[arm.ee_link].inverse() @ poses[arm.tcp_link],
    )
    origin, shape, index = _grid(
        base @ poses[arm.base_link], greatest_reach_m(robot, arm) + sampling.cell_m, sampling.cell_m
    )
    poses_at_once = BLOCK_POSES if engine is None else ENGINE_POSES
    per_block = max(1, poses_at_once // (len(sampling.directions) * sampling.rolls))
    points = origin + sampling.cell_m * index
    blocks = [
        Block(number, points[first : first + per_block])
        for number, first in enumerate(range(0, len(points), per_block))
    ]
    reached = np.zeros((*shape, len(sampling.directions)), dtype=np.uint8)
    manipulability = np.full(shape, np.nan, dtype=np.float32)
    answers = _solved(task, blocks, workers or len(os.sched_getaffinity(0)), engine)
    for number, (counts, means) in zip(watch(range(len(blocks))), answers, strict=True):
        i, j, k = index[number * per_block : (number + 1) * per_block].T
        reached[i, j, k], manipulability[i, j, k] = counts, means
    frame = robot.root_link if world_T_base is None else "world"
    source = ReachSource(
        robot.name, arm.name, frame, scene, sampling.rolls, sampling.seed, sampling.avoid_collision
    )
    return ReachMap(
        source, base.matrix(), origin, sampling.cell_m, sampling.directions, reached, manipulability
    )


def greatest_reach_m(robot: Robot, arm: ArmSpec) -> float:
    """Return the greatest distance of the TCP from the arm's base link, m, of all configurations within the limits.

    Random configurations give the starts of a bounded optimisation (L-BFGS-B).

    Args:
        robot: The robot.
        arm: The arm.
    """
    kinematics = ArmKinematics(robot, arm)
    poses = link_poses(robot, {})
    ee_p_tcp = (poses[arm.ee_link].inverse() @ poses[arm.tcp_link]).translation_m
    joints = [robot.joints[name] for name in arm.joint_names]
    low, high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])

    def nearness(q: Array) -> float:
        base_T_ee = kinematics.pose_and_jacobian(q)[0]
        return -float(np.linalg.norm(base_T_ee[:3, :3] @ ee_p_tcp + base_T_ee[:3, 3]))

    starts = np.random.default_rng(0).uniform(low, high, (REACH_STARTS, len(joints)))
    best = sorted(starts, key=nearness)[:REACH_CLIMBS]
    bounds = list(zip(low, high, strict=True))
    return max(-float(minimize(nearness, q, method="L-BFGS-B", bounds=bounds).fun) for q in best)


def _grid(center: Pose, radius_m: float, cell_m: float) -> tuple[Array, tuple[int, int, int], Array]:
    """Return the first cell's centre, the numbers of cells, and the indices of those within the radius, (n, 3)."""
    low = np.floor((center.translation_m - radius_m) / cell_m)
    high = np.ceil((center.translation_m + radius_m) / cell_m)
    nx, ny, nz = (int(n) for n in high - low + 1)
    origin = cell_m * low
    index = np.stack(np.meshgrid(np.arange(nx), np.arange(ny), np.arange(nz), indexing="ij"), -1).reshape(
        -1, 3
    )
    distance = np.linalg.norm(origin + cell_m * index - center.translation_m, axis=1)
    return origin, (nx, ny, nz), index[distance <= radius_m]


def _solved(
    task: ReachTask, blocks: list[Block], workers: int, engine: Engine | None
) -> Iterator[tuple[Array, Array]]:
    """Yield the counts, (n, d), and mean manipulabilities, (n,), of each block in order."""
    if engine is not None or workers == 1:
        solver = _Solver(task, engine)
        yield from map(solver.solve, blocks)
        return
    _Solver(task)  # this process compiles the kernels once, or every worker would at the same time
    # A fork of this process would copy locks that its threads hold; the fork server has no threads.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(workers, context, _begin, (task,)) as pool:
        try:
            yield from pool.map(_work, blocks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Solver:
    """An engine with the obstacles, and the arm's Jacobian."""

    def __init__(self, task: ReachTask, engine: Engine | None = None) -> None:
        self._task = task
        self._engine = engine or CpuEngine(task.robot, task.world_T_base, lambda _share, _text: None)
        self._engine.update_world(task.world)
        self._kinematics = ArmKinematics(task.robot, task.arm)
        rotations = [rotation for of in task.rotations for rotation in of]
        self._wxyz = np.stack([rotation.wxyz for rotation in rotations])
        self._ee_p_tcp = np.stack([r.matrix() @ task.ee_T_tcp.translation_m for r in rotations])
        """The vector from the EE link to the TCP in each orientation, in the axes of the world, (r, 3), m."""

    def solve(self, block: Block) -> tuple[Array, Array]:
        task, sampling = self._task, self._task.sampling
        count = len(block.points_m)
        goals = PoseArray.from_rows(
            (block.points_m[:, None] - self._ee_p_tcp).reshape(-1, 3), np.tile(self._wxyz, (count, 1))
        )
        request = IkRequest(
            task.arm.name,
            goals,
            task.arm.home_q,
            avoid_collision=sampling.avoid_collision,
            seed=sampling.seed + block.number,
        )
        answer = self._engine.solve_ik(request, lambda: False)
        shape = (count, len(task.rotations), sampling.rolls)
        is_reached = np.array([code is Code.OK for code in answer.codes]).reshape(shape)
        measures = np.full(len(goals), np.nan)
        reached = np.flatnonzero(is_reached)
        measures[reached] = self._kinematics.manipulability(answer.q[reached])
        counts = is_reached.sum(axis=2)
        sums = np.nansum(measures.reshape(count, -1), axis=1)
        total = counts.sum(axis=1)
        return counts, np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0)


_worker: list[_Solver] = []
"""The solver of this worker process; empty in other processes."""


def _begin(task: ReachTask) -> None:
    _worker.append(_Solver(task))


def _work(block: Block) -> tuple[Array, Array]:
    return _worker[0].solve(block)
