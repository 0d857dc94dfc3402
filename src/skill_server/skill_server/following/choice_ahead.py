"""A choice that is made while the arm still brakes, so that it is there once the arm is at rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import World

from .brake_ahead import RestingWorld
from .expected_targets import TURNED_RAD, ExpectedTargets
from .steady_motion import MOVES_MPS, POLL_S

COMES_TO_REST_S = 0.3
"""Longest time that a nudged target is waited for, s of steady time."""
THREAD = "choice-ahead"
"""The names of the threads begin with this; the number of the choice follows."""
SHARE = 0.5
"""Part of the tolerance by which a target may have moved since the choice: the rest is left for the motion."""


def choice_thread() -> str:
    """Return the name of the calling thread where it chooses ahead; empty for any other thread."""
    name = threading.current_thread().name
    return name if name.startswith(THREAD) else ""


class ChoiceAhead:
    """Runs one choice on a thread of its own, in a context whose token ends it alone; the owner takes it once.

    Args:
        number: Number of the choice in its run, from which the thread has its name.
        choose: Makes the commands in the context that it is given; must not move anything.
        targets: The targets, for which the choice begins once they are at rest.
        context: Context of the run; the planning time is added to its own when the choice is joined.
        rest_q: Where the arm will rest, (dof,), rad or m; the choice is made as if it were there.
    """

    def __init__(
        self,
        number: int,
        choose: Callable[[Context], Sequence[Command]],
        targets: tuple[str, ...],
        context: Context,
        rest_q: Array,
    ) -> None:
        self._choose, self._targets, self._run_context = choose, targets, context
        # What a choice writes, a dropped one must not leave behind, nor race with the thread of the run.
        self._context = replace(
            context,
            token=context.token.child(),
            world=RestingWorld(context.world, context.robot, context.arm_spec, rest_q, dict(context.held)),
            rng=context.rng.spawn(1)[0],
            held=dict(context.held),
            refused=list(context.refused),
            planning_time_s=0.0,
        )
        self._found: tuple[World, Sequence[Command]] | None = None
        self._thread = threading.Thread(target=self._run, name=f"{THREAD}-{number}", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Have the choice end soon, as nobody takes it; does not wait for that."""
        self._context.token.set(Code.CANCELED, "the choice is not needed")

    def join(self) -> None:
        """Wait for the end of the choice, which a set token brings about soon."""
        self._thread.join()
        self._run_context.planning_time_s += self._context.planning_time_s
        self._context.planning_time_s = 0.0

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
        then, now = self._found[0], self._run_context.world.snapshot()
        change = ExpectedTargets(then).change(self._targets, now, SHARE * tolerance_m, TURNED_RAD)
        return self._found if change is None else None

    def _run(self) -> None:
        until_s = time.monotonic() + COMES_TO_REST_S
        while not self._is_at_rest(self._run_context.world.snapshot()):
            if time.monotonic() > until_s or self._context.token.wait(POLL_S):
                return
        then = self._run_context.world.snapshot()
        try:
            commands = self._choose(self._context)
        except Exception:  # noqa: BLE001 - the choice that follows once the arm is at rest says why
            return
        self._found = then, commands

    def _is_at_rest(self, world: World) -> bool:
        speeds = [
            float(np.linalg.norm(world.states[n].world_v_object)) for n in self._targets if n in world.states
        ]
        return len(speeds) == len(self._targets) and max(speeds, default=0.0) < MOVES_MPS
