"""Motions as states: each sends a command at every tick until its target is reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from decider_node.motion.approach import are_close
from decider_node.motion.command import MotionCommand
from decider_node.network.decider import Moment
from decider_node.network.states import State
from handiwork_core.geometry import Array, Pose


class ArmPort(Protocol):
    """The arm of a cell."""

    def joints(self) -> Array:
        """(n,) measured joints [rad]."""

    def go(self, command: MotionCommand) -> None:
        """Sends the arm; ``command`` is for the tip of its tool."""


class Moving(Protocol):
    """The part of a context that motions need."""

    target: Pose | None
    """Where the tip is going."""

    @property
    def tip(self) -> Pose:
        """Where it is, measured."""

    @property
    def cell(self) -> ArmPort:
        """Takes the commands."""


M = TypeVar("M", bound=Moving)


class Reach(State[M]):
    """Goes where ``target`` says, anew at every tick, until the tip is there."""

    def __init__(
        self, target: Callable[[M], MotionCommand], distance_m: float = 0.005, turn: float = 0.02
    ) -> None:
        self._target, self._distance_m, self._turn = target, distance_m, turn

    def step(self, moment: Moment[M]) -> State[M] | None:
        """Sends the command."""
        context = moment.context
        command = self._target(context)
        context.target = command.world_T_target
        context.cell.go(command)
        arrived = are_close(context.tip, command.world_T_target, self._distance_m, self._turn)
        return None if arrived else self


class Stay(State[M]):
    """Follows ``target`` for a while, so that what swings comes to rest."""

    def __init__(self, target: Callable[[M], MotionCommand], duration_s: float) -> None:
        self._target, self._duration_s, self._start_s = target, duration_s, 0.0

    def enter(self, moment: Moment[M]) -> None:
        """Notes the time."""
        self._start_s = moment.now_s

    def step(self, moment: Moment[M]) -> State[M] | None:
        """Sends the command."""
        moment.context.cell.go(self._target(moment.context))
        return None if moment.now_s - self._start_s >= self._duration_s else self


class Shift(State[M]):
    """Goes by an offset from where the tip was when it began; ends within ``distance_m`` of there."""

    def __init__(self, offset: Callable[[M], ArrayLike], distance_m: float, speed: float = 1.0) -> None:
        self._offset, self._distance_m, self._speed = offset, distance_m, speed
        self._command: MotionCommand | None = None

    def enter(self, moment: Moment[M]) -> None:
        """Notes where to go."""
        tip = moment.context.tip
        goal = Pose.of(tip.translation_m + np.asarray(self._offset(moment.context)), tip.rotation)
        self._command = MotionCommand(goal, posture=moment.context.cell.joints(), speed=self._speed)

    def step(self, moment: Moment[M]) -> State[M] | None:
        """Sends the command."""
        assert self._command is not None
        goal = self._command.world_T_target
        moment.context.target = goal
        moment.context.cell.go(self._command)
        gone = float(np.linalg.norm(moment.context.tip.translation_m - goal.translation_m))
        return None if gone < self._distance_m else self
