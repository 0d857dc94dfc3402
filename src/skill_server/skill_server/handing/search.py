"""Asks the planner where two arms can meet: the giving hand with the object, the taking hand, and the way back."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.contracts.planning import (
    Attachment,
    Candidate,
    CandidateVerdict,
    JointGoals,
    OtherArm,
    SceneQuery,
)
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.world import World
from skill_server.motions.approach_planning import backed_off
from skill_server.motions.arm_motions import hand_at, no_obstacles
from skill_server.motions.candidate_selection import Ways, cause_of
from skill_server.motions.planner_requests import judge_candidates, plan_motion
from skill_server.state.gripper_state import arm_q
from skill_server.state.scene_query import gripper_joints, measured_gripper_joints, touch_pairs, width_across

from .arm_samples import arm_samples
from .meetings import Meeting, meetings
from .params import BACK, HandoverParams
from .place_ahead import PlaceAhead
from .taking_grasps import taking_grasps

GIVER_SAMPLES, TAKER_SAMPLES = 4000, 40000
BATCH = 16
"""Poses of the giving hand that one request asks for."""
MORE_PLACES = 160
"""So many places are looked at for a better one once there is a last resort."""
SAME_Q_RAD = 0.02
SAME_M, SAME_RAD = 0.03, 0.3
"""A place to meet is not tried again where one that did not serve differs by less."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundMeeting:
    """A place to meet that the planner finds possible.

    Attributes:
        world_T_object: Pose of the object.
        world_T_giver: Pose of the giving hand.
        giver_q: Configuration of the giving arm, (dof,), rad or m.
        grasps: object_T_ee of the taking hand, best first.
    """

    world_T_object: Pose
    world_T_giver: Pose
    giver_q: Array
    grasps: tuple[Pose, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _After:
    """The moment when both hands hold the object, with one grasp of the taking hand."""

    grasp: Pose
    taker_q: Array
    giver_q: Array
    world: World


class NowhereToMeet(StepFailed):
    """The arms and the object alone rule a meeting out: it does not matter where the arms are now."""


@dataclass
class MeetingSearch:
    """One search.

    Attributes:
        params: Parameters of the goal.
        giver: Context of the arm that holds the object.
        taker: Context of the other arm.
        held: How the giving hand holds the object.
        tried: Poses of the object, in the world, that did not serve.
    """

    params: HandoverParams
    giver: Context
    taker: Context
    held: Attachment
    tried: Sequence[Pose] = ()
    _causes: dict[str, Counter[str]] = field(default_factory=dict)
    _asked: Counter[str] = field(default_factory=Counter)
    _blocking: BodyPair | None = None
    _last_resort: FoundMeeting | None = None
    """The first place that the giving hand can leave by a part of the way only, or whose arm cannot go home."""

    def run(self) -> FoundMeeting:
        """Return the most promising place that is possible for both arms.

        The giving hand can leave it by the whole way, and its arm can go home then, beside the other arm. If there is
        no such place, it is the first one that the hand can leave at all.

        Raises:
            NowhereToMeet: NO_CANDIDATE; no place was left to ask the planner about.
            StepFailed: NO_CANDIDATE with the counts of what was in the way, or PLAN_BUDGET.
            Stopped: The token was set.
        """
        until_s, world = time.monotonic() + self.params.search_time, self.giver.world.snapshot()
        places = [one for one in self._places(world) if not self._is_tried(one.world_T_object)]
        if not places:
            raise NowhereToMeet(Outcome(Code.NO_CANDIDATE, self._words(0), "select"))
        try:
            found = self._first_good(places, world, until_s) or self._last_resort
        except StepFailed as failed:
            if failed.outcome.code is not Code.PLAN_BUDGET or self._last_resort is None:
                raise
            found = self._last_resort
        if found is not None:
            return found
        raise StepFailed(
            Outcome(Code.NO_CANDIDATE, self._words(len(places)), "select", blocking=self._blocking)
        )

    def _first_good(self, places: Sequence[Meeting], world: World, until_s: float) -> FoundMeeting | None:
        """Return the first place that is no last resort; once there is one, only some more are looked at."""
        end = len(places)
        for begin in range(0, len(places), BATCH):
            if begin >= end:
                break
            batch = places[begin : begin + BATCH]
            verdicts = self._ask_giver(batch, world, until_s)
            for place, verdict in zip(batch, verdicts, strict=True):
                if verdict.code is not Code.OK:
                    continue
                if (found := self._met(place, verdict.q[0], world, until_s)) is not None:
                    return found
            if self._last_resort is not None:
                end = min(end, begin + MORE_PLACES)
        return None

    def _places(self, world: World) -> tuple[Meeting, ...]:
        giver, taker = self.giver, self.taker
        gripper = taker.arm_spec.gripper
        assert gripper is not None
        both = [
            arm_samples(one.robot, one.arm_spec, one.world.world_T_base(), count, giver.rng)
            for one, count in ((giver, GIVER_SAMPLES), (taker, TAKER_SAMPLES))
        ]
        grasps = taking_grasps(world.objects[self.held.object], taker.robot, taker.arm_spec)
        if not grasps:
            text = (
                f"no grasp of {self.held.object!r} fits the hand of {taker.arm_spec.name}, "
                f"which opens to {1e3 * gripper.max_width_m:.0f} mm"
            )
            raise NowhereToMeet(Outcome(Code.NO_CANDIDATE, text, "select"))
        here_q = arm_q(world, giver.arm_spec)
        return meetings(both[0], both[1], here_q, self.held.link_T_object, grasps, gripper)

    def _is_tried(self, pose: Pose) -> bool:
        apart = (pose.distance_to(one) for one in self.tried)
        return any(off_m < SAME_M and off_rad < SAME_RAD for off_m, off_rad in apart)

    def _ask_giver(
        self, batch: Sequence[Meeting], world: World, until_s: float
    ) -> tuple[CandidateVerdict, ...]:
        """Ask whether the giving hand can be there, beside the other arm as it is now."""
        giver, taker = self.giver, self.taker
        ignored = no_obstacles(self.params.ignore_substring, giver, world)
        joints = measured_gripper_joints(world, taker.robot, taker.arm_spec.gripper)
        other = OtherArm(taker.arm_spec.name, arm_q(world, taker.arm_spec)[None], (), joints)
        scene = SceneQuery(
            ignored,
            (self.held,),
            touch_pairs(giver.robot, giver.arm_spec, (self.held.object,), frozenset()),
            measured_gripper_joints(world, giver.robot, giver.arm_spec.gripper),
            (other,),
        )
        candidates = tuple(Candidate((one.world_T_giver,)) for one in batch)
        return self._ask(giver, "giving hand", arm_q(world, giver.arm_spec), candidates, (scene,), until_s)

    def _met(self, place: Meeting, giver_q: Array, world: World, until_s: float) -> FoundMeeting | None:
        """Ask with which grasps the other hand can take the object there, so that the first one can leave."""
        giver = self.giver
        world_T_giver = hand_at(giver, giver_q)
        world_T_object = world_T_giver @ self.held.link_T_object
        verdicts = self._ask_taker(place, world_T_object, giver_q, world, until_s)
        good = [i for _, i in sorted((one.cost, i) for i, one in enumerate(verdicts) if one.code is Code.OK)]

        def found(grasps: list[int]) -> FoundMeeting | None:
            chosen = tuple(place.grasps[i] for i in grasps)
            return FoundMeeting(world_T_object, world_T_giver, giver_q, chosen) if chosen else None

        for share in BACK:
            after = {i: _After(place.grasps[i], verdicts[i].q[-1], giver_q, world) for i in good}
            ends = {i: q for i, one in after.items() if (q := self._left(one, share, until_s)) is not None}
            serves = self._serving(list(ends), place, verdicts, world_T_object, until_s)
            home = [i for i in serves if share == BACK[0] and self._goes_home(after[i], ends[i], until_s)]
            if (best := found(home)) is not None:
                return best
            self._last_resort = self._last_resort or found(serves)
            if self._last_resort is not None:
                break
            good = [i for i in good if i not in ends]
        return None

    def _serving(
        self,
        grasps: list[int],
        place: Meeting,
        verdicts: Sequence[CandidateVerdict],
        world_T_object: Pose,
        until_s: float,
    ) -> list[int]:
        """Return the grasps with which the other arm can go on to the place that follows."""
        ahead, name = self.params.next_place, self.held.object
        if ahead is None or not grasps:
            return grasps
        budget_s = until_s - time.monotonic()
        look = PlaceAhead(ahead, name, self.giver.arm_spec.name, self.taker, world_T_object, budget_s)
        found = look.refusals({i: (place.grasps[i], verdicts[i].q[-1]) for i in grasps})
        causes = self._causes.setdefault("place ahead", Counter())
        for outcome in found.values():
            self._asked["place ahead"] += 1
            if not outcome.ok:
                causes[outcome.message] += 1
                self._blocking = outcome.blocking or self._blocking
        return [i for i in grasps if found[i].ok]

    def _ask_taker(
        self, place: Meeting, world_T_object: Pose, giver_q: Array, world: World, until_s: float
    ) -> tuple[CandidateVerdict, ...]:
        giver, taker = self.giver, self.taker
        gripper = taker.arm_spec.gripper
        assert gripper is not None
        joints = measured_gripper_joints(world, giver.robot, giver.arm_spec.gripper)
        other = OtherArm(giver.arm_spec.name, giver_q[None], (self.held,), joints)
        opened = gripper_joints(taker.robot, gripper, gripper.max_width_m)
        before = SceneQuery(
            no_obstacles(self.params.ignore_substring, taker, world), gripper_m=opened, others=(other,)
        )
        touching = touch_pairs(taker.robot, taker.arm_spec, (), frozenset({self.held.object}))
        at = [world_T_object @ grasp for grasp in place.grasps]
        ways = tuple(Candidate((backed_off(pose, gripper, self.params.approach_offset), pose)) for pose in at)
        start_q, scenes = arm_q(world, taker.arm_spec), (before, replace(before, allowed=touching))
        return self._ask(taker, "taking hand", start_q, ways, scenes, until_s)

    def _left(self, after: _After, share: float, until_s: float) -> Array | None:
        """Return where the giving arm is once its open hand has gone straight back by a share; None if it cannot."""
        giver = self.giver
        gripper = giver.arm_spec.gripper
        assert gripper is not None
        here = hand_at(giver, after.giver_q)
        way = Candidate((here, backed_off(here, gripper, share * self.params.approach_offset)))
        what = "way back" if share == BACK[0] else f"way back by {share:.0%}"
        touching = touch_pairs(giver.robot, giver.arm_spec, (), frozenset({self.held.object}))
        (verdict,) = self._ask(
            giver, what, after.giver_q, (way,), (self._after_it(after, touching),), until_s
        )
        # The planner looks for a configuration of the first pose as well; the arm will be in this one alone.
        is_here = verdict.code is Code.OK and np.abs(verdict.q[0] - after.giver_q).max() < SAME_Q_RAD
        return verdict.q[-1] if is_here else None

    def _goes_home(self, after: _After, from_q: Array, until_s: float) -> bool:
        """Ask whether the giving arm can go home beside the other one, which has the object."""
        giver, home = self.giver, JointGoals(self.giver.arm_spec.home_q[None])
        left_s = min(self.params.allowed_planning_time, until_s - time.monotonic())
        if left_s <= 0.0:
            return False
        params, scene = replace(self.params, allowed_planning_time=left_s), self._after_it(after, frozenset())
        result = plan_motion(giver, params, from_q, home, scene, speed=1.0)
        self._asked["home"] += 1
        if result.code is not Code.OK:
            pair = result.blocking
            between = "" if pair is None else f" ({pair.a} - {pair.b})"
            self._causes.setdefault("home", Counter())[f"{result.code.name}{between}"] += 1
        return result.code is Code.OK

    def _after_it(self, after: _After, allowed: frozenset[BodyPair]) -> SceneQuery:
        """Return the scene for the giving arm, whose hand is open, while the object is in the other hand."""
        giver, taker, name = self.giver, self.taker, self.held.object
        opens, closes = giver.arm_spec.gripper, taker.arm_spec.gripper
        assert opens is not None
        assert closes is not None
        taken = Attachment(name, taker.arm_spec.ee_link, after.grasp.inverse())
        at = after.world.states[name].world_T_object @ after.grasp
        joints = gripper_joints(taker.robot, closes, width_across(after.world, name, at, closes))
        return SceneQuery(
            no_obstacles(self.params.ignore_substring, giver, after.world),
            allowed=allowed,
            gripper_m=gripper_joints(giver.robot, opens, opens.max_width_m),
            others=(OtherArm(taker.arm_spec.name, after.taker_q[None], (taken,), joints),),
        )

    def _ask(
        self,
        context: Context,
        what: str,
        start_q: Array,
        candidates: tuple[Candidate, ...],
        scenes: tuple[SceneQuery, ...],
        until_s: float,
    ) -> tuple[CandidateVerdict, ...]:
        """Ask the planner, and count what it refuses."""
        left_s = until_s - time.monotonic()
        if left_s <= 0.0:
            text = f"search_time of {self.params.search_time:g} s is over: {self._words()}"
            raise StepFailed(Outcome(Code.PLAN_BUDGET, text, "select", "search_time"))
        result = judge_candidates(context, start_q, candidates, scenes, left_s)
        if result.code is not Code.OK:
            text = result.message or "the planner refused to look for a place to meet"
            raise StepFailed(Outcome(result.code, text, "select"))
        ways, causes = Ways(("pose", "object")), self._causes.setdefault(what, Counter())
        for verdict in result.verdicts:
            self._asked[what] += 1
            if verdict.code is not Code.OK:
                causes[cause_of(verdict, ways)] += 1
                self._blocking = verdict.blocking or self._blocking
        return result.verdicts

    def _words(self, places: int | None = None) -> str:
        hands = f"{self.giver.arm_spec.name} can hand {self.held.object!r} to {self.taker.arm_spec.name}"
        head = f"there is no place where {hands}"
        if places is not None:
            head += f", of {places} that were looked at"
        parts = []
        for what, causes in self._causes.items():
            counted = ", ".join(f"{n} {cause}" for cause, n in causes.most_common(3))
            asked = self._asked[what]
            parts.append(
                f"{what}: {asked - causes.total()} of {asked} possible ({counted or 'none refused'})"
            )
        return "; ".join([head, *parts])
