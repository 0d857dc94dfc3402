"""The choice of a run's commands, for targets where they are, or will be; begun early where one has moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.world import World
from skill_server.following.choice_ahead import ChoiceAhead
from skill_server.following.meeting import commands_to_meet
from skill_server.following.steady_motion import await_even_motion
from skill_server.params.following import Following
from skill_server.params.protocol import RunParams

from .execution_state import target_fields
from .measurement import fresh_world, lost

P = TypeVar("P", bound=RunParams)


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """What a choice is made for.

    Attributes:
        before: World of the choice.
        velocities: Velocity (3,) [m/s] of each target that moves evenly.
        made: Commands that were chosen already, while the arm braked; None: not yet.
    """

    before: World
    velocities: Mapping[str, Array] = field(default_factory=dict)
    made: Sequence[Command] | None = None


class CommandChoice(Generic[P]):
    """Chooses the commands of one skill, attempt by attempt.

    Args:
        skill: The skill.
        params: Its parameters.
        context: Context of the run.
        following: How targets are followed; None: not at all.
    """

    def __init__(self, skill: Skill[P], params: P, context: Context, following: Following | None) -> None:
        self._make = partial(skill.commands, params)
        self._params, self._context, self._following = params, context, following
        self._ahead = list[ChoiceAhead]()  # the last one is the one to take
        self._begun_early = 0

    def begin_early(self, rest_q: Array) -> None:
        """Begin the choice for targets that have moved, while the arm still brakes; nothing where none is followed.

        With several arms a choice may wait for another arm, which is for the thread of the run alone.

        Args:
            rest_q: Where the arm will probably rest, (dof,), rad or m: the choice and its motion begin there.
        """
        if self._following is None or self._context.right_of_way is not None:
            return
        # An earlier one is left over where the motion had ended before the arm could brake.
        for one in self._ahead:
            one.cancel()
        self._begun_early += 1
        self._ahead.append(
            ChoiceAhead(self._begun_early, self._make, self._params.targets, self._context, rest_q)
        )

    def forget(self) -> None:
        """End the choices that were begun early, and drop them: the attempt has ended for another reason."""
        ended, self._ahead = self._ahead, []
        for one in ended:
            one.cancel()
        for one in ended:
            one.join()

    def begin(self) -> Beginning:
        """Return what the next choice is made for, once the targets are at rest or move evenly.

        Raises:
            NotFollowed: A target moves so that it cannot be followed.
            StepFailed: STALE_WORLD.
            Stopped: The token was set.
        """
        context, following = self._context, self._following
        if following is None:
            return Beginning(fresh_world(context))
        found = self._ahead[-1].take(following.tolerance_m) if self._ahead else None
        self.forget()
        if found is not None:
            return Beginning(found[0], made=found[1])
        velocities = await_even_motion(self._params.targets, following, context)
        return Beginning(fresh_world(context), velocities)

    def commands(self, beginning: Beginning) -> Sequence[Command]:
        """Return the commands.

        Args:
            beginning: What they are made for.

        Raises:
            StepFailed: Nothing can be done; OBJECT_MOVED where a target has left the world, STALE_WORLD where its pose
                is not known any more.
            Stopped: The token was set.
        """
        try:
            return self._made(beginning)
        except KeyError:
            # A skill reads its targets from the newest world, from which they may go at each moment.
            world = self._context.world.snapshot()
            gone = next((name for name in self._params.targets if name not in world.states), None)
            if gone is None:
                raise
            field_name = target_fields(self._params).get(gone, "")
            raise StepFailed(lost(gone, world, "select", field_name)) from None

    def _made(self, beginning: Beginning) -> Sequence[Command]:
        if beginning.made is not None:
            return beginning.made
        if not beginning.velocities:
            return self._make(self._context)
        return commands_to_meet(
            self._make, beginning.velocities, beginning.before, self._params, self._context
        )
