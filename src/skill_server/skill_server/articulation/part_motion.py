"""Motion of a part by its handle: grasp it, follow the path of its joint, let go. Open, close and rotate share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    DetachObject,
    ExpectJoint,
    Motion,
    OpenGripper,
)
from handiwork_core.contracts.planning import (
    Attachment,
    Candidate,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from skill_server.motions import arm_motions
from skill_server.motions.approach_planning import backed_off
from skill_server.motions.planner_requests import judge_candidates
from skill_server.params import checks
from skill_server.params.simbox_checks import steps
from skill_server.params.simbox_time import seconds
from skill_server.stages.commands import stage_commands
from skill_server.stages.selection import choose_stages
from skill_server.state.held_object import refuse_when_holding
from skill_server.state.motion_limits import process_valid
from skill_server.state.scene_query import (
    gripper_joints,
    ignored_objects,
    objects_inside,
    supports,
    touch_pairs,
)

from .handle_grasps import HandleGrasp, grasps_of, positions_to
from .parts import PartState, check_part, part_of

APPROACH_SPEED, MOTION_SPEED = 0.8, 0.4
CLEARANCE_M = 0.004
"""The gripper must open this much wider than the handle, m."""
ATTEMPTS = 8
"""The number of grasps whose whole path is checked with the part in the hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartParams(SkillParams):
    """Parameters of the skills that move a part.

    Attributes:
        object: Part, or its body when that has only one part.
        tolerance: Tolerance of the joint, as a share of its range.
        max_lag: Largest lag of the joint behind the hand, as a share of its range.
        max_tilt_deg: Largest tilt of the hand about the handle, deg.
        pre_grasp_offset: Distance of the pose before the grasp, m.
        retreat: Distance of the retreat after the release, m.
        release: False: the hand keeps the handle.
        gripper_change_steps: Pause after closing and opening, steps of 1/30 s.
        process_valid: True: joints and part must be slow during the whole run.
    """

    object: str
    tolerance: float = 0.05
    max_lag: float = 0.15
    max_tilt_deg: float = 60.0
    pre_grasp_offset: float = 0.08
    retreat: float = 0.08
    release: bool = True
    gripper_change_steps: int = 6
    process_valid: bool = True

    @property
    def targets(self) -> tuple[str, ...]:
        """The part: a motion of its own makes the chosen path wrong."""
        return (self.object,)


def check(params: PartParams, arm: ArmSpec, world: World) -> Outcome:
    """Check a goal by its arguments alone.

    Args:
        params: Parameters of the skill.
        arm: Arm of the goal.
        world: World at the time of the goal.

    Returns:
        OK, or the faults.
    """
    known, able = check_part("object", params.object, world), checks.with_gripper(arm)
    return checks.all_faults(
        (
            able,
            known,
            checks.number("tolerance", params.tolerance, 1e-3, 1.0, "of the range"),
            checks.number("max_lag", params.max_lag, 0.01, 1.0, "of the range"),
            checks.number("max_tilt_deg", params.max_tilt_deg, 0.0, 90.0, "deg"),
            checks.number("pre_grasp_offset", params.pre_grasp_offset, 0.01, 0.5, "m"),
            checks.number("retreat", params.retreat, 0.0, 0.5, "m"),
            steps("gripper_change_steps", params.gripper_change_steps),
            _fits(arm, part_of(params.object, world)) if known.ok and able.ok else OK,
            arm_motions.check_run(params),
        )
    )


def _fits(arm: ArmSpec, part: PartState) -> Outcome:
    assert arm.gripper is not None
    most, width = arm.gripper.max_width_m - CLEARANCE_M, part.handle.width_m
    text = (
        f"the handle of {part.name!r} is {width * 1e3:.0f} mm wide, and the gripper takes {most * 1e3:.0f} mm"
    )
    return checks.fault(Code.BAD_GOAL, "object", text) if width > most else Outcome(Code.OK)


def motion_to(goal: float, params: PartParams, context: Context) -> Sequence[Command]:
    """Make the commands that bring the part's joint to a position.

    Args:
        goal: Position of the joint, m or rad.
        params: Parameters of the skill.
        context: Context of the run.

    Returns:
        The commands; one that moves nothing when the joint is already there.

    Raises:
        StepFailed: The gripper holds an object, or no grasp of the handle can be followed; gives the count of every
            cause.
    """
    world = context.world.snapshot()
    refuse_when_holding(context, world)
    part = part_of(params.object, world)
    if abs(goal - part.position) < 0.5 * params.tolerance * part.joint.range:
        return stage_commands((SkillStage("look"),), params, context)
    return stage_commands(_Way(part, goal, params, context, world).chosen(), params, context)


