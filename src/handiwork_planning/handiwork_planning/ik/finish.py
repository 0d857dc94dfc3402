"""The last steps of inverse kinematics from near solutions that were found elsewhere, each tested for collision."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.batch_checker import checker_of
from handiwork_planning.collision.motion_check import touches
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.scene.query import Query

from .single import descend

REACHED, TOUCHES, MISSED = 0, 1, 2
"""The result of a start: a free solution, one that touches something, or none."""
STEPS = 12
"""Largest number of steps from a start that is within millimetres of its pose."""
LEAST = 256
"""Fewer starts are not divided among threads."""


def finished(query: Query, goals: Array, q: Array) -> tuple[Ints, Array]:
    """Move near solutions to their poses in place, and test them; all cores share the work.

    Args:
        query: Robot, scene and margins.
        goals: world_T_ee of each, (p, 12).
        q: Joint positions near a solution of each, (p, n), rad or m; written.

    Returns:
        REACHED, TOUCHES or MISSED of each, (p,), and the errors that are left, (p, 2), m and rad.
    """
    states, errors = np.empty(len(q), dtype=np.int64), np.empty((len(q), 2))
    parts = max(1, min(len(os.sched_getaffinity(0)), len(q) // LEAST))
    bounds = np.linspace(0, len(q), parts + 1).astype(int)

    def work(k: int) -> None:
        some = slice(bounds[k], bounds[k + 1])
        # A checker has scratch of its own: threads must not share one.
        checker = checker_of(query.robot, query.scene, query.margins)
        finish(checker, goals[some], q[some], STEPS, states[some], errors[some])

    if parts == 1:
        work(0)
    else:
        with ThreadPoolExecutor(parts) as threads:
            list(threads.map(work, range(parts)))
    return states, errors


def compile_finish(query: Query, home: Array) -> None:
    """Compile the kernel, or load it: the first call on a machine takes about a minute.

    Args:
        query: Any query of the robot.
        home: Joint positions, (n,), rad or m.
    """
    goal = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    finished(query, goal[None], home[None].copy())


@kernel
def finish(c: Checker, goals: Array, q: Array, steps: int, states: Ints, errors: Array) -> None:
    """Do the work of ``finished`` on one core.

    Args:
        c: Robot, world and margins.
        goals: world_T_ee of each, (p, 12).
        q: Joint positions, (p, n), rad or m; written.
        steps: Largest number of steps.
        states: Written, (p,).
        errors: Written, (p, 2).
    """
    n = q.shape[1]
    row, goal, error, hit = np.empty(n), np.empty(12), np.empty(6), np.zeros(2, dtype=np.int64)
    for i in range(len(q)):
        row[:] = q[i]
        goal[:] = goals[i]
        good = descend(row, goal, c.robot, steps, error)
        errors[i, 0] = np.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2)
        errors[i, 1] = np.sqrt(error[3] ** 2 + error[4] ** 2 + error[5] ** 2)
        if not good:
            states[i] = MISSED
            continue
        q[i] = row
        states[i] = TOUCHES if touches(c, row, hit) else REACHED
