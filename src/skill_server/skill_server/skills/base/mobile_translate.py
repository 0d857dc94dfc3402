"""Mobile translate: drive the base straight by a distance; the arms and the held objects move with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.motions.base_motion import (
    BaseParams,
    base_q,
    check,
    drive_along,
    in_range,
    judged,
)
from skill_server.params import checks

FRAMES = ("base", "start")


@dataclass(frozen=True, slots=True, kw_only=True)
class MobileTranslateParams(BaseParams):
    """Parameters of ``mobile_translate``, beyond those of ``BaseParams``.

    Attributes:
        target: Distance along x and y of ``frame``, m.
        frame: ``base``: the present pose of the base; ``start``: its pose when the robot started.
    """

    target: tuple[float, float] = (0.0, 0.0)
    frame: str = "base"


class MobileTranslate(Skill[MobileTranslateParams]):
    """Drive without turning; a differential base turns towards its goal, and back at the end."""

    name = "mobile_translate"
    params_type = MobileTranslateParams

    def is_feasible(self, params: MobileTranslateParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        found = checks.all_faults(
            (
                check(params, robot, world),
                arm_motions.check_vector("target", params.target, 100.0, "m"),
                checks.choice("frame", params.frame, FRAMES),
            )
        )
        return found if not found.ok else in_range(("target",) * 3, robot, _goal(params, robot, world))

    def commands(self, params: MobileTranslateParams, context: Context) -> Sequence[Command]:
        """Make the one motion."""
        return drive_along((_goal(params, context.robot, context.world.snapshot()),), params, context)

    def is_success(
        self, params: MobileTranslateParams, before: World, after: World, context: Context
    ) -> Outcome:
        """Judge by the measured base."""
        return judged(_goal(params, context.robot, before), params, after, context)


def _goal(params: MobileTranslateParams, robot: Robot, world: World) -> Array:
    here = base_q(robot, world.joints.position)
    x, y = params.target
    yaw = float(here[2]) if params.frame == "base" else 0.0
    way = np.array([np.cos(yaw) * x - np.sin(yaw) * y, np.sin(yaw) * x + np.cos(yaw) * y, 0.0])
    return np.asarray(here + way)
