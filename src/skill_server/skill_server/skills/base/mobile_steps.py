"""The steps of skills that first drive the base to where their arm can do the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from handiwork_core.contracts.composite import SkillStep, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import SkillParams, common_values
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from skill_server.driving.search import ELSEWHERE, PlacementSearch
from skill_server.motions.base_motion import base_q, has_base
from skill_server.params import checks
from skill_server.skills.motion.home import WITHIN_RAD, Home, HomeParams
from skill_server.state.gripper_state import arm_q

from .drive_along import DriveAlong, DriveAlongParams

DRIVE_AGAIN = frozenset({Code.PATH_BLOCKED, Code.NOT_REACHED, Code.GOAL_IN_COLLISION})
"""Ends of a drive after which another way, or another position, may do."""
DRIVE_ELSEWHERE = DRIVE_AGAIN | {Code.BAD_GOAL}
"""The same for nav2, whose map may not have a position, too."""
NAV2_M, NAV2_RAD = 0.25, 0.25
"""Nav2 may stop so far from its goal, as its own goal checker allows; the skill chooses again from there."""


class WithBase(Protocol):
    """The parameters of a skill that drives the base first."""

    @property
    def search_time(self) -> float:
        """The steady time for one search for a position of the base, s."""
        ...

    @property
    def max_attempts(self) -> int:
        """The most attempts."""
        ...


def check_with_base(params: WithBase, robot: Robot, world: World) -> Outcome:
    """Check the base, and what all such skills have as parameters.

    Args:
        params: Parameters of the skill.
        robot: The robot.
        world: World at the time of the goal.

    Returns:
        OK, or the faults.
    """
    found = has_base(robot, world)
    return found if not found.ok else checks.number("search_time", params.search_time, 0.1, 600.0, "s")


def steps_with_base(label: str, search: PlacementSearch, target: str, context: Context) -> Steps:
    """Drive to where the skill can be done, and do it; drive elsewhere where it then cannot be.

    Args:
        label: Name of the skill's own step.
        search: Search for a position of the base.
        target: Object around which the base is to stand.
        context: Context of the run.

    Raises:
        StepFailed: No position serves, or a step failed in a way that another position does not change.
    """
    params: SkillParams = search.params
    last: Outcome | None = None
    for attempt in range(search.params.max_attempts):
        try:
            path = search.find(_place(context.world.snapshot(), target), context)
        except StepFailed as none:
            if last is None:
                raise
            raise StepFailed(replace(last, message=f"{last.message}; then {none.outcome.message}")) from none
        is_last = attempt == search.params.max_attempts - 1
        if path:
            if not _is_home(context):
                outcome = yield SkillStep("home", Home(), HomeParams(**common_values(params)), 2)
                if not outcome.ok:
                    raise StepFailed(outcome)
            drive = DriveAlongParams(path=tuple(map(_numbers, path)), **common_values(params))
            if context.navigator is not None:
                drive = replace(drive, tolerance_m=NAV2_M, tolerance_rad=NAV2_RAD)
            outcome = yield SkillStep("drive", DriveAlong(), drive, 1)
            if not outcome.ok:
                again = DRIVE_AGAIN if context.navigator is None else DRIVE_ELSEWHERE
                if outcome.code not in again or is_last:
                    raise StepFailed(outcome)
                last = outcome
                if (
                    context.navigator is not None
                ):  # the search judges no way of nav2, and would find the same again
                    search.refused.append(path[-1])
                continue
        outcome = yield SkillStep(label, search.skill, search.params)
        if outcome.ok:
            return
        if outcome.code not in ELSEWHERE or is_last:
            raise StepFailed(outcome)
        last = outcome
        search.refused += [base_q(context.robot, context.world.snapshot().joints.position), *path[-1:]]


def _place(world: World, target: str) -> Array:
    if target not in world.states:
        text = f"the pose of {target!r} is not known; it was not seen yet"
        raise StepFailed(Outcome(Code.STALE_WORLD, text, "select"))
    return world.states[target].world_T_object.translation_m


def _is_home(context: Context) -> bool:
    off = arm_q(context.world.snapshot(), context.arm_spec) - context.arm_spec.home_q
    return bool(np.abs(off).max() <= WITHIN_RAD)


def _numbers(q: Array) -> tuple[float, float, float]:
    x, y, yaw = map(float, q)
    return x, y, yaw
