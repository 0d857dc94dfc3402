"""Press: push the hand on something with a force, for a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.compliance.pressing import ForceHold, no_path
from skill_server.compliance.settings import push_axis
from skill_server.compliance.yielding import check_compliance
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.state.frame_lookup import BASE, forget_frames, frame_used

LEAST_N, MOST_N = 2.0, 50.0
LEAST_BAND_N = 0.2
FARTHEST_M, LONGEST_S = 0.1, 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PressParams(SkillParams):
    """Parameters of ``press``.

    Attributes:
        object: Object that is pressed on.
        direction: Direction of the push; its length does not count.
        frame: Frame whose axes the direction has: ``base``, ``world``, an object, ``<robot>/<link>``, or any of tf.
        force_n: Normal force, N.
        band_n: Largest deviation of the force, N.
        duration: Time of the pressing, s.
        distance: The farthest that the hand is pushed before it touches, m.
    """

    object: str
    direction: tuple[float, float, float] = (0.0, 0.0, -1.0)
    frame: str = BASE
    force_n: float = 8.0
    band_n: float = 2.0
    duration: float = 2.0
    distance: float = 0.03


class Press(Skill[PressParams]):
    """Push the hand, which does not turn, until it touches; hold the force; lift off by 5 mm."""

    name = "press"
    params_type = PressParams
    object_fields = ("object",)

    def is_feasible(self, params: PressParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                checks.known_object("object", params.object, world),
                arm_motions.check_vector("direction", params.direction, 1e3, ""),
                arm_motions.check_length("direction", params.direction),
                check_force(params.force_n, params.band_n),
                checks.number("duration", params.duration, 0.1, LONGEST_S, "s"),
                checks.number("distance", params.distance, 0.001, FARTHEST_M, "m"),
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: PressParams, context: Context) -> Sequence[Command]:
        """Make one stage, from where the hand is."""
        check_compliance(context, "press with a force")
        world = context.world.snapshot()
        forget_frames(context)
        here = arm_motions.hand(context, world)
        axes = frame_used(params.frame, "frame", context, world).rotation.matrix()
        way = axes @ (np.array(params.direction) / np.linalg.norm(params.direction))
        push_axis(way, here, "select")
        function = ForceHold(
            params,
            frozenset({params.object}),
            way,
            params.force_n,
            params.band_n,
            params.distance,
            params.duration,
            no_path(),
            0.0,
        )
        return stage_commands((SkillStage("press", functions=(function,)),), params, context)

    def is_success(self, params: PressParams, before: World, after: World, context: Context) -> Outcome:
        """Tell the force that was held."""
        return reported(context)


def reported(context: Context) -> Outcome:
    """Return the force that was held, in words.

    Args:
        context: Context of the run.
    """
    if context.contact is None:
        return Outcome(Code.NOT_REACHED, "the pressing did not end")
    return Outcome(Code.OK, context.contact.message)


def check_force(force_n: float, band_n: float) -> Outcome:
    """Check the force of a goal and its band.

    Args:
        force_n: Normal force, N.
        band_n: Largest deviation, N.
    """
    force = checks.number("force_n", force_n, LEAST_N, MOST_N, "N")
    return checks.all_faults(
        (force, checks.number("band_n", band_n, LEAST_BAND_N, force_n, "N") if force.ok else OK)
    )