def settled(params: PartParams, part: PartState, world: World, context: Context) -> Outcome:
    """Check whether part and robot were calm, if the goal asks for it.

    Args:
        params: Parameters of the skill.
        part: Part after the motion.
        world: World after the motion.
        context: Context of the run.

    Returns:
        OK, or NOT_IN_PLACE.
    """
    if not params.process_valid:
        return Outcome(Code.OK)
    return process_valid(context, world, part.name, Code.NOT_IN_PLACE)


class _Way:
    """The path from the pose before the handle to the end of the joint's motion, and the retreat."""

    def __init__(
        self, part: PartState, goal: float, params: PartParams, context: Context, world: World
    ) -> None:
        gripper = context.arm_spec.gripper
        assert gripper is not None
        self._part, self._params, self._context, self._gripper = part, params, context, gripper
        self._positions = positions_to(part, goal, gripper.tcp_offset_m)
        self._ignored = _inside(part.name, world)
        self._beside = frozenset({part.joint.body}) | supports(world, part.name)
        self._always = ignored_objects(params.ignore_substring, world) | self._ignored

    def chosen(self) -> tuple[SkillStage, ...]:
        """Return the stages of the best grasp whose whole path is free, with the part in the hand."""
        grasps = grasps_of(self._part.handle, self._gripper, self._params.max_tilt_deg)
        sequences = [self._stages(grasp) for grasp in grasps]
        for _ in range(ATTEMPTS):
            stages = choose_stages(sequences, self._params, self._context, plans_approach=True)
            if (found := self._swept(stages)).ok:
                return stages
            first = next(stage.q for stage in stages if stage.q is not None)
            self._context.refused.append(first)
        raise StepFailed(found)

    def _stages(self, grasp: HandleGrasp) -> tuple[SkillStage, ...]:
        """Return the stages of one grasp: grasp, move piece by piece, let go."""
        part, params, opened, inside = self._part, self._params, OpenGripper(), self._ignored
        at, *pieces = (
            part.world_T_part(position) @ grasp.part_T_ee for position in (part.position, *self._positions)
        )
        before, touching = backed_off(at, self._gripper, params.pre_grasp_offset), frozenset({part.name})
        pause_s, lag = seconds(params.gripper_change_steps), params.max_lag * part.joint.range
        straight = partial(SkillStage, motion=Motion.STRAIGHT, ignored=inside, speed=MOTION_SPEED)
        made = [
            SkillStage("open", functions=(opened,)),
            SkillStage("approach", before, ignored=inside, speed=APPROACH_SPEED, cost=grasp.score),
            straight("reach", at, touching=touching),
            SkillStage("grasp", functions=(CloseGripper(), AttachObject(part.name)), dwell_s=pause_s),
        ]
        for position, pose in zip(self._positions, pieces, strict=True):
            followed = ExpectJoint(part.name, position, lag)
            made.append(straight("move", pose, functions=(followed,), touching=self._beside))
        if params.release:
            let_go = (opened, DetachObject(part.name))
            made.append(SkillStage("release", functions=let_go, dwell_s=pause_s))
        if params.release and params.retreat > 0.0:
            away = backed_off((at, *pieces)[-1], self._gripper, params.retreat)
            made.append(straight("retreat", away, leaving=touching))
        return tuple(made)

    def _swept(self, stages: Sequence[SkillStage]) -> Outcome:
        """Check whether the part itself, moving with the hand, keeps clear of arm and world."""
        context, name = self._context, self._part.name
        at, *pieces = (stage for stage in stages if stage.name in ("reach", "move"))
        assert at.world_T_ee is not None
        assert at.q is not None
        ee_T_part = at.world_T_ee.inverse() @ self._part.world_T_part(self._part.position)
        held = {name: Attachment(name, context.arm_spec.ee_link, ee_T_part)}
        pairs = touch_pairs(context.robot, context.arm_spec, held, self._beside)
        opened = gripper_joints(context.robot, self._gripper, self._gripper.max_width_m)
        scene = SceneQuery(self._always, tuple(held.values()), pairs, opened)
        way = Candidate(tuple(stage.world_T_ee for stage in (at, *pieces) if stage.world_T_ee is not None))
        scenes = (scene,) * len(way.world_T_ee)
        result = judge_candidates(context, at.q, (way,), scenes, self._params.allowed_planning_time)
        if result.code is not Code.OK:
            return Outcome(result.code, result.message, "select")
        verdict = result.verdicts[0]
        text = f"{name!r} in the hand cannot go all the way: {verdict.code.name}"
        if verdict.blocking:
            text += f" ({verdict.blocking.a} - {verdict.blocking.b})"
        return Outcome(verdict.code, text, "select", blocking=verdict.blocking)


def _inside(name: str, world: World) -> frozenset[str]:
    """Return the objects inside of the part, which move with it."""
    items = [world.objects[other] for other in objects_inside(world, name) if other in world.objects]
    return frozenset(item.name for item in items if not item.is_static and item.articulation is None)
