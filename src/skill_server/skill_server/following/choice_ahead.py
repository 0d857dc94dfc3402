"""A choice that is made while the arm still brakes, so that it is there once the arm is at rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, StepFailed, Stopped
from handiwork_core.model.world import World

from .expected_targets import TURNED_RAD, ExpectedTargets
from .steady_motion import MOVES_MPS, POLL_S

COMES_TO_REST_S = 0.3
"""Longest time that a nudged target is waited for, s of steady time."""
SHARE = 0.5
"""Part of the tolerance by which a target may have moved since the choice: the rest is left for the motion."""


class ChoiceAhead:
    """Runs one choice on a thread of its own; the owner moves nothing meanwhile, and takes it once.

    Args:
        choose: Makes the commands; must not move anything.
        targets: The targets, for which the choice begins once they are at rest.
        context: Context of the run.
    """

    def __init__(
        self, choose: Callable[[], Sequence[Command]], targets: tuple[str, ...], context: Context
    ) -> None:
        self._choose, self._targets, self._context = choose, targets, context
        self._found: tuple[World, Sequence[Command]] | None = None
        self._thread = threading.Thread(target=self._run, name="choice-ahead", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the end of the choice, which a set token brings about soon."""
        self._thread.join()

    def take(self, tolerance_m: float) -> tuple[World, Sequence[Command]] | None:
        """Wait for the choice.

        Args:
            tolerance_m: Distance by which a target may move before a motion is replaced, m.

        Returns:
            The world in which the choice was made, and the commands; None where it failed, or a target is no longer
            where the choice has it, so that it must be made again.
        """
        self.join()
        if self._found is None:
            return None
        then, now = self._found[0], self._context.world.snapshot()
        change = ExpectedTargets(then).change(self._targets, now, SHARE * tolerance_m, TURNED_RAD)
        return self._found if change is None else None

    def _run(self) -> None:
        until_s = time.monotonic() + COMES_TO_REST_S
        while not self._is_at_rest(self._context.world.snapshot()):
            if time.monotonic() > until_s or self._context.token.wait(POLL_S):
                return
        then = self._context.world.snapshot()
        try:
            commands = self._choose()
        except (StepFailed, Stopped):
            return  # the choice that follows once the arm is at rest says why
        self._found = then, commands

    def _is_at_rest(self, world: World) -> bool:
        speeds = [
            float(np.linalg.norm(world.states[n].world_v_object)) for n in self._targets if n in world.states
        ]
        return len(speeds) == len(self._targets) and max(speeds, default=0.0) < MOVES_MPS
