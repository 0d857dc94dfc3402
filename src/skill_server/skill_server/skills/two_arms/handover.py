"""Handover: the arm that holds an object gives it to another arm, and never lets go before that one holds it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from handiwork_core.contracts.composite import CompositeSkill, SkillStep, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import common_values
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.grasping.pick_checks import check_next_place
from skill_server.grasping.pick_params import PickParams
from skill_server.handing.arm_pair import check_arms, check_numbers, further_arm, other_arm
from skill_server.handing.hand_step import HandStep, present, take
from skill_server.handing.leaving import leave
from skill_server.handing.params import HandoverParams
from skill_server.handing.search import FoundMeeting, MeetingSearch, NowhereToMeet
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.params.retry_policy import LOST, UNREACHED
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.pick_place.pick import Pick
from skill_server.state import gripper_state
from skill_server.state.held_object import held_name

__all__ = ["Handover", "HandoverParams"]

AGAIN = {Code.NO_CANDIDATE, Code.ARM_IN_THE_WAY, *UNREACHED, *LOST}
"""Failures of a step after which another place to meet may serve."""
AT_OBJECT = ("take: reach", "take: grasp", "take: judge")
"""Stages of the taking hand in which it may be around the object when they fail."""


@dataclass
class _Course:
    """What a goal has tried so far."""

    tried: list[Pose] = field(default_factory=list)
    failures: list[Outcome] = field(default_factory=list)
    has_made_room: bool = False


class Handover(CompositeSkill[HandoverParams]):
    """Bring the object to where the other hand can take it; that hand closes, and only then this one opens."""

    name = "handover"
    params_type = HandoverParams
    object_fields = ("object",)

    def is_feasible(self, params: HandoverParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                check_arms(
                    "to_arm", params.to_arm, robot, arm, skill="a handover", is_own="is the arm that gives"
                ),
                checks.known_object("object", params.object, world) if params.object else OK,
                *(
                    checks.payload("object", params.object, world, robot.arms[name])
                    for name in further_arm(params.to_arm, robot, arm)
                ),
                *check_numbers(params),
                *_check_place(params, robot, arm, world),
                arm_motions.check_run(params),
            )
        )

    def further_arms(self, params: HandoverParams, robot: Robot, arm: ArmSpec) -> tuple[str, ...]:
        """Return the arm that takes the object."""
        return further_arm(params.to_arm, robot, arm)

    def goes_on(self, params: HandoverParams) -> bool:
        """See ``Skill``; without a name, an object that has left the first hand is not known any more."""
        return bool(params.object)

    def steps(self, params: HandoverParams, context: Context) -> Steps:
        """Pick where nothing is held yet; meet, take and leave, at another place where one does not serve."""
        taker = context.partners[other_arm(params.to_arm, context.robot, context.arm_spec)]
        if _has_arrived(params, context, taker):
            return
        # Before the pick: a goal that cannot be done moves nothing.
        _check_hand_is_free(taker, _held(context) or params.object)
        if params.object and not _held(context):
            picked = yield SkillStep("pick", Pick(), _pick_params(params), 3)
            _or_fail(picked)
        name = arm_motions.held(context, context.world.snapshot(), params.object).object
        yield from _taken(params, context, taker, name, is_there=_held(taker) == name)
        yield from leave("give", params, name, context, gives=True)

    def is_success(self, params: HandoverParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the object is in the other hand, and in that alone."""
        taker = context.partners[other_arm(params.to_arm, context.robot, context.arm_spec)]
        assert taker.arm_spec.gripper is not None
        name, arm = params.object or _held(taker), taker.arm_spec.name
        if not name:
            return Outcome(Code.OBJECT_DROPPED, f"{arm} holds nothing after the handover")
        found = gripper_state.holds(after, taker.robot, taker.arm_spec.gripper, name)
        if not found.ok:
            return replace(found, code=Code.OBJECT_DROPPED)
        # Without contacts the record alone says whether the first hand has let go; an open hand looks like a full one.
        gripper = context.arm_spec.gripper
        assert gripper is not None
        if name in context.held or gripper_state.touching_fingers(after, context.robot, gripper, name):
            text = f"{context.arm_spec.name} still touches {name!r}, which {arm} holds"
            return Outcome(Code.NOT_REACHED, text)
        return Outcome(Code.OK, f"{arm} holds {name!r}")


def _check_hand_is_free(taker: Context, name: str) -> None:
    """Refuse a taking hand that holds something else than the object; a name that is empty is not compared."""
    other = _held(taker)
    if name and other not in ("", name):
        text = f"{taker.arm_spec.name} already holds {other!r}; place it first"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "to_arm"))


