"""The goals that run in the stack, from any program: their stages, timings, progress and ends."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from handiwork_core.model.outcome import BodyPair

KEPT = 8
"""Goals that are kept after their end."""
STAGES = 40
"""The greatest number of stages that are kept of one goal; the oldest go first."""
LABELS = 64
"""The greatest number of labels that are kept, also of goals that have not begun; the oldest go first."""


class GoalState(IntEnum):
    """The states of an action goal; the numbers equal those of ``action_msgs/msg/GoalStatus``."""

    UNKNOWN = 0
    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6

    @property
    def is_running(self) -> bool:
        """True until the goal has ended."""
        return self in (GoalState.ACCEPTED, GoalState.EXECUTING, GoalState.CANCELING)


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage of a goal: its duration [s] and planning time [s], and the code of its outcome; empty while it runs."""

    name: str
    duration_s: float
    planning_time_s: float
    code: str = ""


@dataclass(frozen=True, slots=True)
class GoalEnd:
    """The end of a goal: the outcome's code and sentence, the bodies that touched, and the stages with their times."""

    code: str
    message: str = ""
    blocking: BodyPair | None = None
    stages: tuple[StageView, ...] = ()
    planning_time_s: float = 0.0


@dataclass(frozen=True, slots=True)
class GoalView:
    """One goal.

    Attributes:
        goal_id: Its id, in hexadecimal digits.
        action: Name of the action.
        begun_s: Steady time of its acceptance, s.
        state: Its state.
        label: Skill and object in words, where they are known.
        stage: The present stage.
        stage_begun_s: Steady time at which that began, s.
        index: Index of the stage.
        count: Number of stages.
        fraction: Completed part, 0 to 1.
        planning_time_s: Planning time so far, s.
        stages: Finished stages as they were seen, at most ``STAGES``.
        planned_s: Planning time of all finished stages, s.
        end: Its end; None while it runs, and where the server did not tell it.
        ended_s: Steady time of its end, s.
    """

    goal_id: str
    action: str
    begun_s: float
    state: GoalState = GoalState.ACCEPTED
    label: str = ""
    stage: str = ""
    stage_begun_s: float = 0.0
    index: int = 0
    count: int = 0
    fraction: float = 0.0
    planning_time_s: float = 0.0
    stages: tuple[StageView, ...] = ()
    planned_s: float = 0.0
    end: GoalEnd | None = None
    ended_s: float = 0.0

    @property
    def title(self) -> str:
        """The label, or the name of the action."""
        return self.label or self.action


class GoalBoard:
    """The goals that run and the last ones that ended; safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._goals: OrderedDict[str, GoalView] = OrderedDict()
        self._labels: dict[str, str] = {}
        self.version = 0

    def name(self, goal_id: str, label: str) -> None:
        """Record what a goal is about; it may come before the goal itself.

        Args:
            goal_id: Id of the goal.
            label: Skill and object in words.
        """
        with self._lock:
            self._labels[goal_id] = label
            while len(self._labels) > LABELS:
                del self._labels[next(iter(self._labels))]
            if goal_id in self._goals:
                self._put(replace(self._goals[goal_id], label=label))

    def status(self, goal_id: str, action: str, state: GoalState, now_s: float) -> bool:
        """Take the state of a goal.

        Args:
            goal_id: Id of the goal.
            action: Name of its action.
            state: Its state.
            now_s: Steady time, s.

        Returns:
            True when the goal is new and has not ended, so that its result can be asked for.
        """
        with self._lock:
            known = self._goals.get(goal_id)
            if known is None:
                if not state.is_running:  # ended before this page was there
                    return False
                self._put(GoalView(goal_id, action, now_s, state, self._labels.get(goal_id, "")))
                return True
            if known.state is not state and known.state.is_running:
                ended_s = known.ended_s if state.is_running else now_s
                self._put(replace(known, state=state, ended_s=ended_s))
            return False

    def feedback(
        self,
        goal_id: str,
        stage: str,
        index: int,
        count: int,
        fraction: float,
        planning_s: float,
        now_s: float,
    ) -> None:
        """Take a feedback.

        Args:
            goal_id: Id of the goal.
            stage: The present stage.
            index: Index of the stage.
            count: Number of stages.
            fraction: Completed part of the goal, 0 to 1.
            planning_s: Planning time so far, s.
            now_s: Steady time, s.
        """
        with self._lock:
            goal = self._goals.get(goal_id)
            if goal is None or not goal.state.is_running:
                return
            if stage != goal.stage:
                begun_s = goal.stage_begun_s or goal.begun_s
                planned = max(0.0, planning_s - goal.planned_s)
                past = (StageView(goal.stage, now_s - begun_s, planned),) if goal.stage else ()
                stages = (*goal.stages, *past)[-STAGES:]
                planned_s = goal.planned_s + sum(one.planning_time_s for one in past)
                goal = replace(goal, stage=stage, stage_begun_s=now_s, stages=stages, planned_s=planned_s)
            self._put(replace(goal, index=index, count=count, fraction=fraction, planning_time_s=planning_s))

    def end(self, goal_id: str, state: GoalState, end: GoalEnd, now_s: float) -> None:
        """Take the result of a goal.

        Args:
            goal_id: Id of the goal.
            state: The state in which it ended.
            end: Its end.
            now_s: Steady time, s.
        """
        with self._lock:
            goal = self._goals.get(goal_id)
            if goal is not None:
                end = replace(end, stages=end.stages[-STAGES:])
                stages = end.stages or goal.stages
                done = replace(goal, state=state, end=end, stages=stages, ended_s=goal.ended_s or now_s)
                self._put(replace(done, fraction=1.0 if state is GoalState.SUCCEEDED else goal.fraction))

    def lose(self, now_s: float, why: str) -> None:
        """Note that the server has ended: its goals have ended, too.

        Args:
            now_s: Steady time, s.
            why: The reason in one sentence.
        """
        with self._lock:
            for goal in list(self._goals.values()):
                if goal.state.is_running:
                    self._put(
                        replace(
                            goal, state=GoalState.ABORTED, end=GoalEnd("UNRESPONSIVE", why), ended_s=now_s
                        )
                    )

    def forget_running(self) -> None:
        """Forget the goals that run: their ends are not received any more. Those that go on are received again."""
        with self._lock:
            self._goals = OrderedDict(
                (key, goal) for key, goal in self._goals.items() if not goal.state.is_running
            )
            self.version += 1

    def all(self) -> Sequence[GoalView]:
        """Return the goals, the newest first; those that run come before those that ended."""
        with self._lock:
            newest = list(reversed(self._goals.values()))
        return sorted(newest, key=lambda goal: not goal.state.is_running)

    def running(self) -> Sequence[GoalView]:
        """Return the goals that run, the newest first."""
        return [goal for goal in self.all() if goal.state.is_running]

    def _put(self, goal: GoalView) -> None:
        self._goals[goal.goal_id] = goal
        self.version += 1
        ended = [goal_id for goal_id, one in self._goals.items() if not one.state.is_running]
        for goal_id in ended[: max(0, len(ended) - KEPT)]:
            del self._goals[goal_id]
            self._labels.pop(goal_id, None)
