"""Dynamic pick: grasp an object on a moving belt, at the place that it will have reached when the hand is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.commands import AwaitObject, Command
from handiwork_core.contracts.planning import SceneQuery, StraightGoal
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.control.gripper_controller import joint_speed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.thresholds import BELT_REST_MPS
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from skill_server.grasping.grasp_selection import wanted_grasps
from skill_server.grasping.pick_checks import check_pick
from skill_server.grasping.pick_params import PickParams
from skill_server.motions import arm_motions
from skill_server.motions.conveyor import PredictedWorld, closes_across
from skill_server.motions.planner_requests import plan_motion
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.state.scene_query import width_across

from .pick import Pick

MEETINGS = 6
READY_S = 1.0
"""The least time for choosing and opening, besides the motions."""
SLOWEST_S = 30.0
FOLLOWING = ("follow_tolerance", "follow_speed")


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicPickParams(PickParams):
    """Parameters of ``dynamicpick``, beyond those of ``PickParams``.

    Attributes:
        pick_range: Range of the meeting point on the object's path, m, counted ahead from the point nearest to the
            hand's home.
        time_bias: Time by which the hand goes down earlier, s.
        pick_bias: Shift of the meeting point along the path, m.
    """

    pick_range: tuple[float, float] = (-0.1, 0.2)
    time_bias: float = 0.0
    pick_bias: float = 0.0

    @property
    def targets(self) -> tuple[str, ...]:
        """The objects whose motion makes the chosen commands wrong: none, as the object is meant to move."""
        return ()

    @property
    def is_followed(self) -> bool:
        """False: an object that does not come to the meeting point as foreseen ends the goal."""
        return False


class DynamicPick(Skill[DynamicPickParams]):
    """Wait over the belt, go down as the object comes, close and lift."""

    name = "dynamicpick"
    aliases = ("dynamic_pick",)
    params_type = DynamicPickParams
    object_fields = ("object",)

    def is_feasible(self, params: DynamicPickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        low, high = params.pick_range
        return checks.all_faults(
            (
                check_pick(params, arm, world),
                _without_look_ahead(params),
                checks.without_effect(
                    params, FOLLOWING, "dynamicpick meets an object once; leave it out, or use pick"
                ),
                checks.number("pick_range[0]", low, -2.0, 2.0, "m"),
                checks.number("pick_range[1]", high, -2.0, 2.0, "m"),
                checks.ordered("pick_range[0]", low, "pick_range[1]", high),
                checks.number("time_bias", params.time_bias, -5.0, 5.0, "s"),
                checks.number("pick_bias", params.pick_bias, -0.5, 0.5, "m"),
            )
        )

    def commands(self, params: DynamicPickParams, context: Context) -> Sequence[Command]:
        """Make the commands of Pick for the object at the meeting point, with a wait before the descent."""
        world = context.world.snapshot()
        state = world.states[params.object]
        speed = float(np.linalg.norm(state.world_v_object))
        if speed < BELT_REST_MPS:
            return Pick().commands(params, context)
        if params.pre_grasp_offset == 0.0:
            text = (
                f"{params.object!r} moves, and pre_grasp_offset 0 leaves no place to wait for it; give it one"
            )
            raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "pre_grasp_offset"))
        why = [f"{params.object!r} passes before the hand can be there"]
        for point in _meetings(params, context, world):
            try:
                made = self._at(params, context, world, point)
            except StepFailed as failure:
                if failure.outcome.code is not Code.NO_CANDIDATE:
                    raise
                why.append(failure.outcome.message)
                continue
            way_s = float(np.linalg.norm(point - state.world_T_object.translation_m)) / speed
            if _duration(made) + READY_S < way_s:
                return stage_commands(made, params, context)
        text = f"no place to meet {params.object!r} at {speed:.2f} m/s: {why[-1]}; widen pick_range or slow the belt"
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", "pick_range"))

    def is_success(self, params: DynamicPickParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Pick does."""
        return Pick().is_success(params, before, after, context)

    def _at(
        self, params: DynamicPickParams, context: Context, world: World, point: Array
    ) -> tuple[SkillStage, ...]:
        gripper, state = context.arm_spec.gripper, world.states[params.object]
        assert gripper is not None
        there = Pose.of(point, state.world_T_object.rotation)
        ahead = replace(context, world=PredictedWorld(context.world, params.object, there))
        foreseen = ahead.world.snapshot()
        opening = params.gripper_width or gripper.max_width_m
        grasps = wanted_grasps(params, ahead, foreseen, gripper, opening)
        poses = tuple(
            g.world_T_ee for g in grasps if closes_across(g.world_T_ee, gripper, state.world_v_object)
        )
        if not poses:
            text = f"no grasp of {params.object!r} closes across its motion; turn it or the belt"
            raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", "object"))
        chosen = replace(
            params,
            grasp_poses=poses,
            npy_name="",
            constraint_axis="",
            orientation_filters=(),
            direction_to_obj="",
            fixed_orientation=(),
        )
        made = Pick().chosen_stages(chosen, ahead)
        context.planning_time_s = ahead.planning_time_s
        descent = next(i for i, stage in enumerate(made) if stage.name == "descend")
        down_s = _descent_s(made[descent - 1], made[descent], params, context)
        grasp = made[descent].world_T_ee
        assert grasp is not None
        width = min(opening, width_across(foreseen, params.object, grasp, gripper))
        lead_s = down_s + closing_s(context.robot, gripper, opening, width) + params.time_bias
        wait = SkillStage("wait", functions=(AwaitObject(params.object, point, lead_s, SLOWEST_S),))
        return (*made[:descent], wait, *made[descent:])


