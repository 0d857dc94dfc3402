"""The plan of the next steps, from chunks that overlap. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

from .spec import ActionChunk


@dataclass(frozen=True, eq=False)
class Command:
    """One step of a plan.

    Attributes:
        q: Joint positions, (dof,), rad or m.
        width_m: Opening of the gripper, m; nan: as it is.
    """

    q: Array
    width_m: float


class ChunkPlan:
    """The commands of future steps.

    A chunk belongs to the step of its observation: its first action is for the step after. Actions whose step is over
    by the time the chunk arrives are dropped, and over the first steps of the rest the plan passes linearly from the
    chunk before to the new one, so that two chunks that disagree make no jump.

    Args:
        execute_steps: Number of actions of a chunk that are executed at most; 0: all.
        blend_steps: Number of steps in which the plan passes from chunk to chunk.
    """

    def __init__(self, execute_steps: int = 0, blend_steps: int = 0) -> None:
        self._execute, self._blend = execute_steps, blend_steps
        self._begin = 0
        self._q: Array = np.zeros((0, 0))
        self._width: Array = np.zeros(0)
        self._end = 0

    def take(self, chunk: ActionChunk, observed: int, step: int) -> int:
        """Take over a chunk.

        Args:
            chunk: The chunk.
            observed: Step of its observation.
            step: The step that is commanded next.

        Returns:
            The number of its actions that were too late.
        """
        late = min(max(0, step - observed - 1), len(chunk))
        q, width = chunk.q[late:].copy(), chunk.width_m[late:].copy()
        old = self._q[max(0, step - self._begin) :]
        count = min(self._blend, len(old), len(q))
        if count:
            share = (np.arange(1, count + 1) / (count + 1))[:, None]
            q[:count] = (1.0 - share) * old[:count] + share * q[:count]
        self._begin, self._q, self._width = max(step, observed + 1), q, width
        self._end = self._begin + len(q)
        if self._execute:
            self._end = min(self._end, observed + 1 + self._execute)
        return late

    def left(self, step: int) -> int:
        """Return the number of steps from ``step`` on that may be executed.

        Args:
            step: The step that is commanded next.
        """
        return max(0, self._end - step)

    def command(self, step: int) -> Command | None:
        """Return the command of a step; None once the plan is used up.

        Args:
            step: The step.
        """
        index = step - self._begin
        if index < 0 or not self.left(step):
            return None
        return Command(self._q[index], float(self._width[index]))
