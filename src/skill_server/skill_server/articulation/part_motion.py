"""Motion of a part by its handle: grasp it, follow the path of its joint, let go. Open, close and rotate share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    DetachObject,
    ExpectJoint,
    Motion,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.planning import (
    Attachment,
    Candidate,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from skill_server.motions import arm_motions
from skill_server.motions.approach_planning import ApproachPlanning, backed_off
from skill_server.motions.candidate_selection import Choice, choose
from skill_server.motions.planner_requests import judge_candidates
from skill_server.params import checks
from skill_server.params.simbox_checks import steps
from skill_server.params.simbox_time import seconds
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
        return (Command("look", arm_motions.neutral(params, context, world)),)
    way = _Way(part, goal, params, context, world)
    choice, grasp = way.chosen()
    return way.commands(choice, grasp)


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
        self._opened = gripper_joints(context.robot, gripper, gripper.max_width_m)
        self._ignored = ignored_objects(params.ignore_substring, world) | _inside(part.name, world)
        self._beside = frozenset({part.joint.body}) | supports(world, part.name)

    def chosen(self) -> tuple[Choice, HandleGrasp]:
        """Return the best grasp whose whole path is free, with the part in the hand."""
        grasps = grasps_of(self._part.handle, self._gripper, self._params.max_tilt_deg)
        candidates = [Candidate(self._stops(grasp)) for grasp in grasps]
        scores = [grasp.score for grasp in grasps]
        free_way, budget_s = (
            ApproachPlanning(self._params, APPROACH_SPEED),
            self._params.allowed_planning_time,
        )
        for _ in range(ATTEMPTS):
            choice = choose(candidates, scores, self._scenes(), budget_s, self._context, free_way)
            grasp = grasps[candidates.index(choice.candidate)]
            if (found := self._swept(choice, grasp)).ok:
                return choice, grasp
            self._context.refused.append(choice.q[0])
        raise StepFailed(found)

    def commands(self, choice: Choice, grasp: HandleGrasp) -> tuple[Command, ...]:
        """Return the commands: grasp, move piece by piece, let go."""
        part, opened = self._part, OpenGripper()
        stops = list(zip(choice.candidate.world_T_ee, choice.q, strict=True))
        touching = frozenset({part.name})
        made = [
            Command("open", UpdatePoseCostMetric(None)),
            Command("open", UpdateSpecific(self._ignored)),
            Command("open", opened),
            Command("approach", opened, *stops.pop(0), speed=APPROACH_SPEED, planned=choice.planned),
            Command("reach", opened, *stops.pop(0), Motion.STRAIGHT, touching, speed=MOTION_SPEED),
            Command("grasp", CloseGripper(), dwell_s=seconds(self._params.gripper_change_steps)),
            Command("grasp", AttachObject(part.name)),
        ]
        lag = self._params.max_lag * part.joint.range
        for position in self._positions:
            followed = ExpectJoint(part.name, position, lag)
            made.append(
                Command("move", followed, *stops.pop(0), Motion.STRAIGHT, self._beside, speed=MOTION_SPEED)
            )
        if self._params.release:
            made += [
                Command("release", opened, dwell_s=seconds(self._params.gripper_change_steps)),
                Command("release", DetachObject(part.name)),
            ]
            made += [
                Command("retreat", opened, *stop, Motion.STRAIGHT, touching, speed=MOTION_SPEED)
                for stop in stops
            ]
        return tuple(made)

    def _stops(self, grasp: HandleGrasp) -> tuple[Pose, ...]:
        part, params = self._part, self._params
        at = [part.world_T_part(position) @ grasp.part_T_ee for position in (part.position, *self._positions)]
        stops = [backed_off(at[0], self._gripper, params.pre_grasp_offset), *at]
        if params.release and params.retreat > 0.0:
            stops.append(backed_off(at[-1], self._gripper, params.retreat))
        return tuple(stops)

    def _scenes(self) -> tuple[SceneQuery, ...]:
        """Return the scenes: clear of the part; around its handle; then it moves along and is no obstacle."""
        context, name = self._context, self._part.name
        pairs = touch_pairs(context.robot, context.arm_spec, {}, frozenset({name}))
        clear = SceneQuery(self._ignored, gripper_m=self._opened)
        around = SceneQuery(self._ignored, allowed=pairs, gripper_m=self._opened)
        after = SceneQuery(self._ignored | {name}, gripper_m=self._opened)
        return (clear, around, *((after,) * (len(self._positions) + self._retreats)))

    @property
    def _retreats(self) -> int:
        return 1 if self._params.release and self._params.retreat > 0.0 else 0

    def _swept(self, choice: Choice, grasp: HandleGrasp) -> Outcome:
        """Check whether the part itself, moving with the hand, keeps clear of arm and world."""
        context, name = self._context, self._part.name
        held = {name: Attachment(name, context.arm_spec.ee_link, grasp.part_T_ee.inverse())}
        pairs = touch_pairs(context.robot, context.arm_spec, held, self._beside)
        scene = SceneQuery(self._ignored, tuple(held.values()), pairs, self._opened)
        way = Candidate(choice.candidate.world_T_ee[1 : 2 + len(self._positions)])
        scenes = (scene,) * len(way.world_T_ee)
        result = judge_candidates(context, choice.q[1], (way,), scenes, self._params.allowed_planning_time)
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
