"""Mobile rotate: turn the base on the spot by an angle; the arms and the held objects move with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions.base_motion import (
    BaseParams,
    base_q,
    check,
    drive_along,
    in_range,
    judged,
)
from skill_server.params import checks


@dataclass(frozen=True, slots=True, kw_only=True)
class MobileRotateParams(BaseParams):
    """Parameters of ``mobile_rotate``, beyond those of ``BaseParams``.

    Attributes:
        target: Turn from the present heading, rad, counter-clockwise seen from above.
    """

    target: float = 0.785


class MobileRotate(Skill[MobileRotateParams]):
    """Turn without driving."""

    name = "mobile_rotate"
    params_type = MobileRotateParams

    def is_feasible(self, params: MobileRotateParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        found = checks.all_faults((check(params, robot, world), _check_turn(params.target, robot)))
        return found if not found.ok else in_range(("target",) * 3, robot, _goal(params, robot, world))

    def commands(self, params: MobileRotateParams, context: Context) -> Sequence[Command]:
        """Make the one motion."""
        return drive_along((_goal(params, context.robot, context.world.snapshot()),), params, context)

    def is_success(
        self, params: MobileRotateParams, before: World, after: World, context: Context
    ) -> Outcome:
        """Judge by the measured base."""
        return judged(_goal(params, context.robot, before), params, after, context)


def _check_turn(target: float, robot: Robot) -> Outcome:
    """Refuse a turn that is none: a navigation server takes the shorter way to the heading."""
    if robot.navigation is not None and abs(target) > math.pi:
        text = f"target is {target:g} rad, and nav2 turns the shorter way; give at most pi either way, and turn twice"
        return checks.fault(Code.BAD_NUMBER, "target", text)
    return checks.number("target", target, -2.0 * math.pi, 2.0 * math.pi, "rad")


def _goal(params: MobileRotateParams, robot: Robot, world: World) -> Array:
    return np.asarray(base_q(robot, world.joints.position) + np.array([0.0, 0.0, params.target]))
