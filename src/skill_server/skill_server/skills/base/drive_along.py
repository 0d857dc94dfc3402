"""Drive along: the step in which skills with a mobile base drive it along the way that they have found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions.base_motion import BaseParams, check, drive_along, judged


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveAlongParams(BaseParams):
    """Parameters of the step, beyond those of ``BaseParams``.

    Attributes:
        path: Ends of the straight parts, in order: x, y [m] and yaw [rad] of the base's joints.
    """

    path: tuple[tuple[float, float, float], ...]


class DriveAlong(Skill[DriveAlongParams]):
    """Drive straight from one position to the next; a step of other skills, which is no goal of its own."""

    name = "drive_along"
    params_type = DriveAlongParams

    def is_feasible(self, params: DriveAlongParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return check(params, robot, world)

    def commands(self, params: DriveAlongParams, context: Context) -> Sequence[Command]:
        """Make a motion for each part."""
        return drive_along([np.array(end) for end in params.path], params, context)

    def is_success(self, params: DriveAlongParams, before: World, after: World, context: Context) -> Outcome:
        """Judge by the measured base."""
        return judged(np.array(params.path[-1]), params, after, context)
