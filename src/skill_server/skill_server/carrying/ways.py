"""Plans how both arms move what they hold: the ways of the object, the closed chain, and the planner's judgement."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from handiwork_core.contracts.planning import PathRest, Verdict
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from skill_server.motions.arm_motions import no_obstacles
from skill_server.state.scene_query import supports

from .arm_chain import PathBroken
from .holds import Hold, scenes
from .params import CarryParams
from .places import leg, ways
from .together import CHAIN_M, CHAIN_RAD, Pace, chain_error, divided, joined, timed

STAGES = ("lift", "move", "lower")
STEP_M, STEP_RAD = 0.08, 0.25
"""Longest step of the search for a way around obstacles."""
ROOM_M = 0.25
"""The search looks this far around start and goal, m."""
GOAL_BIAS = 0.3
TURN_M = 0.2
"""A radian counts as this distance where poses are compared, m."""
SHORTCUTS, MOST_STEPS = 20, 80
"""The most steps that shorten a way, and that search for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """A part of the way of both arms, from rest to rest.

    Attributes:
        stage: Its name.
        parts: Trajectories of both arms, at the same times.
        touching: What the object may touch on it.
    """

    stage: str
    parts: tuple[Trajectory, Trajectory]
    touching: frozenset[str]


@dataclass
class WayPlanner:
    """Plans for one object.

    Attributes:
        params: Parameters of the goal.
        goal: Pose of the object at the end.
        rests_on: What it may touch there.
        world: Snapshot in which the way begins.
        until_s: Steady time at which the search ends, s.
        causes: What was in the way, by how often.
        blocking: The bodies that were in the way last.
        judged: Number of ways that the planner was asked about.
    """

    params: CarryParams
    goal: Pose
    rests_on: frozenset[str]
    world: World
    until_s: float
    causes: Counter[str] = field(default_factory=Counter)
    blocking: BodyPair | None = None
    judged: int = 0
    _followed: dict[tuple[int, int, int], list[Array] | str] = field(default_factory=dict)

    @property
    def start(self) -> Pose:
        """Pose of the object at the beginning."""
        return self.world.states[self.params.object].world_T_object

    def plan(self, holds: tuple[Hold, Hold], *, goes_around: bool = True) -> tuple[Leg, ...] | None:
        """Return the legs of the first way that both arms can do.

        Args:
            holds: Both hands at the object.
            goes_around: True: search for a way around obstacles where no simple one is possible.

        Returns:
            The legs, or None.

        Raises:
            StepFailed: PLAN_BUDGET, the time is over.
            Stopped: The token was set.
        """
        simple = ways(self.start, self.goal, self.params.lift)
        blocked: int | None = None
        for k, way in enumerate(simple):
            self._check_time()
            found = self._along(holds, k, way)
            if found is None:
                continue
            self.judged += 1
            legs = [self._leg(holds, STAGES[i], found[0][i], found[1][i]) for i in range(len(STAGES))]
            if not self._is_free(holds, legs[0]) or not self._is_free(holds, legs[2]):
                continue
            if self._is_free(holds, legs[1]):
                return tuple(legs)
            blocked = k if blocked is None else blocked
        if blocked is None or not goes_around:
            return None
        found = self._along(holds, blocked, simple[blocked])
        assert found is not None
        around = self._around(holds, simple[blocked][1], simple[blocked][2], [q[0][-1] for q in found])
        if around is None:
            return None
        last = self._follow(holds, simple[blocked][2:], [part.q[-1] for part in around.parts])
        if last is None:
            return None
        down = self._leg(holds, STAGES[2], last[0][0], last[1][0])
        if not self._is_free(holds, down):
            return None
        return (self._leg(holds, STAGES[0], found[0][0], found[1][0]), around, down)

    def words(self) -> str:
        """Return what was in the way, by how often."""
        return ", ".join(f"{n} {cause}" for cause, n in self.causes.most_common(4)) or "nothing was possible"

    def _along(self, holds: tuple[Hold, Hold], k: int, way: Sequence[Pose]) -> list[list[Array]] | None:
        """Return the configurations of both arms on the legs of a way; each hand on it is looked at once."""
        made = []
        for hold in holds:
            key = (k, id(hold.context), id(hold.object_T_ee))
            if key not in self._followed:
                self._followed[key] = self._hand_along(hold, way, hold.q)
            found = self._followed[key]
            if isinstance(found, str):
                self.causes[f"{hold.context.arm_spec.name}: {found}"] += 1
                return None
            made.append(found)
        return made

    def _follow(
        self, holds: tuple[Hold, Hold], way: Sequence[Pose], q: Sequence[Array]
    ) -> list[list[Array]] | None:
        made = []
        for hold, start_q in zip(holds, q, strict=True):
            found = self._hand_along(hold, way, start_q)
            if isinstance(found, str):
                return None
            made.append(found)
        return made

    @staticmethod
    def _hand_along(hold: Hold, way: Sequence[Pose], start_q: Array) -> list[Array] | str:
        """Return the configurations of one arm on each leg; else why there are none."""
        made, q = list[Array](), start_q
        for before, after in pairwise(way):
            try:
                made.append(hold.chain.along(q, leg(before, after) @ hold.object_T_ee.matrix()))
            except PathBroken as broken:
                return broken.why
            q = made[-1][-1]
        return made

    def _leg(self, holds: tuple[Hold, Hold], stage: str, first: Array, second: Array) -> Leg:
        hands = [hold.chain.hands(q)[:, :3, 3] for hold, q in zip(holds, (first, second), strict=True)]
        arms, params = [hold.context.arm_spec for hold in holds], self.params
        pace = Pace(
            params.max_velocity_scaling_factor, params.max_acceleration_scaling_factor, params.tool_speed
        )
        both = timed(holds[0].context.robot, arms, np.hstack([first, second]), hands, pace)
        one, other = divided(both, arms)
        touching = frozenset[str]()
        if stage == STAGES[0]:
            touching = supports(self.world, params.object)
        if stage == STAGES[2]:
            touching = self.rests_on
        return Leg(stage, (one, other), touching)

    def _is_free(self, holds: tuple[Hold, Hold], one: Leg) -> bool:
        """Ask the planner about the motion of both arms, and check that the chain stays closed."""
        off_m, off_rad = chain_error([hold.chain for hold in holds], one.parts)
        if off_m > CHAIN_M or off_rad > CHAIN_RAD:
            self.causes["the hands would not keep their places on the object"] += 1
            return False
        lead = holds[0].context
        ignored = no_obstacles(self.params.ignore_substring, lead, self.world)
        asked = scenes(holds, one.parts, self.params.object, one.touching, ignored)
        for hold, part, scene in zip(holds, one.parts, asked, strict=True):
            context = hold.context
            context.token.check()
            began_s = time.monotonic()
            verdict: Verdict = context.planner.validate_rest(
                context.arm_spec.name, part, scene, PathRest(0.0), should_stop=context.token.is_set
            )
            context.token.check()
            context.planning_time_s += time.monotonic() - began_s
            if verdict.code is Code.OK:
                continue
            if verdict.code is not Code.TRAJECTORY_REFUSED:
                raise StepFailed(Outcome(verdict.code, verdict.message, "select"))
            pair = verdict.blocking
            self.blocking = pair or self.blocking
            refusal = verdict.message or "in collision"
            self.causes[refusal if pair is None else f"{pair.a} against {pair.b}"] += 1
            return False
        return True

    def _around(self, holds: tuple[Hold, Hold], start: Pose, goal: Pose, q: Sequence[Array]) -> Leg | None:
        """Search a tree of poses of the object, which grows by steps that both arms can do (RRT)."""
        nodes: list[tuple[Pose, Sequence[Array], int]] = [(start, q, -1)]
        rng = holds[0].context.rng
        low = np.minimum(start.translation_m, goal.translation_m) - (ROOM_M, ROOM_M, 0.0)
        high = np.maximum(start.translation_m, goal.translation_m) + ROOM_M
        for _ in range(MOST_STEPS):
            holds[0].context.token.check()
            self._check_time()
            share = rng.uniform()
            target = goal
            if rng.uniform() > GOAL_BIAS:
                turn = _between(start.rotation, goal.rotation, share)
                target = Pose.of(rng.uniform(low, high), turn)
            near = min(range(len(nodes)), key=lambda i: _apart(nodes[i][0], target))
            step = _towards(nodes[near][0], target)
            added = self._step(holds, nodes[near][0], step, nodes[near][1])
            if added is None:
                continue
            nodes.append((step, added, near))
            if _apart(step, goal) < 1e-6:
                return self._through(holds, _shortened(self, holds, _branch(nodes)), q)
        return None

    def _step(
        self, holds: tuple[Hold, Hold], start: Pose, goal: Pose, q: Sequence[Array]
    ) -> list[Array] | None:
        """Return the configurations behind a straight step of the object; None where it is not possible."""
        found = self._follow(holds, (start, goal), q)
        if found is None or not self._is_free(holds, self._leg(holds, STAGES[1], found[0][0], found[1][0])):
            return None
        return [one[0][-1] for one in found]

    def _through(self, holds: tuple[Hold, Hold], way: Sequence[Pose], q: Sequence[Array]) -> Leg | None:
        """Return one leg through poses, with a stop at each."""
        found = self._follow(holds, way, q)
        if found is None:
            return None
        legs = [self._leg(holds, STAGES[1], *both) for both in zip(*found, strict=True)]
        first, second = (joined([one.parts[i] for one in legs]) for i in (0, 1))
        made = Leg(STAGES[1], (first, second), frozenset())
        return made if self._is_free(holds, made) else None

    def _check_time(self) -> None:
        if time.monotonic() > self.until_s:
            text = f"search_time of {self.params.search_time:g} s is over: {self.words()}"
            raise StepFailed(Outcome(Code.PLAN_BUDGET, text, "select", "search_time", blocking=self.blocking))


