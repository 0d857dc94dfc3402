"""Motions as states: each sends a command at every tick until its target is reached."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from decider_node.motion.approach import Approach, are_close
from decider_node.motion.command import MotionCommand
from decider_node.network.decider import Moment
from decider_node.network.states import State
from handiwork_core.geometry import Pose, frozen

from .context import StackContext

Now = Moment[StackContext]
Target = Callable[[StackContext], MotionCommand]


class Reach(State[StackContext]):
    """Goes where ``target`` says, anew at every tick, until the tip is there."""

    def __init__(self, target: Target, distance_m: float = 0.005, turn: float = 0.02) -> None:
        self._target, self._distance_m, self._turn = target, distance_m, turn

    def step(self, moment: Now) -> State[StackContext] | None:
        """Sends the command."""
        context = moment.context
        command = self._target(context)
        context.target = command.world_T_ee
        context.cell.go(command)
        arrived = are_close(context.tip, command.world_T_ee, self._distance_m, self._turn)
        return None if arrived else self


class Stay(State[StackContext]):
    """Follows ``target`` for a while, so that what swings comes to rest."""

    def __init__(self, target: Target, duration_s: float) -> None:
        self._target, self._duration_s, self._start_s = target, duration_s, 0.0

    def enter(self, moment: Now) -> None:
        """Notes the time."""
        self._start_s = moment.now_s

    def step(self, moment: Now) -> State[StackContext] | None:
        """Sends the command."""
        moment.context.cell.go(self._target(moment.context))
        return None if moment.now_s - self._start_s >= self._duration_s else self


class Shift(State[StackContext]):
    """Goes by an offset from where the tip was when it began; ends within ``distance_m`` of there."""

    def __init__(
        self, offset: Callable[[StackContext], ArrayLike], distance_m: float, speed: float = 1.0
    ) -> None:
        self._offset, self._distance_m, self._speed = offset, distance_m, speed
        self._command: MotionCommand | None = None

    def enter(self, moment: Now) -> None:
        """Notes where to go."""
        tip = moment.context.tip
        goal = Pose.of(tip.translation_m + np.asarray(self._offset(moment.context)), tip.rotation)
        self._command = MotionCommand(goal, posture=moment.context.cell.joints(), speed=self._speed)

    def step(self, moment: Now) -> State[StackContext] | None:
        """Sends the command."""
        assert self._command is not None
        goal = self._command.world_T_ee
        moment.context.target = goal
        moment.context.cell.go(self._command)
        gone = float(np.linalg.norm(moment.context.tip.translation_m - goal.translation_m))
        return None if gone < self._distance_m else self


def to_grasp(context: StackContext) -> MotionCommand:
    """Along the cup's axis onto the bottom of the active bin, with the bin if that moves.

    Raises:
        RuntimeError: there is no active bin.
    """
    if context.grasp is None or context.active is None:
        raise RuntimeError("no bin is active: dispatch picks only where one is")
    grasp = context.grasp
    away = grasp.world_T_tip.translation_m - context.tip.translation_m
    length = min(grasp.length_m, float(np.linalg.norm(away)) + 0.02)
    # A little into the surface, so that the lip seals.
    goal = Pose.of(grasp.world_T_tip.translation_m + 0.0003 * grasp.axis, grasp.world_T_tip.rotation)
    return MotionCommand(
        goal,
        Approach.along(length * grasp.axis, 0.005),
        posture=context.posture,
        world_v_ee=frozen([*context.drift, 0.0, 0.0, 0.0]),
    )
