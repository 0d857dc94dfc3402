"""The ports of an arm among others: they plan and judge against the others, wait for them, and reserve motions."""

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
from skill_server.params.retry_policy import UNREACHED

from .arm_coordinator import ArmTraffic, with_others

BLOCKED = (*UNREACHED, Code.START_IN_COLLISION)
"""Answers whose cause may be another arm."""
SHARED_BUDGET_S = 1.0
"""The planning time around another arm that works, s: that arm will move on, and it needs the planner as well.

An arm of the same goal does neither.
"""


@dataclass(frozen=True)
class CoordinatedPlanner:
    """Asks ``planner`` with the other arms in every scene.

    A request that only another arm prevents is repeated when that has moved; it gets ARM_IN_THE_WAY when waiting has
    no success.

    Attributes:
        planner: Planner port.
        traffic: Coordination of the run.
    """

    planner: Planner
    traffic: ArmTraffic

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: Request without the other arms.
            should_stop: True ends the request and the wait.

        Returns:
            The result, or ARM_IN_THE_WAY.
        """
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
                return replace(self._without_success(result, should_stop), planning_time_s=spent_s)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: Request without the other arms.
            should_stop: True ends the request and the wait.

        Returns:
            The result, or ARM_IN_THE_WAY.
        """
        named = self.traffic.named
        while True:
            events, others = self._look()
            result = self._judged(request, others, should_stop, gone=False)
            if result.code is not Code.OK or _any_ok(result.verdicts):
                self.traffic.go_on()
                return result
            others = _not_given(request.scenes, others)
            # A scene that says itself where all others are would be the same without them.
            if not others or not _any_ok(self._judged(request, others, should_stop, gone=True).verdicts):
                return result
            pair = next((v.blocking for v in result.verdicts if v.blocking is not None), None)
            pair = next((v.blocking for v in result.verdicts if named(v.blocking, others)), pair)
            blocking_arm = self.traffic.blocking_arm(pair, others)
            if not self.traffic.wait(blocking_arm, pair, events, should_stop):
                failed = self._without_success(PlanResult(Code.NO_CANDIDATE, blocking=pair), should_stop)
                return replace(result, code=failed.code, message=failed.message)

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``; a good trajectory is reserved when this returns.

        Args:
            arm: Name of the arm.
            trajectory: Motion to judge.
            scene: Scene without the other arms.
            should_stop: True ends the request.

        Returns:
            The verdict; ARM_IN_THE_WAY where another arm is the cause.
        """
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
        """See ``Planner.validate_rest``; the other arms were judged against this motion when they reserved theirs.

        Args:
            arm: Name of the arm.
            trajectory: Running motion.
            scene: Scene without the other arms.
            rest: Rest of the motion, and the changes of the world.
            should_stop: True ends the request.

        Returns:
            The verdict.
        """
        alone = with_others(scene, self.traffic.others()[1], gone=True)
        return self.planner.validate_rest(arm, trajectory, alone, rest, should_stop=should_stop)

    def _look(self) -> tuple[int, tuple[OtherArm, ...]]:
        events = self.traffic.board.events(self.traffic.arm.name)
        return events, self.traffic.others()[1]

    def _planned(self, request: PlanRequest, others: tuple[OtherArm, ...]) -> PlanRequest:
        scene, budget_s = with_others(request.scene, others), request.budget_s
        board, together = self.traffic.board, self.traffic.together
        if any(board.idle_s(other.arm) == 0.0 for other in others if other.arm not in together):
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

    def _without_success(self, result: PlanResult, should_stop: ShouldStop) -> PlanResult:
        if should_stop():
            return replace(result, code=Code.CANCELED, message="stopped while waiting for another arm")
        return replace(result, code=Code.ARM_IN_THE_WAY, message=self.traffic.why)


@dataclass(frozen=True)
class TrafficArm:
    """Marks the start and the end of reserved motions.

    Attributes:
        arm: Arm port.
        traffic: Coordination of the run.
    """

    arm: Arm
    traffic: ArmTraffic

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``.

        Args:
            trajectory: Reserved motion.
            should_stop: True ends the motion.

        Returns:
            The outcome of the arm.
        """
        self.traffic.begin()
        outcome = self.arm.follow(trajectory, should_stop=should_stop)
        if outcome.ok or outcome.code in (Code.CANCELED, Code.CONTACT):
            self.traffic.end()
        return outcome

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        return self.arm.stop()


@dataclass(frozen=True)
class ArmWorld:
    """The world of an arm whose base is not the robot's root link: it may be on a lift.

    Attributes:
        source: Source of the robot's world.
        robot: Robot with the arm.
        arm: Arm.
    """

    source: WorldSource
    robot: Robot
    arm: ArmSpec

    def snapshot(self) -> World:
        """See ``WorldSource``."""
        return self.source.snapshot()

    def world_T_base(self) -> Pose:
        """Return the present pose of the arm's base."""
        base = self.arm.base_link
        poses = link_poses(self.robot, self.source.snapshot().joints.position, (base,))
        return self.source.world_T_base() @ poses[base]


def _freed(request: PlanRequest, others: tuple[OtherArm, ...]) -> PlanRequest:
    return replace(request, scene=with_others(request.scene, others, gone=True))


def _not_given(scenes: Sequence[SceneQuery], others: tuple[OtherArm, ...]) -> tuple[OtherArm, ...]:
    """Return the other arms that a scene does not have itself already."""
    given = [{other.arm for other in scene.others} for scene in scenes or (SceneQuery(),)]
    return tuple(other for other in others if any(other.arm not in names for names in given))


def _any_ok(verdicts: Sequence[CandidateVerdict]) -> bool:
    return any(verdict.code is Code.OK for verdict in verdicts)
