"""The ports of one arm in a cell: controllers, world and planner, as a skill uses them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from handiwork_core.admittance.rule import AdmittanceRule
from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import (
    Attachment,
    CandidatesRequest,
    CandidatesResult,
    Engine,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
    never_stop,
)
from handiwork_core.contracts.skill import Context, Token
from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.gripper_controller import GripperGoal
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.supervision import SUPERVISED
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.timing.tool_speed import ToolSpeedLimit
from skill_server.task.record import Report

from .cell import LockStepCell

MORE_TIME = 100.0
"""Factor of planning budgets: how busy the machine is must not decide what a plan is."""
UNSUPERVISED = replace(SUPERVISED, is_on=False)
"""Nothing disturbs the world of an episode, and the checks would have a thread of their own."""


@dataclass
class ArmPorts:
    """All ports of one arm.

    Attributes:
        cell: The cell.
        spec: The arm.
        engine: Planning engine of the robot, kept from episode to episode.
        speed: Speed of the tool at which the safety layer stops a motion, which motions keep.
        held: The objects that the arm holds, by name.
    """

    cell: LockStepCell
    spec: ArmSpec
    engine: Engine
    speed: ToolSpeedLimit
    held: dict[str, Attachment] = field(default_factory=dict)

    def context(self, seed: int, token: Token, report: Report) -> Context:
        """Return the context of one run of a skill.

        Args:
            seed: Seed of its random choices.
            token: Ends the run when it is set.
            report: Takes the progress.
        """
        rng = np.random.default_rng(seed & (2**64 - 1))
        made = Context(
            self.cell.robot, self.spec, self, self, self, self, self.cell, token, rng, seed, self.held, report
        )
        made.supervision, made.compliance = UNSUPERVISED, self
        return made

    def snapshot(self) -> World:
        """See ``WorldSource.snapshot``."""
        return self.cell.snapshot()

    def world_T_base(self) -> Pose:
        """Return the pose of the arm's base; the scene gives that of the robot's root link."""
        base = self.spec.base_link
        return self.cell.scene.world_T_base @ link_poses(self.cell.robot, {}, (base,))[base]

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: The planning problem.
            should_stop: Turns true when the result is no longer wanted.
        """
        self.engine.update_world(self.snapshot())
        result = self.engine.plan(replace(request, budget_s=MORE_TIME * request.budget_s), should_stop)
        trajectory = result.trajectory
        if trajectory is not None:
            trajectory = self.speed.kept(request.arm, trajectory)
        return replace(result, trajectory=trajectory, planning_time_s=0.0)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: The candidates.
            should_stop: Turns true when the result is no longer wanted.
        """
        self.engine.update_world(self.snapshot())
        asked = replace(request, budget_s=MORE_TIME * request.budget_s)
        return self.engine.check_candidates(asked, should_stop)

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``.

        Args:
            arm: Name of the arm.
            trajectory: The motion.
            scene: The interpretation of the world.
            should_stop: Turns true when the result is no longer wanted.
        """
        self.engine.update_world(self.snapshot())
        return self.engine.validate(arm, trajectory, scene, self.cell.sim.measured(arm))

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate_rest``.

        Args:
            arm: Name of the arm.
            trajectory: The whole motion.
            scene: The interpretation of the world.
            rest: The part that remains.
            should_stop: Turns true when the result is no longer wanted.
        """
        self.engine.update_world(self.snapshot())
        return self.engine.validate(arm, trajectory, scene, self.cell.sim.measured(arm), rest)

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``.

        Args:
            trajectory: The motion.
            should_stop: Ends the motion when it turns true.
        """
        controller = self.cell.sim.arms[self.spec.name].controller
        try:
            controller.start(TrajectoryGoal.of(trajectory), self.cell.sim.measured(self.spec.name))
        except GoalRefused as refusal:
            return refusal.outcome
        # The goal's own end: an arm that yields to a wrench is busy also when its path is over.
        while (result := controller.result) is None:
            if should_stop():
                controller.stop(Ending.CANCELED, "stopped")
            self.cell.tick()
        if result.ending is Ending.SUCCEEDED:
            return OK
        if result.ending is Ending.CANCELED:
            return Outcome(Code.CANCELED, result.message)
        code = Code.CONTACT if result.code is ErrorCode.CONTACT else Code.PATH_TOLERANCE
        return Outcome(code, result.message)

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        controller = self.cell.sim.arms[self.spec.name].controller
        controller.hold(self.cell.sim.measured(self.spec.name), "stopped")
        self.cell.sleep(0.3, should_stop=never_stop)
        return OK

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper.move``.

        Args:
            width_m: Opening, m.
            force_n: Force of the fingers, N; 0: that of the robot's file.
            should_stop: Ends the wait when it turns true.
        """
        gripper = self.spec.gripper
        if gripper is None:
            return Outcome(Code.BAD_GOAL, f"arm {self.spec.name!r} has no gripper; choose an arm with one")
        axis = self.cell.sim.grippers[gripper.name]
        here = float(self.cell.sim.world.joints().position[axis.indices[0]])
        axis.controller.start(GripperGoal(gripper.position(width_m), force_n), here)
        while axis.controller.busy:
            if should_stop():
                return Outcome(Code.CANCELED, "stopped while the fingers moved")
            self.cell.tick()
        return OK

    def set_admittance(self, settings: AdmittanceSettings, *, should_stop: ShouldStop) -> Outcome:
        """See ``Compliance.set_admittance``.

        Args:
            settings: The settings.
            should_stop: Not needed: they hold at once.
        """
        rule = self._admittance()
        if rule is None:
            return Outcome(
                Code.BAD_GOAL, f"arm {self.spec.name!r} has no admittance controller; choose another arm"
            )
        rule.set(settings)
        return OK

    def set_wrench(self, wrench: Array) -> None:
        """See ``Compliance.set_wrench``.

        Args:
            wrench: The wrench that the tool is to exert, (6,), N and Nm.
        """
        rule = self._admittance()
        if rule is not None:
            rule.wrench_reference = wrench

    def wrench(self) -> Array | None:
        """See ``Compliance.wrench``."""
        return self.cell.sim.wrench(self.spec.name)

    def _admittance(self) -> AdmittanceRule | None:
        return self.cell.sim.arms[self.spec.name].controller.admittance
