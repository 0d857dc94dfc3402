"""Presses on a surface with a force, for a time or along a path, and lifts off again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import CommandFunction
from handiwork_core.contracts.planning import PathGoal
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from skill_server.contact.guarded_motion import slowed
from skill_server.motions.arm_motions import hand, no_obstacles
from skill_server.motions.planner_requests import plan_motion
from skill_server.params.protocol import RunParams
from skill_server.state.gripper_state import arm_q
from skill_server.state.scene_query import scene_for

from .force_band import ENOUGH, ForceBand
from .settings import PUSH_M_PER_S, pressing, push_axis
from .yielding import PushEnd, YieldingArm, yielding

BOUND_FACTOR, BOUND_N = 2.0, 5.0
"""The greatest force on the tool is this times the wanted one and so much more, N: friction adds to it."""
TOUCHED = 0.5
"""Share of the force at which a hand that stands still touches something."""
LIFT_SHARE, LIFT_M, LIFT_TIMEOUT_S = 0.7, 0.005, 5.0
"""After the work the hand is pulled away with this share of the force, by this way."""


@dataclass(frozen=True, slots=True, eq=False)
class ForceHold(CommandFunction):
    """Push the hand until it touches, hold the force, and lift off.

    Attributes:
        params: Limits of the planner.
        touching: Objects that may be touched.
        way: Direction of the push in ``world``, (3,), of length 1.
        force_n: The normal force, N.
        band_n: Its largest deviation, N.
        distance_m: The farthest that the hand is pushed before it touches, m.
        duration_s: Time of the pressing, s; 0 with a path.
        path: Points from where the hand touches first, (n, 3), m in ``world``; empty to press in place.
        speed: Speed of the hand along the path, m/s.
    """

    params: RunParams
    touching: frozenset[str]
    way: Array
    force_n: float
    band_n: float
    distance_m: float
    duration_s: float
    path: Array
    speed: float

    def execute(self, context: Context, stage: str) -> None:
        """See ``CommandFunction``."""
        axis = push_axis(self.way, hand(context, context.world.snapshot()), stage)
        bound_n = BOUND_FACTOR * self.force_n + BOUND_N
        band = ForceBand(self.force_n, self.band_n)
        with yielding(context, pressing(axis, self.force_n), bound_n, stage, "press with a force") as arm:
            arm.push(axis * self.force_n)
            self._touch(arm, axis)
            arm.on_force = lambda at_s, force: band.add(at_s, -float(force @ axis))
            if len(self.path):
                self._follow(arm, context, stage)
            else:
                self._hold(arm, context)
            arm.on_force = lambda _at_s, _force: None
            self._lift(arm, axis)
        context.contact = Outcome(Code.CONTACT, f"the normal force was {band.text()}")
        if band.share < ENOUGH:
            text = f"the normal force was {band.text()}; {100 * ENOUGH:.0f} % are enough"
            raise StepFailed(Outcome(Code.PATH_TOLERANCE, text, stage, "band_n"))

    def _touch(self, arm: YieldingArm, axis: Array) -> None:
        """Wait until the push has come to rest on something."""
        begun = float(arm.hand().translation_m @ self.way)

        def is_too_far(here: Pose) -> bool:
            return float(here.translation_m @ self.way) - begun > self.distance_m

        end = arm.until_still(self.way, is_too_far, 2.0 * self.distance_m / PUSH_M_PER_S + 5.0)
        if end is not PushEnd.STILL or -float(arm.force() @ axis) < TOUCHED * self.force_n:
            text = f"nothing was touched within {1e3 * self.distance_m:g} mm; begin nearer, or give a longer distance"
            raise arm.failed(Code.NOT_REACHED, text)

    def _hold(self, arm: YieldingArm, context: Context) -> None:
        begun_s = context.clock.now_s()
        while context.clock.now_s() - begun_s < self.duration_s:
            arm.wait()

    def _follow(self, arm: YieldingArm, context: Context, stage: str) -> None:
        """Go along the path with the push."""
        here, world = arm.hand(), context.world.snapshot()
        poses = tuple(Pose.of(here.translation_m + point, here.rotation) for point in self.path)
        ignored = no_obstacles(self.params.ignore_substring, context, world)
        scene = scene_for(world, context.robot, context.arm_spec, context.held, ignored, self.touching)
        q = arm_q(world, context.arm_spec)
        found = plan_motion(context, self.params, q, PathGoal(poses), scene, speed=1.0)
        if found.trajectory is None:
            text = f"no motion along the path: {found.message or found.code.name}"
            raise StepFailed(Outcome(found.code, text, stage, blocking=found.blocking))
        arm.follow(slowed(found.trajectory, self.speed, context), scene, world, lambda _here: False)

    def _lift(self, arm: YieldingArm, axis: Array) -> None:
        """Pull the hand off, so that no force is left when it yields no more."""
        begun = float(arm.hand().translation_m @ self.way)
        arm.push(-LIFT_SHARE * self.force_n * axis)
        arm.until_still(
            -self.way, lambda here: begun - float(here.translation_m @ self.way) >= LIFT_M, LIFT_TIMEOUT_S
        )


def no_path() -> Array:
    """Return the path of a tool that presses in place, (0, 3)."""
    return np.zeros((0, 3))
