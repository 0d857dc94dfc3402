"""Move object: bring an object to a place from where it is, by as many grasps as that takes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.composite import CompositeSkill, SkillStep, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params.retry_policy import LOST, UNREACHED, Recovery
from skill_server.placing.params import PlaceParams
from skill_server.regrasping.grasp_at import key_of
from skill_server.regrasping.move_checks import check_move
from skill_server.regrasping.params import MoveObjectParams
from skill_server.regrasping.planning import Course, Tried, find_course, pick_params, pose_error
from skill_server.state.held_object import held_name

from .pick import Pick
from .place import Place

__all__ = ["MoveObject", "MoveObjectParams"]

TURNED_RAD = math.radians(20.0)
"""The largest angle between the settled object and what the goal asks for, where the goal allows no larger one."""
MOVED_M, MOVED_RAD = 0.01, math.radians(10.0)
"""An object that moves by more during a search is searched for again."""
AGAIN = {Code.NO_CANDIDATE, Code.JOINT_LIMIT, Code.OBJECT_MOVED, *UNREACHED}
"""Failures of a step after which another chain is searched. An object moves when it falls where it was put down."""
OFF_M = 0.03
"""The largest distance of the settled object from its pose."""


class MoveObject(CompositeSkill[MoveObjectParams]):
    """Pick and place in one goal; the object is put down and grasped again where no grasp serves the place."""

    name = "move_object"
    params_type = MoveObjectParams
    object_fields = ("object", "container")

    def is_feasible(self, params: MoveObjectParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return check_move(params, arm, world)

    def goes_on(self, params: MoveObjectParams) -> bool:
        """See ``Skill``; an object in the hand is placed, one that is lost is picked."""
        return True

    def steps(self, params: MoveObjectParams, context: Context) -> Steps:
        """Search for the shortest chain of grasps, do its first grasp, and search again in the world as it then is."""
        regrasps, tried = 0, Tried()
        while True:
            most = params.max_regrasps * params.regrasp - regrasps
            try:
                course = _course(params, context, most, tried)
            except StepFailed as none:
                yield from _closer(params, context, tried.cause_of(none.outcome))
                return
            again = " again" if regrasps else ""
            if course.grasp.stages:
                outcome = _found_there(params, course, context)
                if not outcome.ok and len(tried.failures) + 1 < params.max_attempts:
                    tried.failures.append(outcome)
                    continue
                if outcome.ok:
                    outcome = yield SkillStep(
                        f"pick{again}", Pick(), _pick(params, course, context), _left(course)
                    )
                    if not outcome.ok:
                        tried.grasps.add(key_of(course.grasp))
                if not outcome.ok:
                    _go_on(params, outcome, tried)
                    continue
            if course.put_down is None:
                outcome = yield SkillStep("place", Place(), params.placed(context.world.snapshot()))
                if outcome.ok:
                    return
            else:
                down = course.possible.put_down_params((course.put_down,))
                outcome = yield SkillStep("put down", Place(), down, _left(course) - 1)
            if params.object in context.held:
                tried.not_brought(key_of(course.grasp), course.put_down)
            else:
                regrasps += course.put_down is not None
                tried.let_go()
            if not outcome.ok:
                _go_on(params, outcome, tried)

    def is_success(self, params: MoveObjectParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Place does, and check that the settled object is turned as the goal asks."""
        placed = params.placed(after)
        found = Place().is_success(placed, before, after, context)
        if not found.ok:
            return found
        turned = _turned(placed, after)
        return found if turned.ok else turned


def _closer(params: MoveObjectParams, context: Context, none: Outcome) -> Steps:
    """Pick and place as one grasp with a closer look may still do; fail as the search did where that fails at once."""
    if none.code is not Code.NO_CANDIDATE or context.held:
        raise StepFailed(none)
    place = params.placed(context.world.snapshot())
    picked = yield SkillStep("pick", Pick(), replace(pick_params(params), next_place=place), 1)
    if not picked.ok:
        raise StepFailed(none if picked.code is Code.NO_CANDIDATE else picked)
    placed = yield SkillStep("place", Place(), params.placed(context.world.snapshot()))
    if not placed.ok:
        raise StepFailed(placed)


def _course(params: MoveObjectParams, context: Context, most: int, tried: Tried) -> Course:
    """Find the next grasp of the object, which is recorded as held where it is in the hand."""
    world = context.world.snapshot()
    if held_name(context, world):
        arm_motions.held(context, world, params.object)
    return find_course(params, Pick().stages, context, most, tried)


def _found_there(params: MoveObjectParams, course: Course, context: Context) -> Outcome:
    """Check that the object is still where the grasp was found: a search takes seconds."""
    now = context.world.snapshot().states[params.object].world_T_object
    off_m, off_rad = course.start.distance_to(now)
    text = f"{params.object!r} moved by {off_m * 1e3:.0f} mm and {math.degrees(off_rad):.0f} deg during the search"
    return OK if off_m <= MOVED_M and off_rad <= MOVED_RAD else Outcome(Code.OBJECT_MOVED, text, "select")


def _pick(params: MoveObjectParams, course: Course, context: Context) -> object:
    """Return the parameters of the pick with the chosen grasp, which looks ahead to where the object goes with it."""
    ahead: PlaceParams = params.placed(context.world.snapshot())
    if course.put_down is not None:
        ahead = course.possible.put_down_params((course.put_down,))
    return replace(pick_params(params), grasp_poses=(course.grasp.world_T_ee,), next_place=ahead)


def _left(course: Course) -> int:
    """Return the number of steps behind the next grasp: a release, and two for each regrasp."""
    return 1 + 2 * course.chain.regrasps


def _go_on(params: MoveObjectParams, outcome: Outcome, tried: Tried) -> None:
    """Return where another search may help; else fail with the outcome of the step."""
    tried.failures.append(outcome)
    codes = set(AGAIN)
    if params.recovery == Recovery.REGRASP.value:
        codes |= set(LOST)
    if (
        params.recovery == Recovery.GIVE_UP.value
        or outcome.code not in codes
        or len(tried.failures) >= params.max_attempts
    ):
        raise StepFailed(outcome)


def _turned(params: MoveObjectParams, after: World) -> Outcome:
    """Check the turn of the settled object, and its position where the goal has poses."""
    pose, name = after.states[params.object].world_T_object, params.object
    if params.object_poses:
        off_m, off = pose_error(params, pose)
        text = f"{name!r} is {off_m * 1e3:.0f} mm and {math.degrees(off):.0f} deg from its pose"
        good = off_m <= OFF_M and off <= TURNED_RAD
        return OK if good else Outcome(Code.NOT_IN_PLACE, text, position_error_m=off_m, angle_error_rad=off)
    if not params.is_aligned:
        return OK
    own = _unit(pose.rotation.matrix() @ np.array(params.align_pick_obj_axis))
    container = after.states[params.container].world_T_object.rotation.matrix()
    plane = np.cross(params.align_plane_x_axis, params.align_plane_y_axis)
    if plane.any():
        what, off = "plane", math.asin(abs(float(np.clip(own @ _unit(container @ plane), -1.0, 1.0))))
    else:
        wanted = _unit(container @ np.array(params.align_place_obj_axis))
        what, off = "axis", math.acos(float(np.clip(own @ wanted, -1.0, 1.0)))
    text = f"the axis of {name!r} is {math.degrees(off):.0f} deg from the {what} that it is to meet"
    limit = max(TURNED_RAD, math.radians(params.align_obj_tol_deg))
    return OK if off <= limit else Outcome(Code.NOT_IN_PLACE, text, angle_error_rad=off)


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))