def _taken(params: HandoverParams, context: Context, taker: Context, name: str, *, is_there: bool) -> Steps:
    """Let the other hand take the object; afterwards both hold it."""
    course, step = _Course(), HandStep()
    if is_there:
        # An earlier goal ended while both hands held it, with fingers that may not have closed yet.
        closed = yield SkillStep("take", step, take(params, (), name, taker), 1, taker.arm_spec.name)
        _or_fail(closed)
        return
    while True:
        try:
            found = _meeting(params, context, taker, name, course)
        except NowhereToMeet as none:
            raise StepFailed(_cause(course, none.outcome)) from none
        except StepFailed as none:
            if course.has_made_room or none.outcome.code is not Code.NO_CANDIDATE:
                raise StepFailed(_cause(course, none.outcome)) from none
            yield from _make_room(params, taker, course)
            continue
        outcome = yield SkillStep("present", step, present(params, found, name, context), 2)
        if outcome.ok:
            goal = take(params, found.grasps, name, taker, context.arm_spec.name)
            outcome = yield SkillStep("take", step, goal, 1, taker.arm_spec.name)
            if outcome.ok or _both_hold(context, taker, name):
                return
            if outcome.stage in AT_OBJECT and name in context.held:
                yield from _step_back(params, taker, name, outcome)
        elif outcome.code is Code.ARM_IN_THE_WAY and not course.has_made_room:
            yield from _make_room(params, taker, course)
        course.tried.append(found.world_T_object)
        course.failures.append(outcome)
        is_over = outcome.code not in AGAIN or len(course.failures) >= params.max_attempts
        if name not in {*context.held, *taker.held}:
            raise StepFailed(_dropped(outcome, name))
        if is_over or name not in context.held:
            raise StepFailed(outcome)


def _meeting(
    params: HandoverParams, context: Context, taker: Context, name: str, course: _Course
) -> FoundMeeting:
    held = arm_motions.held(context, context.world.snapshot(), name)
    return MeetingSearch(params, context, taker, held, course.tried).run()


def _make_room(params: HandoverParams, taker: Context, course: _Course) -> Steps:
    """Send the taking arm home, once, where it may stand in the way."""
    course.has_made_room = True
    home = HomeParams(**common_values(params))
    moved = yield SkillStep("make room", Home(), home, 3, taker.arm_spec.name)
    _or_fail(moved)


def _step_back(params: HandoverParams, taker: Context, name: str, failed: Outcome) -> Steps:
    """Open the hand that failed to take the object, and bring it back along its approach."""
    taker.held.pop(name, None)
    try:
        yield from leave("step back", params, name, taker, gives=False, left=3, arm=taker.arm_spec.name)
    except StepFailed as stuck:
        text = f"{failed.message}; {stuck.outcome.message}"
        raise StepFailed(replace(failed, message=text)) from stuck


def _both_hold(context: Context, taker: Context, name: str) -> bool:
    """Return True when both arms have the object on record, and the taking hand is measured to hold it."""
    gripper = taker.arm_spec.gripper
    assert gripper is not None
    found = gripper_state.holds(taker.world.snapshot(), taker.robot, gripper, name)
    return name in context.held and name in taker.held and found.ok


def _held(context: Context) -> str:
    return held_name(context, context.world.snapshot())


def _has_arrived(params: HandoverParams, context: Context, taker: Context) -> bool:
    """Return True when the object that the goal names is in the other hand already, and in that alone."""
    return bool(params.object) and _held(taker) == params.object and _held(context) != params.object


def _or_fail(outcome: Outcome) -> None:
    if not outcome.ok:
        raise StepFailed(outcome)


def _dropped(outcome: Outcome, name: str) -> Outcome:
    """Return the failure of a step after which neither hand has the object."""
    if outcome.code not in LOST or outcome.code is Code.OBJECT_DROPPED:
        return outcome
    text = f"{outcome.message}; no hand holds {name!r} any more, pick it again"
    return replace(outcome, code=Code.OBJECT_DROPPED, message=text)


def _cause(course: _Course, none: Outcome) -> Outcome:
    """Return the outcome of a search that finds nothing more, with the failures of the places before."""
    if not course.failures:
        return none
    words = " | ".join(one.message for one in course.failures)
    return replace(course.failures[-1], message=f"{words}; then {none.message}")


def _pick_params(params: HandoverParams) -> PickParams:
    return PickParams(object=params.object, **common_values(params))


def _check_place(params: HandoverParams, robot: Robot, arm: ArmSpec, world: World) -> tuple[Outcome, ...]:
    """Check the place that follows, as the other arm will do it."""
    name = other_arm(params.to_arm, robot, arm)
    if params.next_place is None or name not in robot.arms:
        return ()
    return check_next_place(params.next_place, params.object, robot.arms[name], world)