def _without_look_ahead(params: DynamicPickParams) -> Outcome:
    if params.next_place is None:
        return OK
    text = "next_place takes time in which the object moves on; leave it out"
    return checks.fault(Code.CONTRADICTION, "next_place", text)


def _meetings(params: DynamicPickParams, context: Context, world: World) -> list[Array]:
    """Return points (3,) on the object's path, drawn from the range, the earliest first."""
    state = world.states[params.object]
    along = state.world_v_object / np.linalg.norm(state.world_v_object)
    here = state.world_T_object.translation_m
    home = arm_motions.hand_at(context, context.arm_spec.home_q).translation_m
    nearest = float((home - here) @ along)
    ways = nearest + params.pick_bias + np.sort(context.rng.uniform(*params.pick_range, MEETINGS))
    return [here + way * along for way in ways if way > 0.0]


def _descent_s(before: SkillStage, descent: SkillStage, params: DynamicPickParams, context: Context) -> float:
    """Return the duration of the descent, by a plan of it that is not followed."""
    assert before.q is not None
    assert descent.world_T_ee is not None
    goal, scene = StraightGoal(descent.world_T_ee), SceneQuery(ignored=frozenset({params.object}))
    result = plan_motion(context, params, before.q, goal, scene, speed=descent.speed)
    if result.trajectory is None:
        text = f"no way down: {result.message or result.code.name}"
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", blocking=result.blocking))
    return result.trajectory.duration_s


def closing_s(robot: Robot, gripper: GripperSpec, opening_m: float, width_m: float) -> float:
    """Return the time until the fingers meet the object, at the speed of a gripper goal; 0 for a suction cup.

    Args:
        robot: The robot, with the velocity limit of the gripper's joint.
        gripper: The gripper.
        opening_m: Opening before, m.
        width_m: Width of the object between the fingers, m.
    """
    if gripper.suction is not None:
        return 0.0
    way = abs(gripper.position(opening_m) - gripper.position(width_m))
    return way / joint_speed(gripper, robot.joints[gripper.joint].velocity)


def _duration(stages: Sequence[SkillStage]) -> float:
    """Return the time until the hand is ready to go down, with the time of the descent."""
    planned = sum(stage.planned.duration_s for stage in stages if stage.planned is not None)
    waits = [f for stage in stages for f in stage.functions if isinstance(f, AwaitObject)]
    return planned + sum(wait.lead_s for wait in waits)
