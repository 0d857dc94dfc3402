"""Pick: choose a grasp, go there, close, lift; success is that the object rose with the hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    Motion,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.planning import Candidate, SceneQuery
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from skill_server.grasping.antipodal_grasps import Grasp
from skill_server.grasping.grasp_selection import wanted_grasps
from skill_server.grasping.pick_checks import check_pick
from skill_server.grasping.pick_params import PickParams
from skill_server.motions.approach_planning import ApproachPlanning, backed_off
from skill_server.motions.candidate_selection import Choice, Ways, choose
from skill_server.params.recovery import CandidateTest
from skill_server.params.simbox_time import seconds
from skill_server.state import gripper_state
from skill_server.state.held_object import refuse_when_holding
from skill_server.state.motion_limits import process_valid
from skill_server.state.scene_query import (
    gripper_joints,
    ignored_objects,
    supports,
    touch_pairs,
)

__all__ = ["Pick", "PickParams"]

APPROACH_SPEED = 0.8
SLIP_M = 0.03
"""The largest motion of the object in the hand between the grasp and the end of the lift."""


class Pick(Skill[PickParams]):
    """Grasp an object and lift it."""

    name = "pick"
    params_type = PickParams

    def is_feasible(self, params: PickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return check_pick(params, arm, world)

    def commands(self, params: PickParams, context: Context) -> Sequence[Command]:
        """Choose a grasp: by score, judged in batches by the planner, the best of the first batch that has any."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        refuse_when_holding(context, world)
        grasps = wanted_grasps(params, context, world, gripper, _opening(params, gripper))
        lift = float(context.rng.uniform(params.post_grasp_offset_min, params.post_grasp_offset_max))
        before = [self.pre_grasp(grasp, params, context) for grasp in grasps]
        stops = [_stops(grasp, pre, params, lift) for grasp, pre in zip(grasps, before, strict=True)]
        scenes = _scenes(params, context, world, gripper, lift)
        way = ApproachPlanning(params, APPROACH_SPEED)
        tested = way if params.test_mode == CandidateTest.FORWARD.value else None
        scores = [grasp.score for grasp in grasps]
        ways = Ways(_waypoints(params, lift))
        choice = choose(stops, scores, scenes, params.allowed_planning_time, context, tested, ways)
        return _command_list(params, context, world, gripper, choice, lift)

    def pre_grasp(self, grasp: Grasp, params: PickParams, context: Context) -> Pose:
        """Return the pose before a grasp, back along its approach.

        Args:
            grasp: Grasp that was chosen.
            params: Parameters with ``pre_grasp_offset``.
            context: Context of the run.

        Returns:
            world_T_ee.
        """
        gripper = context.arm_spec.gripper
        assert gripper is not None
        return backed_off(grasp.world_T_ee, gripper, params.pre_grasp_offset, grasp.approach)

    def is_success(self, params: PickParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object is in the gripper, rose by more than ``lift_th``, and moved with the hand."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        if params.process_valid:
            found = process_valid(context, after, params.object, Code.NOTHING_GRASPED)
            if not found.ok:
                return found
        if not params.is_closing:
            return Outcome(Code.OK, f"the open hand is at {params.object!r}")
        grasped = gripper_state.holds(after, context.robot, gripper, params.object)
        if not grasped.ok:
            return grasped
        rise = float(_height(after, params.object) - _height(before, params.object))
        if params.lift_th > 0.0 and rise <= params.lift_th:
            text = f"{params.object!r} rose by {rise * 1e3:.0f} mm, lift_th is {params.lift_th * 1e3:.0f} mm"
            return Outcome(Code.NOTHING_GRASPED, text)
        slipped = _slip(params, after, context)
        return (
            slipped
            if not slipped.ok
            else Outcome(Code.OK, f"picked {params.object!r}: it rose by {rise * 1e3:.0f} mm")
        )

    def recovery_skills(self, params: PickParams, lost: str) -> Sequence[tuple[Skill[Any], Any]]:
        """Return no skills: the skill can be tried again at once."""
        return ()


def _opening(params: PickParams, gripper: GripperSpec) -> float:
    return params.gripper_width or gripper.max_width_m


def _stops(grasp: Grasp, pre: Pose, params: PickParams, lift_m: float) -> Candidate:
    """Return the poses before the grasp, at it, lifted, and before it again, as far as the goal asks for them."""
    pose = grasp.world_T_ee
    stops = [pre, pose] if params.pre_grasp_offset > 0.0 else [pose]
    if lift_m > 0.0:
        stops.append(Pose.of((0.0, 0.0, lift_m)) @ pose)
    if params.return_to_pregrasp:
        stops.append(pre)
    return Candidate(tuple(stops))


def _waypoints(params: PickParams, lift_m: float) -> tuple[str, ...]:
    """Return the names of a candidate's waypoints in messages, in the order of ``_stops``."""
    names = ["pre-grasp", "grasp"] if params.pre_grasp_offset > 0.0 else ["grasp"]
    if lift_m > 0.0:
        names.append("lift")
    return (*names, "return") if params.return_to_pregrasp else tuple(names)


def _scenes(
    params: PickParams, context: Context, world: World, gripper: GripperSpec, lift_m: float
) -> tuple[SceneQuery, ...]:
    """Return the scenes: open and clear of the object; fingers may touch it; then it is in the hand and no obstacle."""
    ignored = ignored_objects(params.ignore_substring, world)
    opened = gripper_joints(context.robot, gripper, _opening(params, gripper))
    pairs = touch_pairs(context.robot, context.arm_spec, context.held, frozenset({params.object}))
    clear = SceneQuery(ignored, gripper_m=opened)
    around = SceneQuery(ignored, allowed=pairs, gripper_m=opened)
    after = SceneQuery(ignored | {params.object}, gripper_m=opened)
    n_after = (1 if lift_m > 0.0 else 0) + (1 if params.return_to_pregrasp else 0)
    return (*((clear,) if params.pre_grasp_offset > 0.0 else ()), around, *((after,) * n_after))


def _command_list(
    params: PickParams, context: Context, world: World, gripper: GripperSpec, choice: Choice, lift_m: float
) -> tuple[Command, ...]:
    """Return the commands in the SimBox format's order, with ``touching`` where the format ignores the object."""
    stops = list(zip(choice.candidate.world_T_ee, choice.q, strict=True))
    opened, target = OpenGripper(_opening(params, gripper)), frozenset({params.object})
    ignored = UpdateSpecific(ignored_objects(params.ignore_substring, world))
    hold = params.pre_grasp_hold_vec_weight
    commands = [
        Command("open", UpdatePoseCostMetric(None)),
        Command("open", ignored),
        Command("open", opened),
    ]
    first = Command("approach", opened, *stops.pop(0), speed=APPROACH_SPEED, planned=choice.planned)
    if params.pre_grasp_offset > 0.0:
        commands += [first, *([Command("approach", UpdatePoseCostMetric(hold))] if hold else [])]
        commands.append(Command("descend", opened, *stops.pop(0), Motion.STRAIGHT, target, speed=0.5))
    else:
        commands.append(Command("descend", opened, first.world_T_ee, first.q, Motion.FREE, target, 0.0, 0.5))
    hand = CloseGripper() if params.is_closing else opened
    commands += [
        Command("grasp", hand, dwell_s=seconds(params.gripper_change_steps)),
        Command("grasp", ignored),
        *([Command("grasp", AttachObject(params.object))] if params.is_closing else []),
        *([Command("grasp", UpdatePoseCostMetric(None))] if hold else []),
    ]
    touched = supports(world, params.object) if params.is_closing else target
    for stage, wanted in (("lift", lift_m > 0.0), ("return", params.return_to_pregrasp)):
        if wanted:
            commands.append(Command(stage, hand, *stops.pop(0), Motion.STRAIGHT, touched, speed=0.5))
    return tuple(commands)


def _slip(params: PickParams, after: World, context: Context) -> Outcome:
    held = context.held.get(params.object)
    if held is None:
        return OK
    base = context.world.world_T_base()
    here = gripper_state.attachment(after, context.robot, context.arm_spec, base, params.object)
    slip_m, slip_rad = held.link_T_object.distance_to(here.link_T_object)
    if slip_m <= SLIP_M:
        return OK
    text = f"{params.object!r} slipped by {slip_m * 1e3:.0f} mm in the hand; it is not held firmly"
    return Outcome(Code.OBJECT_DROPPED, text, position_error_m=slip_m, angle_error_rad=slip_rad)


def _height(world: World, name: str) -> float:
    return float(world.states[name].world_T_object.translation_m[2])
