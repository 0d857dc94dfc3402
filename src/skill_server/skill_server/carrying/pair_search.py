"""Chooses the grasps with which two hands carry an object to its place."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.contracts.planning import NO_Q, Candidate, OtherArm, SceneQuery
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.motions.approach_planning import backed_off
from skill_server.motions.arm_motions import no_obstacles
from skill_server.motions.candidate_selection import Ways, cause_of
from skill_server.motions.planner_requests import judge_candidates
from skill_server.state.gripper_state import arm_q
from skill_server.state.scene_query import gripper_joints, touch_pairs

from .grasp_pairs import HandGrasp, hand_grasps, pairs
from .holds import Hold, chain_of, expected_hold
from .params import CarryParams
from .ways import WayPlanner

MOST_PAIRS = 60
"""The most pairs whose ways the planner judges; hands that cannot follow a way cost no time after the first time."""
AROUND_PAIRS = 2
"""Pairs for which a way around obstacles is searched where no pair has a simple way."""
Key = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class FoundPair:
    """Grasps of both hands with which the planner finds the whole way possible.

    Attributes:
        grasps: object_T_ee of the first and of the second hand.
        before_q: Configurations at the beginning of the straight way to the grasp, (dof,) each.
        at_q: Configurations at the grasp.
    """

    grasps: tuple[Pose, Pose]
    before_q: tuple[Array, Array]
    at_q: tuple[Array, Array]

    @property
    def key(self) -> Key:
        """The values that two equal pairs have in common."""
        first, second = (tuple(np.round(pose.matrix().ravel(), 4).tolist()) for pose in self.grasps)
        return first, second


@dataclass(frozen=True, slots=True, eq=False)
class _Reached:
    grasp: HandGrasp
    before_q: Array
    hold: Hold


@dataclass
class PairSearch:
    """One search.

    Attributes:
        params: Parameters of the goal.
        contexts: Contexts of both arms.
        planner: Plans the ways.
        tried: Pairs that did not serve.
    """

    params: CarryParams
    contexts: tuple[Context, Context]
    planner: WayPlanner
    tried: Collection[Key] = ()
    _words: list[str] = field(default_factory=list)

    def run(self) -> FoundPair:
        """Return the best pair whose way is possible.

        Raises:
            StepFailed: NO_CANDIDATE with what was in the way, or PLAN_BUDGET.
            Stopped: The token was set.
        """
        world, name = self.planner.world, self.params.object
        sides = [self._reached(one, other, world) for one, other in self._both()]
        grasps = [[one.grasp for one in side] for side in sides]
        found = [(sides[0][i], sides[1][j]) for i, j, _ in pairs(world.objects[name], grasps[0], grasps[1])]
        for goes_around, some in ((False, found), (True, found[:AROUND_PAIRS])):
            for one, other in some:
                pair = FoundPair(
                    (one.hold.object_T_ee, other.hold.object_T_ee),
                    (one.before_q, other.before_q),
                    (one.hold.q, other.hold.q),
                )
                if pair.key in self.tried or self.planner.judged > MOST_PAIRS:
                    continue
                if self.planner.plan((one.hold, other.hold), goes_around=goes_around) is not None:
                    return pair
        names = " and ".join(context.arm_spec.name for context in self.contexts)
        text = f"{names} find no pair of grasps to carry {name!r} to its place; {'; '.join(self._words)}"
        if found:
            text += f"; ways with {len(found)} pairs: {self.planner.words()}"
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", blocking=self.planner.blocking))

    def _both(self) -> tuple[tuple[Context, Context], tuple[Context, Context]]:
        one, other = self.contexts
        return (one, other), (other, one)

    def _reached(self, context: Context, other: Context, world: World) -> list[_Reached]:
        """Return the grasps that an arm reaches on a straight way, as if the other arm were not there."""
        name, spec = self.params.object, context.arm_spec
        gripper = spec.gripper
        assert gripper is not None
        grasps = hand_grasps(world, name, context.robot, spec)
        if not grasps:
            text = f"{spec.name}: no grasp beside the middle of {name!r} fits its hand"
            raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", "object"))
        opened = gripper_joints(context.robot, gripper, gripper.max_width_m)
        before = SceneQuery(
            no_obstacles(self.params.ignore_substring, context, world),
            gripper_m=opened,
            others=(OtherArm(other.arm_spec.name, NO_Q),),
        )
        touching = touch_pairs(context.robot, spec, (), frozenset({name}))
        poses = [world.states[name].world_T_object @ grasp.object_T_ee for grasp in grasps]
        offset = self.params.approach_offset
        candidates = tuple(Candidate((backed_off(pose, gripper, offset), pose)) for pose in poses)
        left_s = max(0.1, self.planner.until_s - time.monotonic())
        result = judge_candidates(
            context,
            arm_q(world, spec),
            candidates,
            (before, replace(before, allowed=touching)),
            left_s,
        )
        if result.code is not Code.OK:
            raise StepFailed(Outcome(result.code, result.message, "select"))
        causes, chain, made = Counter[str](), chain_of(context), list[_Reached]()
        for grasp, at, verdict in zip(grasps, poses, result.verdicts, strict=True):
            if verdict.code is not Code.OK:
                causes[cause_of(verdict, Ways(("approach", "object")))] += 1
                continue
            q, before_q = chain.relaxed(verdict.q[-1], at), verdict.q[0]
            if q is not verdict.q[-1]:
                found = chain.solve(q[None], backed_off(at, gripper, offset).matrix()[None])[0]
                q, before_q = (q, found) if chain.is_within(found) else (verdict.q[-1], before_q)
            hold = expected_hold(context, chain, name, world, q, grasp.object_T_ee)
            made.append(_Reached(grasp, before_q, hold))
        counted = ", ".join(f"{n} {cause}" for cause, n in causes.most_common(3))
        self._words.append(
            f"{spec.name} reaches {len(made)} of {len(grasps)} grasps ({counted or 'none refused'})"
        )
        return made
