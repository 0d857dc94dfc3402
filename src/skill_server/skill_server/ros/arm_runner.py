"""Runs of skills on one arm: the ports that they share, and the held objects, which are kept from goal to goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from handiwork_msgs.msg import SkillResult

from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.ports import (
    Arm,
    Clock,
    Compliance,
    FrameSource,
    Gripper,
    Navigator,
    Planner,
    WorldSource,
)
from handiwork_core.contracts.reactive import Cameras, Reactive, WatchedConditions
from handiwork_core.contracts.skill import Context, Skill, Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.supervision import SUPERVISED, SupervisionSettings
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.actions.skill_binding import Report
from handiwork_ros.ports.frames import UnknownFrame
from skill_server.coordination.arm_coordinator import ArmTraffic
from skill_server.coordination.coordinated_ports import CoordinatedPlanner, TrafficArm
from skill_server.coordination.fence import (
    FencedArm,
    FencedClock,
    FencedCompliance,
    FencedGripper,
    FencedHeld,
    FencedNavigator,
    FencedPlanner,
    FencedReactive,
)
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.flight.recorder import FlightRecorder
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import PreviewResult, preview_skill
from skill_server.preview.skill_plan import SkillPlan
from skill_server.preview.surroundings import ALONE, Surroundings
from skill_server.state import gripper_state

from .result_encoding import result_to_msg, stopped_to_msg


@dataclass(frozen=True)
class ArmRunner:
    """Runs skills on one arm, one after the other.

    The ports of a run are fenced: they refuse a body that was abandoned.

    Attributes:
        robot: Robot of the server.
        arm_spec: Arm.
        planner: Planner port.
        arm: Arm port.
        gripper: Gripper port.
        world: Source of the world.
        clock: Time of the robot's world.
        held: Held objects, written by runs; they are measured again before each run.
        right_of_way: Coordination with the other arms, which planner and arm ports then obey; None for a single
            arm.
        base: Controller port of the mobile base; None without one.
        navigator: Navigation server of the mobile base; None: its controller drives it.
        supervision: Settings of the supervision of running motions.
        compliance: Admittance controller port; None without one.
        frames: Transforms of tf; None without any.
        reactive: Reactive topic of the arm's controller; None without one.
        cameras: Images of cameras; None without any.
        conditions: What the monitor watches; None without one.
        recorder: Flight recorder; None: runs are not recorded.
    """

    robot: Robot
    arm_spec: ArmSpec
    planner: Planner
    arm: Arm
    gripper: Gripper
    world: WorldSource
    clock: Clock
    held: MutableMapping[str, Attachment] = field(default_factory=dict)
    right_of_way: ArmTraffic | None = None
    base: Arm | None = None
    supervision: SupervisionSettings = SUPERVISED
    compliance: Compliance | None = None
    frames: FrameSource | None = None
    reactive: Reactive | None = None
    cameras: Cameras | None = None
    conditions: WatchedConditions | None = None
    recorder: FlightRecorder | None = None
    navigator: Navigator | None = None

    def run(
        self,
        skill: Skill[Any],
        params: Any,
        token: Token,
        report: Report,
        robot: Robot | None = None,
        further: Sequence[ArmRunner] = (),
    ) -> ExecutionResult:
        """Run a skill to its end, on the arm's worker thread.

        Args:
            skill: Skill.
            params: Parameters of the skill.
            token: Ends the run when it is set.
            report: Takes the progress.
            robot: Robot with the changes of a robot file; None: that of the server.
            further: Runners of the further arms that the skill needs, which have no run of their own meanwhile.

        Returns:
            The result of the run.
        """
        with self._together(robot or self.robot, params.seed, token, report, further) as own:
            if self.recorder is None:
                return run_skill(skill, params, own)
            trace = self.recorder.begin(params, own)
            return self.recorder.end(trace, skill, run_skill(skill, params, own))

    def preview(
        self,
        skill: Skill[Any],
        params: Any,
        token: Token,
        report: Report,
        around: Surroundings = ALONE,
        further: Sequence[ArmRunner] = (),
    ) -> PreviewResult:
        """Plan a skill to its end; nothing moves, and no other arm is kept from moving.

        Args:
            skill: Skill.
            params: Parameters of the skill.
            token: Ends the preview when it is set.
            report: Takes the progress.
            around: The server around the preview; the other arms are added to it.
            further: Runners of the further arms that the skill needs.
        """
        contexts = {
            one.arm_spec.name: one.rehearsable(self.robot, params.seed, token, report)
            for one in (self, *further)
        }
        context, around = contexts.pop(self.arm_spec.name), self.among_others(around)
        context.partners = contexts
        if self.recorder is None:
            return preview_skill(skill, params, context, around)
        trace = self.recorder.begin(params, context, plan_only=True)
        result = replace(preview_skill(skill, params, context, around), arm=self.arm_spec.name)
        return self.recorder.end(trace, skill, result)

    def rehearsable(self, robot: Robot, seed: int, token: Token, report: Report) -> Context:
        """Return the context that a preview reads; it is not coordinated with the other arms.

        Args:
            robot: Robot with the changes of a robot file, or that of the server.
            seed: Seed of the preview.
            token: Ends the preview when it is set.
            report: Takes the progress.
        """
        return self._context(robot, seed, token, report)

    def among_others(self, around: Surroundings) -> Surroundings:
        """Return the server around a preview, with the arms besides this one.

        Args:
            around: The server around the preview.
        """
        way = self.right_of_way
        return around if way is None else replace(around, others=lambda: way.others()[1])

    def execute(
        self, plan: SkillPlan, token: Token, report: Report, further: Sequence[ArmRunner] = ()
    ) -> ExecutionResult:
        """Execute a plan of this arm as it was previewed, on the arm's worker thread.

        Args:
            plan: The plan.
            token: Ends the run when it is set.
            report: Takes the progress.
            further: Runners of the further arms of the plan, which have no run of their own meanwhile.
        """
        with self._together(plan.robot or self.robot, plan.seed, token, report, further) as context:
            return execute_plan(plan, context)

    @contextmanager
    def _together(
        self, robot: Robot, seed: int, token: Token, report: Report, further: Sequence[ArmRunner]
    ) -> Iterator[Context]:
        """Yield the context of a run on this arm, with those of further arms as its partners."""
        runners, names = (self, *further), [one.arm_spec.name for one in (self, *further)]
        with ExitStack() as stack:
            own, *others = [
                stack.enter_context(
                    runner._coordinated(
                        partial(runner._context, robot, seed, token),
                        report,
                        frozenset(names) - {runner.arm_spec.name},
                    )
                )
                for runner in runners
            ]
            own.partners = dict(zip(names[1:], others, strict=True))
            yield own

    @contextmanager
    def _coordinated(
        self, made: Callable[[Report], Context], report: Report, together: frozenset[str] = frozenset()
    ) -> Iterator[Context]:
        """Yield a context that is made for the report; among other arms its ports obey the coordination."""
        if self.right_of_way is None:
            yield made(report)
            return
        # A separate run, so that an abandoned one cannot act for the arm in a later one.
        way = replace(self.right_of_way, together=together)
        report = way.enter(report)
        try:
            context = made(report)
            context.planner = CoordinatedPlanner(context.planner, way)
            context.arm, context.right_of_way = TrafficArm(context.arm, way), way
            yield context
        finally:
            way.leave()

    def _context(self, robot: Robot, seed: int, token: Token, report: Report) -> Context:
        return Context(
            robot=robot,
            arm_spec=robot.arms[self.arm_spec.name],
            planner=FencedPlanner(self.planner, token),
            arm=FencedArm(self.arm, token),
            gripper=FencedGripper(self.gripper, token),
            world=self.world,
            clock=FencedClock(self.clock, token),
            token=token,
            # Seeds of numpy are not negative; the wrapped value serves as well.
            rng=np.random.default_rng(seed & (2**64 - 1)),
            seed=seed,
            held=FencedHeld(self.held, token),
            held_by_others=self._held_by_others,
            report=report,
            base=None if self.base is None else FencedArm(self.base, token),
            supervision=self.supervision,
            frames=self.frames,
            compliance=None if self.compliance is None else FencedCompliance(self.compliance, token),
            reactive=None if self.reactive is None else FencedReactive(self.reactive, token),
            cameras=self.cameras,
            conditions=self.conditions,
            navigator=None if self.navigator is None else FencedNavigator(self.navigator, token),
        )

    def _held_by_others(self) -> dict[str, Attachment]:
        way = self.right_of_way
        names = [] if way is None else [name for name in self.robot.arms if name != self.arm_spec.name]
        return {} if way is None else {k: v for name in names for k, v in way.held_by(name).items()}

    def result(self, outcome: Outcome, ended: ExecutionResult | None) -> SkillResult:
        """Return the whole result message, with the robot's present state as far as it is known.

        Args:
            outcome: Outcome of the goal.
            ended: Result of the run; None when no skill ran to its own end.

        Returns:
            The message.
        """
        world = self.world.snapshot()
        result = result_to_msg(outcome, ended, self.held_now(world))
        if set(self.arm_spec.joint_names) <= set(world.joints.position):
            stopped_to_msg(result, self.robot, self.arm_spec, world, self._world_T_base())
        return result

    def held_now(self, world: World | None = None) -> str:
        """Return the held object by measurement.

        It includes an object that a goal grasped which ended before its entry, and never one that is gone since.

        Args:
            world: Snapshot of the world; None: the newest.

        Returns:
            Name of the object; empty for none.
        """
        world = self.world.snapshot() if world is None else world
        kept = (n for n in self.held if not gripper_state.is_lost(world, self.robot, self.arm_spec, n))
        return next(kept, "") or gripper_state.held_by_measurement(world, self.robot, self.arm_spec)

    def _world_T_base(self) -> Pose | None:
        try:
            return self.world.world_T_base()
        except UnknownFrame:
            return None
