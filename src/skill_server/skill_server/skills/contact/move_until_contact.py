"""Move until contact: go straight in a direction until the force on the tool says that something is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.control.contact_guard import GREATEST_BOUND_N, LEAST_BOUND_N
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.contact.guarded_motion import fastest
from skill_server.contact.pressed_begin import check_begin
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.state.frame_lookup import BASE, forget_frames, frame_used

LONGEST_M = 0.5
SLOWEST = 0.0005
"""The least speed of the hand that a goal may ask for, m/s, unless its force allows only less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveUntilContactParams(SkillParams):
    """Parameters of ``move_until_contact``.

    Attributes:
        direction: Direction of the motion; its length does not count.
        frame: Frame whose axes the direction has: ``base``, ``world``, an object, ``<robot>/<link>``, or any of tf.
        distance: The farthest that the hand goes, m.
        force_n: Force on the tool that ends the motion, N.
        speed: Greatest speed of the hand, m/s; 0: as fast as the force allows.
        object: Object that may be touched on the way; empty: the whole way must be free in the planner's world.
    """

    direction: tuple[float, float, float] = (0.0, 0.0, -1.0)
    frame: str = BASE
    distance: float = 0.05
    force_n: float = 10.0
    speed: float = 0.0
    object: str = ""


class MoveUntilContact(Skill[MoveUntilContactParams]):
    """Move straight, without turning the hand, and stop at the first contact."""

    name = "move_until_contact"
    params_type = MoveUntilContactParams
    object_fields = ("object",)

    def is_feasible(
        self, params: MoveUntilContactParams, robot: Robot, arm: ArmSpec, world: World
    ) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                arm_motions.check_vector("direction", params.direction, 1e3, ""),
                arm_motions.check_length("direction", params.direction),
                checks.number("distance", params.distance, 0.001, LONGEST_M, "m"),
                checks.number("force_n", params.force_n, LEAST_BOUND_N, GREATEST_BOUND_N, "N"),
                _check_speed(params),
                checks.known_object("object", params.object, world) if params.object else OK,
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: MoveUntilContactParams, context: Context) -> Sequence[Command]:
        """Make one straight stage from where the hand is."""
        world = context.world.snapshot()
        forget_frames(context)
        here = arm_motions.hand(context, world)
        axes = frame_used(params.frame, "frame", context, world).rotation.matrix()
        direction = np.array(params.direction) / np.linalg.norm(params.direction)
        way = axes @ direction
        check_begin(way, params.force_n, context, world)
        end = Pose.of(here.translation_m + params.distance * way, here.rotation)
        stage = SkillStage(
            "touch",
            end,
            Motion.STRAIGHT,
            touching=frozenset({params.object} if params.object else ()),
            leaving=arm_motions.touching_now(context, world),
            stop_force_n=params.force_n,
            tool_speed=params.speed or fastest(params.force_n),
        )
        return stage_commands((stage,), params, context)

    def is_success(
        self, params: MoveUntilContactParams, before: World, after: World, context: Context
    ) -> Outcome:
        """Check that a contact ended the motion."""
        way = arm_motions.hand(context, after).translation_m - arm_motions.hand(context, before).translation_m
        moved = f"after {1e3 * float(np.linalg.norm(way)):.1f} mm"
        if context.contact is not None:
            return Outcome(Code.OK, f"contact {moved}: {context.contact.message}")
        text = (
            f"no contact with {params.force_n:g} N {moved}, the whole distance; give a longer distance, another "
            "direction, or a smaller force_n"
        )
        return Outcome(Code.NOT_REACHED, text)


def _check_speed(params: MoveUntilContactParams) -> Outcome:
    if params.speed == 0.0 or not LEAST_BOUND_N <= params.force_n <= GREATEST_BOUND_N:
        return OK
    most = fastest(params.force_n)
    return checks.number("speed", params.speed, min(SLOWEST, most), most, "m/s")
