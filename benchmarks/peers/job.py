"""The job of a peer's process and its answers, as JSON files. Needs NumPy and nothing of Handiwork."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CLOCKS: dict[str, Callable[[], float]] = {"cpu": time.process_time, "wall": time.perf_counter}
RANGE_RAD = 1.0
"""Longest edge of the search trees, for every peer: faster for all of them than their defaults."""
STEP_RAD = 1.0 / 32.0
"""Distance of two checks along an edge, rad, for peers with such a setting."""
NAN = float("nan")


@dataclass(frozen=True)
class Body:
    """A solid of the world.

    Attributes:
        name: Its name.
        kind: "box" (full edges), "cylinder" (radius, length on z) or "sphere" (radius).
        size: The numbers of its kind, m.
        matrix: Its pose in the world, (4, 4).
    """

    name: str
    kind: str
    size: list[float]
    matrix: list[list[float]]

    @property
    def pose(self) -> Array:
        """The pose (4, 4) in the memory order of Eigen."""
        return np.asfortranarray(self.matrix, dtype=np.float64)


@dataclass(frozen=True)
class Task:
    """One problem.

    Attributes:
        id: Its name.
        bodies: The world.
        start: Configuration, (dof,), rad.
        goals: Configurations, (k, dof), rad.
    """

    id: str
    bodies: list[Body]
    start: list[float]
    goals: list[list[float]]


@dataclass(frozen=True)
class Job:
    """A robot as files, its limits, and the problems. ``pairs``: links that must not touch each other."""

    urdf: str
    srdf: str
    group: str
    ee_link: str
    joints: list[str]
    lower: list[float]
    upper: list[float]
    velocity: list[float]
    acceleration: list[float]
    pairs: list[list[str]]
    clock: str
    limit_s: float
    tasks: list[Task]


@dataclass(frozen=True)
class Motion:
    """A timed trajectory: ``t`` (n), the others (n, dof)."""

    t: list[float]
    q: list[list[float]]
    qd: list[list[float]]
    qdd: list[list[float]]


@dataclass(frozen=True)
class Answer:
    """The result of one task; times count from the start of the search [s]. ``path`` (k, dof), None if not found."""

    id: str
    plan_s: float
    simplified_s: float
    path: list[list[float]] | None
    full_s: float = NAN
    motion: Motion | None = None
    why: str = ""


def write_job(job: Job, path: Path) -> None:
    """Write a job as JSON.

    Args:
        job: The job.
        path: The file.
    """
    path.write_text(json.dumps(asdict(job)), encoding="utf-8")


def read_job(path: Path) -> Job:
    """Read a job that ``write_job`` wrote.

    Args:
        path: The file.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    tasks = [
        Task(t["id"], [Body(**body) for body in t["bodies"]], t["start"], t["goals"])
        for t in content["tasks"]
    ]
    return Job(**{**content, "tasks": tasks})


def read_answers(path: Path) -> list[Answer]:
    """Read the answers of a peer's process.

    Args:
        path: The file.
    """
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Answer(**{**row, "motion": row["motion"] and Motion(**row["motion"])}) for row in rows]


def serve(make: Callable[[Job], Callable[[Task], Answer]]) -> None:
    """Run a peer's process: two tasks to get warm, then all of them.

    Args:
        make: From a job to a function that solves one task.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("job", type=Path)
    parser.add_argument("answers", type=Path)
    options = parser.parse_args()
    job = read_job(options.job)
    solve = make(job)
    for task in job.tasks[:2]:
        solve(task)
    answers = [asdict(solve(task)) for task in job.tasks]
    options.answers.write_text(json.dumps(answers), encoding="utf-8")
