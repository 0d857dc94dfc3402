"""Move: shift the hand in the base frame, by offsets or so that the held object comes to be over another object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.commands import stage_commands


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveParams(SkillParams):
    """Parameters of ``move``.

    Attributes:
        object: Object to bring over ``target``; empty: none.
        target: The other object; the level distance from ``object`` to it is added to each offset.
        delta_trans: Offsets from the present position of the hand in the base frame, m, one waypoint each.
        straight: True for straight lines, False for free paths.
        hold_vec_weight: Six weights of the present pose's components on free paths; empty: none is held.
        success_threshold: Largest distance from the goal, m.
    """

    object: str = ""
    target: str = ""
    delta_trans: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 0.0),)
    straight: bool = True
    hold_vec_weight: tuple[float, ...] = ()
    success_threshold: float = 0.02


class Move(Skill[MoveParams]):
    """Shift the hand without turning it."""

    name = "move"
    params_type = MoveParams
    object_fields = ("object", "target")

    def is_feasible(self, params: MoveParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        both = bool(params.object) == bool(params.target)
        return checks.all_faults(
            (
                OK
                if both
                else checks.fault(
                    Code.CONTRADICTION, "target", "object and target go together; name both or none"
                ),
                checks.known_object("object", params.object, world) if params.object else OK,
                checks.known_object("target", params.target, world) if params.target else OK,
                OK
                if params.delta_trans
                else checks.fault(Code.BAD_GOAL, "delta_trans", "delta_trans is empty; write an offset"),
                *(
                    arm_motions.check_vector(f"delta_trans[{i}]", delta, 2.0, "m")
                    for i, delta in enumerate(params.delta_trans)
                ),
                arm_motions.check_hold(params.hold_vec_weight),
                checks.number("success_threshold", params.success_threshold, 1e-4, 1.0, "m"),
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: MoveParams, context: Context) -> Sequence[Command]:
        """Make a stage for each offset; they begin where the arm is, so that there is nothing to choose."""
        world = context.world.snapshot()
        leaving = arm_motions.touching_now(context, world)
        motion = Motion.STRAIGHT if params.straight else Motion.FREE
        hold = None if params.straight else arm_motions.hold_of(params.hold_vec_weight)
        made = (
            SkillStage(f"move {i}", pose, motion, leaving=leaving, hold_vec_weight=hold)
            for i, pose in enumerate(self._way(params, context, world), 1)
        )
        return stage_commands((SkillStage("move"), *made), params, context)

    def is_success(self, params: MoveParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the hand is at the last waypoint, and the object at its place over the target."""
        last = self._way(params, context, before)[-1]
        found = arm_motions.arrived(
            last, arm_motions.hand(context, after), params.success_threshold, params.o_eps
        )
        if not found.ok or not params.object:
            return found
        base = context.world.world_T_base()
        wanted = base.rotation.matrix() @ np.array([*params.delta_trans[-1][:2], 0.0])
        a, b = (after.states[name].world_T_object.translation_m for name in (params.object, params.target))
        gap = float(np.linalg.norm((base.rotation.inverse().matrix() @ (b - a + wanted))[:2]))
        text = f"{params.object!r} is {gap * 1e3:.1f} mm beside its place at {params.target!r}"
        code = Code.OK if gap <= params.success_threshold else Code.NOT_IN_PLACE
        return Outcome(code, text, position_error_m=gap)

    def _way(self, params: MoveParams, context: Context, world: World) -> list[Pose]:
        here, base = arm_motions.hand(context, world), context.world.world_T_base()
        level = np.zeros(3)
        if params.object:
            a, b = (
                world.states[name].world_T_object.translation_m for name in (params.object, params.target)
            )
            level = np.array([*(base.rotation.inverse().matrix() @ (b - a))[:2], 0.0])
        shifts: list[Array] = [base.rotation.matrix() @ (level + np.array(d)) for d in params.delta_trans]
        return [Pose.of(here.translation_m + shift, here.rotation) for shift in shifts]
