"""Inserts a held object into a hole: push until it stands still, search on a spiral, push again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.admittance.settings import AdmittanceSettings
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

from .settings import push_axis, pushing, searching
from .spiral import spiral_poses
from .yielding import PushEnd, YieldingArm, yielding

PUSH_SHARE = 0.35
"""Share of the bound with which the hand is pushed; the rest is for the sides of the hole."""
SEARCH_M_PER_S = 0.005
DROP_M = 0.0006
"""A hand that sinks by this while it searches is in the hole."""
ENTERED_M = 0.002
"""Below the place where it stood first, the peg is in the hole: from then on it searches the play alone."""
PITCH_SHARE = 0.9
"""Pitch of the spiral, as a share of the play between peg and hole."""
MOST_SEARCHES = 6
PUSH_TIMEOUT_S = 20.0
DEVIATION_M = 0.0001


@dataclass(frozen=True, slots=True, eq=False)
class CompliantInsertion(CommandFunction):
    """Insert what is held, from where the hand is, with a bounded force.

    Attributes:
        params: Limits of the planner.
        touching: Objects that may be touched.
        way: Direction into the hole in ``world``, (3,), of length 1.
        inserted: Coordinate of the hand along ``way`` at which the depth is reached, m.
        force_n: Greatest force on the tool, N.
        radius_m: Radius of the search, m.
        clearance_m: Play between peg and hole, m.
    """

    params: RunParams
    touching: frozenset[str]
    way: Array
    inserted: float
    force_n: float
    radius_m: float
    clearance_m: float

    def execute(self, context: Context, stage: str) -> None:
        """See ``CommandFunction``."""
        axis = push_axis(self.way, hand(context, context.world.snapshot()), stage)
        push_n = PUSH_SHARE * self.force_n
        push, search = pushing(axis, push_n), searching(axis, push_n)
        with yielding(context, push, self.force_n, stage, "insert") as arm:
            self._insert(arm, context, stage, (axis * push_n, push, search))

    def _insert(
        self,
        arm: YieldingArm,
        context: Context,
        stage: str,
        law: tuple[Array, AdmittanceSettings, AdmittanceSettings],
    ) -> None:
        """Push, and search where the peg stands still, until the depth is reached."""
        force, push, search = law
        first: float | None = None
        for _ in range(MOST_SEARCHES + 1):
            arm.push(force)
            end = arm.until_still(self.way, lambda here: self._along(here) >= self.inserted, PUSH_TIMEOUT_S)
            if end is PushEnd.ARRIVED:
                context.contact = Outcome(Code.CONTACT, f"{arm.greatest_n:.1f} N was the greatest force")
                return
            stands = self._along(arm.hand())
            first = stands if first is None else first
            is_in = stands > first + ENTERED_M
            if end is PushEnd.TIMEOUT:
                break
            if not is_in:
                arm.change(search)
            radius_m = self.clearance_m if is_in else self.radius_m
            if not self._search(arm, context, stage, stands, radius_m) and not is_in:
                text = (
                    f"no hole was found within {1e3 * self.radius_m:g} mm of where it was expected; give a better "
                    "position, or a larger search_radius"
                )
                raise arm.failed(Code.NOT_REACHED, text)
            arm.change(push)
        missing = 1e3 * (self.inserted - self._along(arm.hand()))
        text = f"it stands still {missing:.1f} mm before the depth, also after {MOST_SEARCHES} searches"
        raise arm.failed(Code.NOT_REACHED, f"{text}; is it aligned with the hole, and the depth right?")

    def _search(self, arm: YieldingArm, context: Context, stage: str, stands: float, radius_m: float) -> bool:
        """Go along a spiral with the push; True once the hand sinks, or has its depth."""
        here = arm.hand()
        goal = PathGoal(
            spiral_poses(here, self.way, radius_m, PITCH_SHARE * min(self.clearance_m, radius_m / 2.0)),
            DEVIATION_M,
        )
        world = context.world.snapshot()
        ignored = no_obstacles(self.params.ignore_substring, context, world)
        scene = scene_for(world, context.robot, context.arm_spec, context.held, ignored, self.touching)
        found = plan_motion(context, self.params, arm_q(world, context.arm_spec), goal, scene, speed=1.0)
        if found.trajectory is None:
            text = f"no motion for the search: {found.message or found.code.name}"
            raise StepFailed(Outcome(found.code, text, stage, blocking=found.blocking))
        trajectory = slowed(found.trajectory, SEARCH_M_PER_S, context)
        until = min(stands + DROP_M, self.inserted)
        return arm.follow(trajectory, scene, world, lambda here: self._along(here) >= until)

    def _along(self, here: Pose) -> float:
        return float(np.dot(here.translation_m, self.way))
