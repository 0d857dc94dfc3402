"""The ports of an arm among others: plans and judges against them, waits for them, and posts what it is about to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    CandidateVerdict,
    OtherArm,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.contracts.ports import Arm, Planner, WorldSource
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.params.recovery import UNREACHED

from .arm_coordinator import ArmTraffic, with_others

BLOCKED = (*UNREACHED, Code.START_IN_COLLISION)
"""Answers that another arm may be the cause of."""
SHARED_BUDGET_S = 1.0
"""While another arm works, planning around it is given up this soon: it goes on, and it needs the planner as well."""


@dataclass(frozen=True)
class CoordinatedPlanner:
    """Asks ``planner`` with the other arms in every scene.

    What can be done but for another arm is asked again when that has moved; what waits in vain gets ARM_IN_THE_WAY.
    """

    planner: Planner
    traffic: ArmTraffic

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``."""
        spent_s = 0.0
        while True:
            events, others = self._look()
            result = self.planner.plan(self._planned(request, others), should_stop=should_stop)
            spent_s += result.planning_time_s
            if result.code not in BLOCKED:
                self.traffic.go_on()
                return replace(result, planning_time_s=spent_s)
            free = self.planner.plan(_freed(request, others), should_stop=should_stop)
            spent_s += free.planning_time_s
            if free.code is not Code.OK:
                return replace(result, planning_time_s=spent_s)
            blocking_arm = self.traffic.blocking_arm(result.blocking, others)
            if not self.traffic.wait(blocking_arm, result.blocking, events, should_stop):
                return replace(self._in_vain(result, should_stop), planning_time_s=spent_s)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``."""
        named = self.traffic.named
        while True:
            events, others = self._look()
            result = self._judged(request, others, should_stop, gone=False)
            if result.code is not Code.OK or _any_ok(result.verdicts):
                self.traffic.go_on()
                return result
            if not _any_ok(self._judged(request, others, should_stop, gone=True).verdicts):
                return result
            pair = next((v.blocking for v in result.verdicts if v.blocking is not None), None)
            pair = next((v.blocking for v in result.verdicts if named(v.blocking, others)), pair)
            blocking_arm = self.traffic.blocking_arm(pair, others)
            if not self.traffic.wait(blocking_arm, pair, events, should_stop):
                failed = self._in_vain(PlanResult(Code.NO_CANDIDATE, blocking=pair), should_stop)
                return replace(result, code=failed.code, message=failed.message)

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``; a good trajectory is on the board when this returns."""
        while True:
            seen, others = self.traffic.others()
            judged = with_others(scene, others)
            verdict = self.planner.validate(arm, trajectory, judged, should_stop=should_stop)
            if verdict.code is Code.OK and not self.traffic.post(trajectory, seen):
                continue
            if verdict.code is Code.TRAJECTORY_REFUSED and self.traffic.named(verdict.blocking, others):
                self.traffic.refused_by(self.traffic.blocking_arm(verdict.blocking, others), verdict.blocking)
                return replace(verdict, code=Code.ARM_IN_THE_WAY)
            if verdict.code is Code.OK:
                self.traffic.go_on()
            return verdict

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate_rest``; the other arms were judged against this motion when they posted theirs."""
        alone = with_others(scene, self.traffic.others()[1], gone=True)
        return self.planner.validate_rest(arm, trajectory, alone, rest, should_stop=should_stop)

    def _look(self) -> tuple[int, tuple[OtherArm, ...]]:
        events = self.traffic.board.events(self.traffic.arm.name)
        return events, self.traffic.others()[1]

    def _planned(self, request: PlanRequest, others: tuple[OtherArm, ...]) -> PlanRequest:
        scene, budget_s = with_others(request.scene, others), request.budget_s
        if any(self.traffic.board.idle_s(other.arm) == 0.0 for other in others):
            budget_s = min(budget_s, SHARED_BUDGET_S)
        return replace(request, scene=scene, budget_s=budget_s)

    def _judged(
        self,
        request: CandidatesRequest,
        others: tuple[OtherArm, ...],
        should_stop: ShouldStop,
        *,
        gone: bool,
    ) -> CandidatesResult:
        scenes = tuple(with_others(scene, others, gone=gone) for scene in request.scenes or (SceneQuery(),))
        return self.planner.check_candidates(replace(request, scenes=scenes), should_stop=should_stop)

    def _in_vain(self, result: PlanResult, should_stop: ShouldStop) -> PlanResult:
        if should_stop():
            return replace(result, code=Code.CANCELED, message="stopped while waiting for another arm")
        return replace(result, code=Code.ARM_IN_THE_WAY, message=self.traffic.why)


@dataclass(frozen=True)
class TrafficArm:
    """Tells the board when a posted motion begins and ends."""

    arm: Arm
    traffic: ArmTraffic

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``."""
        self.traffic.begin()
        outcome = self.arm.follow(trajectory, should_stop=should_stop)
        if outcome.ok or outcome.code is Code.CANCELED:
            self.traffic.end()
        return outcome

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        return self.arm.stop()


@dataclass(frozen=True)
class ArmWorld:
    """The world of an arm whose base is not the robot's root: it may stand on a lift."""

    source: WorldSource
    robot: Robot
    arm: ArmSpec

    def snapshot(self) -> World:
        """See ``WorldSource``."""
        return self.source.snapshot()

    def world_T_base(self) -> Pose:
        """Where the arm's base stands now."""
        base = self.arm.base_link
        poses = link_poses(self.robot, self.source.snapshot().joints.position, (base,))
        return self.source.world_T_base() @ poses[base]


def _freed(request: PlanRequest, others: tuple[OtherArm, ...]) -> PlanRequest:
    return replace(request, scene=with_others(request.scene, others, gone=True))


def _any_ok(verdicts: Sequence[CandidateVerdict]) -> bool:
    return any(verdict.code is Code.OK for verdict in verdicts)
