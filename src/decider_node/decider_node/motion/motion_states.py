"""Motions as states: each sends a command at every tick until its target is reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from decider_node.motion.approach import are_close
from decider_node.motion.command import MotionCommand
from decider_node.network.decider import TickContext
from decider_node.network.states import State
from handiwork_core.model.geometry import Array, Pose


class ArmPort(Protocol):
    """The arm of a cell."""

    def joints(self) -> Array:
        """Return the measured joint positions, (n,), rad or m."""

    def go(self, command: MotionCommand) -> None:
        """Send a command to the arm.

        Args:
            command: A command for the tip of its tool.
        """


class Moving(Protocol):
    """The part of a context that motions need."""

    target: Pose | None
    """The target of the tip; None without one."""

    @property
    def tip(self) -> Pose:
        """The measured pose of the tip in world."""

    @property
    def cell(self) -> ArmPort:
        """The cell, which takes the commands."""


M = TypeVar("M", bound=Moving)


class Reach(State[M]):
    """Goes to a target, which is computed again at every tick, until the tip is there.

    Args:
        target: Returns the command.
        distance_m: Largest distance of the tip from the target, m.
        turn: Largest difference of their rotations; see ``are_close``.
    """

    def __init__(
        self, target: Callable[[M], MotionCommand], distance_m: float = 0.005, turn: float = 0.02
    ) -> None:
        self._target, self._distance_m, self._turn = target, distance_m, turn

    def step(self, moment: TickContext[M]) -> State[M] | None:
        """Send the command; end when the tip is there."""
        context = moment.context
        command = self._target(context)
        context.target = command.world_T_target
        context.cell.go(command)
        arrived = are_close(context.tip, command.world_T_target, self._distance_m, self._turn)
        return None if arrived else self


class Stay(State[M]):
    """Follows a target for a while, so that a swinging tool comes to rest.

    Args:
        target: Returns the command.
        duration_s: Time of the state, s.
    """

    def __init__(self, target: Callable[[M], MotionCommand], duration_s: float) -> None:
        self._target, self._duration_s, self._start_s = target, duration_s, 0.0

    def enter(self, moment: TickContext[M]) -> None:
        """Remember the time."""
        self._start_s = moment.now_s

    def step(self, moment: TickContext[M]) -> State[M] | None:
        """Send the command; end after the duration."""
        moment.context.cell.go(self._target(moment.context))
        return None if moment.now_s - self._start_s >= self._duration_s else self


LEAD_M = 0.15
"""Distance ahead of the tip at which the target is set, m: so near, the controller goes straight, not by its joints."""


class Shift(State[M]):
    """Goes straight by an offset from the pose that the tip has when the state begins.

    The target runs ahead of the tip on that line. With the end of a long way as the target the tip would swing
    aside, and a lifted object would rub against its neighbours.

    Args:
        offset: Returns the way in world, (3,), m.
        distance_m: Distance from the end at which the state ends, m.
        speed: Share of the speed limits.
        longest_s: Time after which the state ends wherever the tip is then, s; None: it ends by the distance alone.
    """

    def __init__(
        self,
        offset: Callable[[M], ArrayLike],
        distance_m: float,
        speed: float = 1.0,
        longest_s: float | None = None,
    ) -> None:
        self._offset, self._distance_m, self._speed = offset, distance_m, speed
        self._longest_s, self._start_s = longest_s, 0.0
        self._start, self._length_m = Pose.identity(), 0.0
        self._way: Array = np.zeros(3)
        self._posture: Array | None = None

    def enter(self, moment: TickContext[M]) -> None:
        """Remember the start, and compute the way."""
        self._start_s = moment.now_s
        self._start, self._posture = moment.context.tip, moment.context.cell.joints()
        way = np.asarray(self._offset(moment.context), dtype=np.float64)
        self._length_m = float(np.linalg.norm(way))
        self._way = np.asarray(way / max(self._length_m, 1e-9))

    def step(self, moment: TickContext[M]) -> State[M] | None:
        """Send the command; end near the end of the way."""
        context = moment.context
        gone_m = float((context.tip.translation_m - self._start.translation_m) @ self._way)
        end, ahead = (self._at(d) for d in (self._length_m, min(gone_m + LEAD_M, self._length_m)))
        context.target = end
        context.cell.go(MotionCommand(ahead, posture=self._posture, speed=self._speed))
        left_m = float(np.linalg.norm(context.tip.translation_m - end.translation_m))
        is_over = self._longest_s is not None and moment.now_s - self._start_s >= self._longest_s
        return None if is_over or left_m < self._distance_m else self

    def _at(self, distance_m: float) -> Pose:
        """Return the pose at a distance along the line."""
        return Pose.of(self._start.translation_m + distance_m * self._way, self._start.rotation)
