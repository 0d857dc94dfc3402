"""Carry: both hands grasp one object, and both arms bring it to its place in one motion."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace

from handiwork_core.contracts.composite import CompositeSkill, SkillStep, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import common_values
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.carrying.carry_steps import CarryStep, grasp
from skill_server.carrying.pair_search import FoundPair, Key, PairSearch
from skill_server.carrying.params import CarryParams, CarryStepParams
from skill_server.carrying.places import rest_pose, turned_to
from skill_server.carrying.ways import WayPlanner
from skill_server.handing.arm_pair import check_arms, check_numbers, further_arm, other_arm
from skill_server.handing.hand_step import HandStep
from skill_server.handing.leaving import go_back, leave, let_go
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.params.retry_policy import LOST, UNREACHED
from skill_server.state import gripper_state
from skill_server.state.frame_lookup import forget_frames, frame_used
from skill_server.state.held_object import held_name
from skill_server.state.scene_query import supports

__all__ = ["Carry", "CarryParams"]

AGAIN = {Code.NO_CANDIDATE, Code.JOINT_LIMIT, Code.TRAJECTORY_REFUSED, Code.ARM_IN_THE_WAY, *UNREACHED, *LOST}
"""Failures of a step after which another pair of grasps, or another way, may serve."""
OFF_M, OFF_RAD = 0.025, math.radians(10.0)
"""The largest distance of the settled object from its place."""


@dataclass
class _Course:
    """What a goal has tried so far."""

    tried: set[Key] = field(default_factory=set)
    failures: list[Outcome] = field(default_factory=list)

    def fail(self, outcome: Outcome, most: int) -> None:
        """Note a failure; raise it where nothing more is tried."""
        self.failures.append(outcome)
        if outcome.code not in AGAIN or len(self.failures) >= most:
            raise StepFailed(outcome)


class Carry(CompositeSkill[CarryParams]):
    """Grasp with both hands, lift, move and put down with both arms as one closed chain, and let go."""

    name = "carry"
    params_type = CarryParams
    moves_arms_at_once = True
    object_fields = ("object",)

    def is_feasible(self, params: CarryParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                check_arms(
                    "with_arm", params.with_arm, robot, arm, skill="carry", is_own="is the arm of the goal"
                ),
                _check_object(params, world),
                checks.payload(
                    "object",
                    params.object,
                    world,
                    arm,
                    *(robot.arms[name] for name in further_arm(params.with_arm, robot, arm)),
                ),
                arm_motions.check_vector("position", params.position, 10.0, "m"),
                checks.number("yaw", params.yaw, -360.0, 360.0, "deg") if params.yaw is not None else OK,
                checks.known_object("on", params.on, world) if params.on else OK,
                checks.number("lift", params.lift, 0.01, 0.5, "m"),
                checks.number("tool_speed", params.tool_speed, 0.01, 0.5, "m/s"),
                *check_numbers(params),
                arm_motions.check_run(params),
            )
        )

    def further_arms(self, params: CarryParams, robot: Robot, arm: ArmSpec) -> tuple[str, ...]:
        """Return the other arm."""
        return further_arm(params.with_arm, robot, arm)

    def goes_on(self, params: CarryParams) -> bool:
        """See ``Skill``; an object that both hands hold is brought to its place."""
        return True

    def steps(self, params: CarryParams, context: Context) -> Steps:
        """Grasp with one hand after the other where they do not hold it yet; carry; let go and leave."""
        forget_frames(context)
        partner = context.partners[other_arm(params.with_arm, context.robot, context.arm_spec)]
        _check_hands(params, context, partner)
        course = _Course()
        while True:
            if not _both_hold(params, context, partner):
                pair = _found(params, context, partner, course)
                outcome = yield from _grasped(params, context, partner, pair)
                if not outcome.ok:
                    course.tried.add(pair.key)
                    course.fail(outcome, params.max_attempts)
                    continue
            outcome = yield SkillStep("carry", CarryStep(), _step(params, context, partner), 4)
            if outcome.ok:
                break
            held = _both_hold(params, context, partner)
            if held and outcome.code is Code.NO_CANDIDATE and not _is_raised(params, context):
                # Nothing has moved: other grasps may have a way.
                yield from _released(params, context, partner)
                held = False
            if not held and _is_raised(params, context):
                raise StepFailed(outcome)
            course.fail(outcome, params.max_attempts)
        yield from _released(params, context, partner)

    def is_success(self, params: CarryParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object rests at its place, and that no hand touches it."""
        name, place = params.object, frame_used(params.frame, "frame", context, after)
        pose = after.states[name].world_T_object
        wanted = place.apply((*params.position, 0.0))
        off_m = math.dist(pose.translation_m[:2].tolist(), wanted[:2].tolist())
        turn = turned_to(before.states[name].world_T_object.rotation, params.yaw)
        off_rad = turn.angle_to(pose.rotation)
        text = f"{name!r} is {off_m * 1e3:.0f} mm and {math.degrees(off_rad):.0f} deg from its place"
        for one in (context, *context.partners.values()):
            gripper = one.arm_spec.gripper
            assert gripper is not None
            if gripper_state.touching_fingers(after, one.robot, gripper, name):
                return Outcome(Code.NOT_REACHED, f"{one.arm_spec.name} still touches {name!r}")
        good = off_m <= OFF_M + params.t_eps and off_rad <= OFF_RAD and bool(supports(after, name))
        code = Code.OK if good else Code.NOT_IN_PLACE
        return Outcome(code, text, position_error_m=off_m, angle_error_rad=off_rad)


