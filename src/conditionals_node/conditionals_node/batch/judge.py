"""One call that judges a task, and other conditions, in n worlds: progress, events and verdicts as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from conditionals_node.conditions_file import load_conditions
from conditionals_node.events.happened import Happened, Indices
from conditionals_node.events.sight import Eyes
from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.expressions.decide import truths_of
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.subtasks.judge import TaskJudge
from conditionals_node.subtasks.task import WatchedTask, read_task
from conditionals_node.verdicts.holds import Holds
from conditionals_node.verdicts.life import REST_MPS, Lives
from conditionals_node.verdicts.rest import moved_by
from conditionals_node.verdicts.truths import Mask, Truths
from conditionals_node.views.batch_worlds import Worlds
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import Robot

from .evaluation import BatchEvaluation


@dataclass(frozen=True, slots=True, eq=False)
class BatchVerdicts:
    """What is known of n worlds after a step; see ``docs/explanation/verdicts.md``.

    Attributes:
        score: Progress, 0 to 1, (n,).
        end_score: Score of what holds now, (n,).
        peak_score: The greatest that it was, (n,).
        done: Where all subtasks are done, (n,).
        success: Where the success is confirmed now, (n,).
        peak_success: Where it was confirmed at some time, (n,).
        unwinnable: Where the task cannot be finished any more, (n,).
        collateral: Number of times that other objects were disturbed, (n,).
        events: The events of this step.
        truth: Values of ``Truth`` of the other conditions by key, (n,), a new one once it has lasted ``hold_s``.
        margin: Their margins when they last had these values, (n,); nan where UNKNOWN.
        confirmed: Where they are confirmed at rest now, (n,); ``BatchJudge.lives`` has the rest of their lives.
    """

    score: Array
    end_score: Array
    peak_score: Array
    done: Mask
    success: Mask
    peak_success: Mask
    unwinnable: Mask
    collateral: Indices
    events: Happened
    truth: Mapping[str, Truths]
    margin: Mapping[str, Array]
    confirmed: Mapping[str, Mask]


class BatchJudge:
    """Judges a task in n worlds, step after step, as ``conditionals_node`` judges it in one.

    Args:
        task: The task; see ``of_text`` and ``of_file``.
        robot: Description of the robot whose hands and joints the worlds have.
        n: Number of worlds.
        conditions: Other conditions that are decided in each step; a new value counts once it has lasted ``hold_s``.

    Raises:
        ConfigError: A predicate decides one world at a time, or ``n`` is not positive.
    """

    def __init__(self, task: WatchedTask, robot: Robot, n: int, conditions: Sequence[Condition] = ()) -> None:
        if n < 1:
            raise ConfigError("batch", [f"n: is {n}; write 1 or more"])
        self.task, self._n, self._conditions = task, n, tuple(conditions)
        others = [condition.expression for condition in conditions]
        self._evaluation = BatchEvaluation([*task.expressions.values(), *others])
        self._eyes = Eyes(robot, task.rules.surfaces, task.rules.upright)
        self.judge = TaskJudge(task, n)
        self.lives = {condition.key: Lives(n) for condition in conditions}
        """The lives of the other conditions by key."""
        self._holds = {condition.key: Holds(condition.hold_s, n) for condition in conditions}
        self._moved = {
            condition.key: {
                name for leaf in condition.expression.leaves() for name in moved_by(leaf.predicate)
            }
            for condition in conditions
        }

    @classmethod
    def of_text(cls, text: str, robot: Robot, n: int) -> BatchJudge:
        """Return the judge of a task in YAML.

        Args:
            text: The section ``task`` of a conditions file.
            robot: Description of the robot.
            n: Number of worlds.

        Raises:
            ConfigError: The task has faults; lists every one.
        """
        return cls(read_task(text, Definitions(Builder(robot))), robot, n)

    @classmethod
    def of_file(cls, path: Path, robot: Robot, n: int) -> BatchJudge:
        """Return the judge of the task and the conditions of a file, as ``conditionals_node`` reads it.

        Args:
            path: The YAML file.
            robot: Description of the robot.
            n: Number of worlds.

        Raises:
            ConfigError: The file has faults or no task; lists every fault.
        """
        conditions, task = load_conditions(path, Definitions(Builder(robot)))
        if task is None:
            raise ConfigError(str(path), ["task: missing; add one"])
        return cls(task, robot, n, conditions)

    def reset(self, rows: ArrayLike) -> None:
        """Begin again in some worlds; their next snapshot is the first of an episode.

        Args:
            rows: The worlds: indices, or (n,) bool.
        """
        given = np.asarray(rows)
        mask = np.zeros(self._n, dtype=bool)
        mask[given] = True
        self.judge.reset(mask)
        self._evaluation.reset(mask)
        for key, lives in self.lives.items():
            lives.reset(mask)
            self._holds[key].reset(mask)

    def step(self, worlds: Worlds, sealed: Mapping[str, ArrayLike] | None = None) -> BatchVerdicts:
        """Judge the next snapshot of all worlds.

        Args:
            worlds: n worlds with ``stamps``, which do not go back between two resets.
            sealed: Where an object hangs at a suction cup, by object, (n,) bool; None: there are no cups.

        Returns:
            The verdicts.

        Raises:
            ValueError: There are not n worlds, or they have no stamps.
        """
        if worlds.n != self._n:
            raise ValueError(f"worlds: are {worlds.n}; make them {self._n}")
        if worlds.stamps is None:
            raise ValueError("stamps: are missing; give the time of each world [s]")
        self._evaluation.begin(worlds)
        sight = self._eyes.look_at_many(worlds, worlds.stamps, sealed or {})
        with np.errstate(invalid="ignore"):
            judged = self.judge.update(self._truth, sight, self._evaluation.decide)
        for condition in self._conditions:
            margins = self._evaluation.margin(condition.expression)
            self._holds[condition.key].update(worlds.stamps, truths_of(margins), margins)
        truth = {key: held.truth for key, held in self._holds.items()}
        for key, lives in self.lives.items():
            slow = sight.speed_mps < REST_MPS
            calm: Mask = np.asarray((slow | ~sight.rows(self._moved[key])[:, None]).all(axis=0))
            lives.update(worlds.stamps, truth[key], calm & self._moved[key].issubset(sight.names))
        run, success = self.judge.run, self.judge.success
        return BatchVerdicts(
            run.score(),
            success.end_score,
            success.peak_score,
            run.done,
            success.lives.at_end,
            success.lives.at_peak,
            success.unwinnable,
            self.judge.collateral,
            judged.events,
            truth,
            {key: held.margin for key, held in self._holds.items()},
            {key: lives.at_end for key, lives in self.lives.items()},
        )

    def _truth(self, key: str) -> Truths:
        return self._evaluation.truth(self.task.expressions[key])
