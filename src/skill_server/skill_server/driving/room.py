"""The free space in which a base drives, and the ways through it."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array
from skill_server.motions.base_motion import base_of, clearance, root_pose
from skill_server.motions.base_steering import positions_on_way, steering_of
from skill_server.motions.base_sweep import CLEARANCE_M

from .foreseen_base import context_at
from .path_search import Limits, find_path

SPARE_M = 0.015
"""Ways are searched with so much more free space than the drive itself needs: the arm is not exactly where it was."""
MOST_WAYS_AROUND = 4
"""A way around obstacles is searched for to so many positions; to the others only the straight way counts."""


class DrivingRoom:
    """The free space around a robot that drives without moving its arms.

    Args:
        context: Context of the run.
        here: Position of the base, (3,), m and rad.
        ignored: Objects that are no obstacle.
        arm: Configuration of the arm, (dof,), rad or m; None: the measured one.

    Attributes:
        world_T_root: Pose of the robot's root link.
        wide: Judges positions with some more free space than the drive needs.
    """

    def __init__(
        self, context: Context, here: Array, ignored: frozenset[str], arm: Array | None = None
    ) -> None:
        there = context_at(context, here, arm)
        self.world_T_root = root_pose(context, context.world.snapshot())
        of = partial(clearance, there, there.world.snapshot(), self.world_T_root, ignored)
        self.wide, self._narrow = of(clearance_m=CLEARANCE_M + SPARE_M), of()
        joints = [context.robot.joints[name] for name in base_of(context.robot).joint_names]
        self._here, self._searches = here, 0
        self._steering = steering_of(context.robot)
        self._limits = Limits(
            np.array([joint.lower for joint in joints]), np.array([joint.upper for joint in joints])
        )

    def path_to(self, q: Array, rng: np.random.Generator, should_stop: ShouldStop) -> tuple[Array, ...]:
        """Return the ends of the straight parts of a way, with the wide space where there is one; empty for none.

        Args:
            q: Where to, (3,), m and rad.
            rng: Source of the random choices.
            should_stop: True ends the search.
        """
        for judge, goes_around in ((self.wide, False), (self.wide, True), (self._narrow, False)):
            if goes_around:
                if self._searches == MOST_WAYS_AROUND:
                    continue
                self._searches += 1
            way = find_path(
                self._here,
                q,
                judge.is_clear,
                self._limits,
                rng,
                should_stop,
                goes_around=goes_around,
                steering=self._steering,
            )
            if way and self._is_clear(way):
                return way
        return ()

    def _is_clear(self, way: tuple[Array, ...]) -> bool:
        """Return True where the drive has room: what is near now may stay so in the wide space, but not come nearer."""
        ends = (self._here, *way)
        ways = (positions_on_way(self._steering, *part) for part in pairwise(ends))
        return all(self._narrow.is_clear(way).all() for way in ways)