def _found(params: CarryParams, context: Context, partner: Context, course: _Course) -> FoundPair:
    """Search for a pair of grasps; name what was tried before where there is none."""
    world = context.world.snapshot()
    goal, below = rest_pose(params, context, world)
    until_s = time.monotonic() + params.search_time
    planner = WayPlanner(params, goal, frozenset({below}), world, until_s)
    try:
        return PairSearch(params, (context, partner), planner, course.tried).run()
    except StepFailed as none:
        if not course.failures:
            raise
        words = " | ".join(one.message for one in course.failures)
        last = replace(course.failures[-1], message=f"{words}; then {none.outcome.message}")
        raise StepFailed(last) from none


def _grasped(
    params: CarryParams, context: Context, partner: Context, pair: FoundPair
) -> Generator[SkillStep, Outcome, Outcome]:
    """Grasp with one hand after the other, let go where one of them fails, and return how the last grasp ended."""
    outcome, done = OK, list[Context]()
    for i, one in enumerate((context, partner)):
        name = one.arm_spec.name
        known = pair.before_q[i], pair.at_q[i]
        goal = grasp(params, pair.grasps[i], known, one)
        arm = "" if one is context else name
        outcome = yield SkillStep(f"grasp {name}", HandStep(), goal, 6 - i, arm)
        done.append(one)
        if not outcome.ok:
            break
    if outcome.ok:
        return outcome
    # The hand that failed may be around the object, or on its way to it still.
    failed = done.pop()
    stage = outcome.stage.split(": ")[-1]
    if stage in ("reach", "grasp", "judge"):
        yield from _left_by(params, failed, context)
    for one in done:
        yield from _left_by(params, one, context)
    return outcome


def _left_by(params: CarryParams, one: Context, context: Context) -> Steps:
    """Open a hand, and bring it back from the object."""
    name, arm = params.object, "" if one is context else one.arm_spec.name
    yield from leave("step back", params, name, one, gives=name in one.held, left=3, arm=arm)


def _released(params: CarryParams, context: Context, partner: Context) -> Steps:
    """Open both hands before the first of them leaves: none pulls at what the other one holds."""
    name, arms = params.object, ((context, ""), (partner, partner.arm_spec.name))
    for one, arm in arms:
        yield from let_go(f"release {one.arm_spec.name}", params, name, gives=True, left=3, arm=arm)
    for one, arm in arms:
        yield from go_back(f"leave {one.arm_spec.name}", params, name, one, left=1, arm=arm)


def _step(params: CarryParams, context: Context, partner: Context) -> CarryStepParams:
    goal, below = rest_pose(params, context, context.world.snapshot())
    return CarryStepParams(
        goal=params,
        partner=partner.arm_spec.name,
        world_T_object=goal,
        rests_on=frozenset({below}),
        **common_values(params),
    )


def _both_hold(params: CarryParams, context: Context, partner: Context) -> bool:
    """Return True when both hands hold the object, by their record or by measurement, which is then recorded."""
    world = context.world.snapshot()
    if any(held_name(one, world) != params.object for one in (context, partner)):
        return False
    for one in (context, partner):
        arm_motions.held(one, world, params.object)
    return True


def _is_raised(params: CarryParams, context: Context) -> bool:
    """Return True when the object rests on nothing."""
    return not supports(context.world.snapshot(), params.object)


def _check_hands(params: CarryParams, context: Context, partner: Context) -> None:
    """Refuse hands that hold something else, or the object with one hand alone."""
    world = context.world.snapshot()
    names = {one.arm_spec.name: held_name(one, world) for one in (context, partner)}
    for arm, name in names.items():
        if name not in ("", params.object):
            text = f"{arm} already holds {name!r}; place it first"
            raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))
    holding = [arm for arm, name in names.items() if name]
    if len(holding) == 1:
        text = (
            f"{holding[0]} holds {params.object!r} alone; place it first, both hands grasp it where it rests"
        )
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))


def _check_object(params: CarryParams, world: World) -> Outcome:
    known = checks.known_object("object", params.object, world)
    if known.ok and world.objects[params.object].is_static:
        text = f"{params.object!r} cannot move; name an object that can"
        return checks.fault(Code.BAD_GOAL, "object", text)
    return known
