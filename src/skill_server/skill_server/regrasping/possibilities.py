"""What the planner finds possible at placements of an object: grasps, and releases with them, as look-ahead judges."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.planning import Attachment, Candidate, CandidateVerdict
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.grasping.pick_params import PickParams
from skill_server.motions.candidate_selection import BATCH, TURN_WEIGHT, Ways, cause_of
from skill_server.motions.planner_requests import judge_candidates
from skill_server.params.protocol import RunParams
from skill_server.placing.look_ahead import LEAST_S, LEVELS, LookAhead
from skill_server.placing.params import PlaceParams
from skill_server.placing.place_stages import place_stages
from skill_server.stages.foreseen import ForeseenWorld, context_after
from skill_server.stages.scenes import stage_scenes
from skill_server.state.gripper_state import arm_q

from .free_spots import Spot
from .grasp_at import GRASPED, GraspAt, in_turn, key_of, with_q
from .params import COMMON, ObjectPlaceParams
from .tally import Tally

Sequences = Sequence[Sequence[SkillStage]]
StagesOf = Callable[[PickParams, Context], Sequences]
"""Returns the stages of each grasp in the world of a context, best first, as Pick makes them."""
NOT_BROUGHT = "was tried, and did not bring the object to its place"
PUT_DOWN_OVER_M = 0.005
"""Height over the support at which an object is let go on the way, m."""


class PlannerPossibilities:
    """See ``chains.Possibilities``. A request asks for many grasps at one placement, or many releases with one grasp.

    The object is no obstacle of itself: it is judged where it will be, and the planner knows where it is now.

    Attributes:
        tally: What was tried.
    """

    def __init__(
        self,
        pick: PickParams,
        place: PlaceParams,
        stages_of: StagesOf,
        context: Context,
        budget_s: float,
        refused: Collection[tuple[int, ...]] = (),
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin.

        Args:
            pick: Parameters of the picks.
            place: Parameters of the place that is the goal.
            stages_of: Makes the stages of each grasp.
            context: Context of the run, in whose world the object is at the start; the planning time is added to it.
            budget_s: Time for all answers together, s of steady time.
            refused: Keys of the grasps that are not taken where the object is at the start; one that is taken there
                already does not serve the place.
            steady: Returns the steady time, s.
        """
        self._refused = frozenset(refused)
        self._pick, self._place, self._stages_of, self._context = pick, place, stages_of, context
        self._budget_s, self._steady = budget_s, steady
        self._until_s = steady() + budget_s
        self._world = context.world.snapshot()
        self._serves = dict[tuple[int, ...], bool]()
        self._made = dict[Spot, Sequences]()
        self._grasps = dict[Spot, tuple[GraspAt, ...]]()
        self.tally = Tally()

    def hold(self, start: Spot, held: Attachment) -> None:
        """Take the object to be in the hand at the start, which leaves one grasp.

        Args:
            start: The start.
            held: How the hand holds it.
        """
        self._grasps[start] = (GraspAt(held.link_T_object.inverse()),)

    def serving(self, node: Spot) -> GraspAt | None:
        """Return the first grasp that serves the place; the planner is only asked about grasps that may.

        Args:
            node: The placement at which the object is grasped.

        Returns:
            The grasp; None: none of them serves.
        """
        if node in self._grasps:
            return next((grasp for grasp in self._grasps[node] if self._is_serving(node, grasp)), None)
        made = self._stages(node)
        maybe = [one for one in made if self._serves.get(key_of(self._grasp_of(one, node)), True)]
        grasps = self._possible(node, maybe)
        if len(maybe) == len(made):
            self._grasps[node] = grasps
        return next((grasp for grasp in grasps if self._is_serving(node, grasp)), None)

    def grasps(self, node: Spot) -> tuple[GraspAt, ...]:
        """Return the possible grasps; unlike approaches take turns.

        Args:
            node: The placement at which the object is grasped.
        """
        if node not in self._grasps:
            self._grasps[node] = self._possible(node, self._stages(node))
        return self._grasps[node]

    def put_down(self, node: Spot, grasp: GraspAt, at: Sequence[Spot]) -> Sequence[Spot]:
        """Return the placements at which the object can be let go.

        Args:
            node: The placement at which the object is grasped.
            grasp: The grasp.
            at: Placements to choose from.

        Returns:
            Those of them that can be reached, in the same order.
        """
        ahead, held = self._holding(node, grasp)
        params = self.put_down_params(at)
        verdicts = self._releases(params, ahead, held, len(at))
        self.tally.put_downs.add(verdicts)
        found = [spot for spot, cause in zip(at, verdicts, strict=True) if not cause]
        self.tally.reached += len(found)
        return found

    def put_down_params(self, at: Sequence[Spot]) -> ObjectPlaceParams:
        """Return the parameters of a place at placements on the way.

        Args:
            at: The placements, at least one; the first names the support.
        """
        common = {name: getattr(self._pick, name) for name in COMMON}
        return ObjectPlaceParams(
            container=at[0].support,
            object=self._pick.object,
            object_poses=tuple(spot.pose for spot in at),
            place_z_offset=PUT_DOWN_OVER_M,
            **common,
        )

    def _stages(self, node: Spot) -> Sequences:
        """Return the stages of each grasp that is made at a placement; none where none is made."""
        if node not in self._made:
            try:
                made = self._stages_of(self._pick, self._at(node))
                refused = self._refused if node.face < 0 else frozenset()
                self._made[node] = [one for one in made if key_of(self._grasp_of(one, node)) not in refused]
            except StepFailed as failure:
                if failure.outcome.code is not Code.NO_CANDIDATE:
                    raise
                self._made[node] = ()
                self.tally.grasps.add((failure.outcome.message,))
        return self._made[node]

    def _possible(self, node: Spot, made: Sequences) -> tuple[GraspAt, ...]:
        """Return those of the grasps at a placement that the planner finds possible."""
        name, context = self._pick.object, self._at(node)
        sequences = [tuple(replace(stage, ignored=stage.ignored | {name}) for stage in one) for one in made]
        if not sequences:
            return ()
        verdicts = self._judged(sequences, self._pick, context)
        self.tally.grasps.add(self._cause(verdict, sequences[0]) for verdict in verdicts)
        good = sorted(
            (sum(stage.cost for stage in one) + TURN_WEIGHT * verdict.cost, i)
            for i, (one, verdict) in enumerate(zip(sequences, verdicts, strict=True))
            if verdict.code is Code.OK
        )
        return in_turn(
            [self._grasp_of(with_q(sequences[i], verdicts[i]), node) for _, i in good], self._ee_axis
        )

    def _is_serving(self, node: Spot, grasp: GraspAt) -> bool:
        key = key_of(grasp)
        if key not in self._serves:
            is_held = not grasp.stages
            cause = NOT_BROUGHT if is_held and key in self._refused else self._why_not(node, grasp)
            self._serves[key] = not cause
            self.tally.places.add((cause,))
        return self._serves[key]

    def _why_not(self, node: Spot, grasp: GraspAt) -> str:
        """Return why the object cannot be brought to its place with a grasp; empty: it can."""
        if grasp.stages:
            context = self._at(node)
            ahead = LookAhead(self._place, self._pick.object, context, self._left_s(), self._steady)
            found = ahead.refusal(grasp.stages)
            self._context.planning_time_s += context.planning_time_s
            if found.code is Code.PLAN_BUDGET:
                raise StepFailed(self._late())
            self.tally.blocking = found.blocking or self.tally.blocking
            return "" if found.ok else found.message
        level = LEVELS[0]
        context, held = self._holding(node, grasp)
        try:
            causes = self._releases(self._place, context, held, level.releases)
        except StepFailed as failure:
            if failure.outcome.code is not Code.NO_CANDIDATE:
                raise
            return failure.outcome.message
        bad = [cause for cause in causes if cause]
        return bad[0] if len(causes) - len(bad) < min(level.enough, len(causes)) else ""

    def _releases(self, params: PlaceParams, ahead: Context, held: Attachment, n: int) -> list[str]:
        """Return the cause for which each release cannot be done; empty for one that can."""
        sequences = place_stages(params, ahead, held, n).sequences
        return [self._cause(verdict, sequences[0]) for verdict in self._judged(sequences, params, ahead)]

    def _judged(self, sequences: Sequences, params: RunParams, context: Context) -> list[CandidateVerdict]:
        world, verdicts = context.world.snapshot(), list[CandidateVerdict]()
        scenes = stage_scenes(sequences[0], params, context, world)
        candidates = tuple(
            Candidate(tuple(s.world_T_ee for s in one if s.world_T_ee is not None)) for one in sequences
        )
        before_s = context.planning_time_s
        for first in range(0, len(candidates), BATCH):
            batch = candidates[first : first + BATCH]
            start_q = arm_q(world, context.arm_spec)
            result = judge_candidates(context, start_q, batch, scenes, max(self._left_s(), LEAST_S))
            if result.code is Code.PLAN_BUDGET or self._left_s() <= 0.0:
                raise StepFailed(self._late())
            if result.code is not Code.OK:
                text = result.message or "the planner refused the grasps of a chain"
                raise StepFailed(Outcome(result.code, text, "select"))
            verdicts += result.verdicts
        if context is not self._context:
            self._context.planning_time_s += context.planning_time_s - before_s
        return verdicts

    def _cause(self, verdict: CandidateVerdict, stages: Sequence[SkillStage]) -> str:
        if verdict.code is Code.OK:
            return ""
        self.tally.blocking = verdict.blocking or self.tally.blocking
        return cause_of(verdict, Ways(tuple(s.label for s in stages if s.world_T_ee is not None)))

    def _at(self, node: Spot) -> Context:
        """Return the context of a run that begins with the object at a placement, and an empty hand."""
        name, world = self._pick.object, self._world
        states = {**world.states, name: replace(world.states[name], world_T_object=node.pose)}
        contacts = None if world.contacts is None else ()
        ahead: World = replace(world, states=states, contacts=contacts, suction={})
        source, seed = ForeseenWorld(ahead, self._context.world.world_T_base()), self._context.seed
        rng = np.random.default_rng(seed & (2**64 - 1))
        return replace(self._context, world=source, held={}, refused=[], rng=rng, planning_time_s=0.0)

    def _holding(self, node: Spot, grasp: GraspAt) -> tuple[Context, Attachment]:
        """Return the context after a grasp, and how the hand holds the object."""
        name = self._pick.object
        if not grasp.stages:
            return self._context, self._context.held[name]
        ahead = context_after(grasp.stages, self._at(node))
        return ahead, ahead.held[name]

    def _grasp_of(self, stages: Sequence[SkillStage], node: Spot) -> GraspAt:
        at = next(s.world_T_ee for s in stages if s.name == GRASPED and s.world_T_ee is not None)
        return GraspAt(node.pose.inverse() @ at, tuple(stages))

    @property
    def _ee_axis(self) -> int:
        gripper = self._context.arm_spec.gripper
        assert gripper is not None
        return gripper.ee_axis

    def _left_s(self) -> float:
        return self._until_s - self._steady()

    def _late(self) -> Outcome:
        text = f"no chain of grasps within search_time {self._budget_s:g} s; {self.tally.words}"
        return Outcome(Code.PLAN_BUDGET, text, "select", "search_time", blocking=self.tally.blocking)
