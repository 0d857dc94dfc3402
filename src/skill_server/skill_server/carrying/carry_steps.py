"""The steps of ``carry``: a hand that grasps, and both arms that move."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from handiwork_core.contracts.commands import AttachObject, CloseGripper, Command, Motion, OpenGripper
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.execution.measurement import fresh_world
from skill_server.handing.hand_step import CALM, SLOW, step_params
from skill_server.handing.params import HandStepParams
from skill_server.motions.approach_planning import backed_off
from skill_server.motions.arm_motions import no_obstacles

from .carry_motion import CarryMotion
from .holds import chain_of, measured_hold
from .params import CarryParams, CarryStepParams
from .ways import WayPlanner


def grasp(
    params: CarryParams, object_T_ee: Pose, known_q: tuple[Array, Array], context: Context
) -> HandStepParams:
    """Return the step in which a hand grasps the object where it is measured.

    Args:
        params: Parameters of the goal.
        object_T_ee: The grasp.
        known_q: Configurations before and at the grasp, from which the carrying was found possible.
        context: Context of the arm.
    """
    gripper, name = context.arm_spec.gripper, params.object
    assert gripper is not None
    at = context.world.snapshot().states[name].world_T_object @ object_T_ee
    before = backed_off(at, gripper, params.approach_offset)
    # The object may have moved since; the arm stays on the same branch of its inverse kinematics.
    chain = chain_of(context)
    q = chain.solve(np.array(known_q), np.stack([before.matrix(), at.matrix()]))
    is_known = chain.is_within(q)
    stages = (
        SkillStage("open", functions=(OpenGripper(),)),
        SkillStage("approach", before, functions=(OpenGripper(),), speed=CALM, q=q[0] if is_known else None),
        SkillStage(
            "reach",
            at,
            Motion.STRAIGHT,
            (OpenGripper(),),
            frozenset({name}),
            speed=SLOW,
            q=q[1] if is_known else None,
        ),
        SkillStage("grasp", functions=(CloseGripper(), AttachObject(name)), dwell_s=params.gripper_wait),
    )
    return step_params(params, name, (stages,), is_held_after=True)


class CarryStep(Skill[CarryStepParams]):
    """Move what both hands hold to its place; planned in the world as it is measured."""

    name = "carry_step"
    params_type = CarryStepParams

    def is_feasible(self, params: CarryStepParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``; ``carry`` has checked the goal."""
        return OK

    def commands(self, params: CarryStepParams, context: Context) -> Sequence[Command]:
        """See ``Skill``.

        Raises:
            StepFailed: NO_CANDIDATE with what was in the way, or PLAN_BUDGET.
        """
        goal, name = params.goal, params.goal.object
        world = fresh_world(context)
        pair = (context, context.partners[params.partner])
        first, second = (measured_hold(one, name, world) for one in pair)
        until_s = time.monotonic() + goal.search_time
        planner = WayPlanner(goal, params.world_T_object, params.rests_on, world, until_s)
        legs = planner.plan((first, second))
        if legs is None:
            text = f"both hands hold {name!r}, and there is no way to its place: {planner.words()}"
            raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", blocking=planner.blocking))
        ignored = no_obstacles(params.ignore_substring, context, world)
        return [
            Command(one.stage, CarryMotion(params.partner, name, one.parts, one.touching, ignored))
            for one in legs
        ]

    def is_success(self, params: CarryStepParams, before: World, after: World, context: Context) -> Outcome:
        """See ``Skill``; ``carry`` judges where the object is once it is let go."""
        return OK
