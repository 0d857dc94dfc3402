"""Stages of one run: what is reported while they happen and what they took."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.skill import Context, Progress
from handiwork_core.model.outcome import Code


@dataclass(frozen=True, slots=True)
class StageReport:
    """One finished stage: ``duration_s`` in time of the robot's world, ``planning_time_s`` steady."""

    stage: str
    duration_s: float
    planning_time_s: float
    code: Code


class StageLog:
    """Opens and closes stages, and sends feedback at each start."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._done: list[StageReport] = []
        self._names: tuple[str, ...] = ("select",)
        self._since_s = 0.0
        self._planning_s = 0.0
        self._fraction = 0.0
        self._step = ""
        self._begin, self._share = 0.0, 1.0
        self.stage = ""

    def begin_step(self, label: str, done: int, count: int, context: Context | None = None) -> None:
        """Begin a step of a composite skill; the stages from now on belong to it.

        Args:
            label: Name of the step, which the names of its stages begin with; empty: they have their own names.
            done: Number of the steps before it.
            count: Number of all steps, as far as it is known.
            context: Context of the arm that does the step; None: that of the step before.
        """
        self.close(Code.OK)
        self._context = context or self._context
        self._step, self._names = label, ("select",)
        self._begin, self._share = done / count, 1.0 / count

    def expect(self, names: tuple[str, ...]) -> None:
        """Take the stages that come after the choice.

        Args:
            names: Their names in order.
        """
        self._names = ("select", *names)

    @property
    def plain_stage(self) -> str:
        """The name of the open stage, without that of the step."""
        return self.stage.removeprefix(f"{self._step}: ")

    def enter(self, stage: str) -> None:
        """Close the open stage as good and open this one, unless it is open already.

        Args:
            stage: Its name.
        """
        stage = f"{self._step}: {stage}" if self._step else stage
        if stage == self.stage:
            return
        self.close(Code.OK)
        self.stage, self._since_s = stage, self._context.clock.now_s()
        self._planning_s = self._context.planning_time_s
        self._report(0.0)

    def planned(self) -> None:
        """Report the planning time of the open stage so far."""
        self._report(self._context.planning_time_s - self._planning_s)

    def finished(self) -> None:
        """Report that all stages, or those of the step, lie behind."""
        self._fraction = max(self._fraction, min(1.0, self._begin + self._share))
        self.planned()

    def _report(self, planning_s: float) -> None:
        stage = self.plain_stage
        index, count = self._names.index(stage) if stage in self._names else 0, len(self._names)
        # A second choice begins again at the first stage; what was reported stands.
        self._fraction = max(self._fraction, self._begin + self._share * index / count)
        self._context.report(Progress(self.stage, index, count, planning_s, self._fraction))

    def close(self, code: Code) -> None:
        """End the open stage.

        Args:
            code: How it ended.
        """
        if self.stage:
            took = self._context.clock.now_s() - self._since_s
            spent = self._context.planning_time_s - self._planning_s
            self._done.append(StageReport(self.stage, took, spent, code))
        self.stage = ""

    @property
    def reports(self) -> tuple[StageReport, ...]:
        """The finished stages in order."""
        return tuple(self._done)