def _branch(nodes: Sequence[tuple[Pose, Sequence[Array], int]]) -> list[tuple[Pose, Sequence[Array]]]:
    """Return the nodes from the root to the last one."""
    made, i = list[tuple[Pose, Sequence[Array]]](), len(nodes) - 1
    while i >= 0:
        made.append(nodes[i][:2])
        i = nodes[i][2]
    return made[::-1]


def _shortened(
    planner: WayPlanner, holds: tuple[Hold, Hold], nodes: list[tuple[Pose, Sequence[Array]]]
) -> list[Pose]:
    """Leave out nodes between which the object can go straight."""
    made, i, tries = [nodes[0][0]], 0, 0
    while i < len(nodes) - 1:
        to = i + 1
        for j in range(len(nodes) - 1, i + 1, -1):
            tries += 1
            if tries > SHORTCUTS:
                break
            if planner._step(holds, nodes[i][0], nodes[j][0], nodes[i][1]) is not None:
                to = j
                break
        made.append(nodes[to][0])
        i = to
    return made


def _between(a: Rotation, b: Rotation, share: float) -> Rotation:
    middle = leg(Pose.of((0.0, 0.0, 0.0), a), Pose.of((0.0, 0.0, 0.0), b))
    return Rotation.from_matrix(middle[round(share * (len(middle) - 1)), :3, :3])


def _apart(a: Pose, b: Pose) -> float:
    off_m, off_rad = a.distance_to(b)
    return off_m + TURN_M * off_rad


def _towards(here: Pose, target: Pose) -> Pose:
    """Return the pose at most one step from here to a target."""
    off_m, off_rad = here.distance_to(target)
    share = min(1.0, STEP_M / max(off_m, 1e-9), STEP_RAD / max(off_rad, 1e-9))
    if share == 1.0:
        return target
    at = here.translation_m + share * (target.translation_m - here.translation_m)
    return Pose.of(at, _between(here.rotation, target.rotation, share))
