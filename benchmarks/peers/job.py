"""What is given to a peer's process and what it answers, as JSON files. Needs NumPy and nothing of Handiwork."""

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
"""Distance of two checks along an edge, where a peer lets one choose it."""
NAN = float("nan")


@dataclass(frozen=True)
class Body:
    """``kind``: box (full edges), cylinder (radius, length on z), sphere (radius); ``matrix`` (4, 4) in the world."""

    name: str
    kind: str
    size: list[float]
    matrix: list[list[float]]

    @property
    def pose(self) -> Array:
        """(4, 4) in the order that Eigen wants."""
        return np.asfortranarray(self.matrix, dtype=np.float64)


@dataclass(frozen=True)
class Task:
    """One problem: ``start`` (dof), ``goals`` (k, dof) [rad]."""

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
    """Of one task; times count from the start of the search [s]. ``path`` (k, dof), None where not found."""

    id: str
    plan_s: float
    simplified_s: float
    path: list[list[float]] | None
    full_s: float = NAN
    motion: Motion | None = None
    why: str = ""


def write_job(job: Job, path: Path) -> None:
    """As JSON."""
    path.write_text(json.dumps(asdict(job)), encoding="utf-8")


def read_job(path: Path) -> Job:
    """The opposite of ``write_job``."""
    content = json.loads(path.read_text(encoding="utf-8"))
    tasks = [
        Task(t["id"], [Body(**body) for body in t["bodies"]], t["start"], t["goals"])
        for t in content["tasks"]
    ]
    return Job(**{**content, "tasks": tasks})


def read_answers(path: Path) -> list[Answer]:
    """What a peer's process has written."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Answer(**{**row, "motion": row["motion"] and Motion(**row["motion"])}) for row in rows]


def serve(make: Callable[[Job], Callable[[Task], Answer]]) -> None:
    """The main function of a peer's process: two tasks to get warm, then all of them."""
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
