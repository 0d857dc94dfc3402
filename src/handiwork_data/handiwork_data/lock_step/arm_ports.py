"""The ports of one arm in a cell: world, planner and compliance, and those of its controllers."""

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
)
from handiwork_core.contracts.skill import Context, Token
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.supervision import SUPERVISED
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec
from handiwork_planning.dynamics.planned_limits import PlannedLimits
from skill_server.task.record import Report

from .cell import LockStepCell
from .controller_ports import TrajectoryPort, tool_port

MORE_TIME = 100.0
"""Factor of planning budgets: how busy the machine is must not decide what a plan is."""
BASE_DIGITS = 4
"""Digits of the joints of a base for the planner, which keeps its chains for them."""
UNSUPERVISED = replace(SUPERVISED, is_on=False)
"""Nothing disturbs the world of an episode, and the checks would have a thread of their own."""


@dataclass
class ArmPorts:
    """All ports of one arm.

    Attributes:
        cell: The cell.
        spec: The arm.
        engine: Planning engine of the robot, kept from episode to episode.
        limits: Speed of the tool at which the safety layer stops a motion, and efforts of the joints, for all motions.
        held: The objects that the arm holds, by name.
    """

    cell: LockStepCell
    spec: ArmSpec
    engine: Engine
    limits: PlannedLimits
    held: dict[str, Attachment] = field(default_factory=dict)

    def context(self, seed: int, token: Token, report: Report) -> Context:
        """Return the context of one run of a skill.

        Args:
            seed: Seed of its random choices.
            token: Ends the run when it is set.
            report: Takes the progress.
        """
        rng, robot = np.random.default_rng(seed & (2**64 - 1)), self.cell.robot
        arm, tool = self.controller, tool_port(self.cell, self.spec)
        made = Context(
            robot, self.spec, self, arm, tool, self, self.cell, token, rng, seed, self.held, report
        )
        made.supervision, made.compliance = UNSUPERVISED, self
        if robot.base is not None:
            made.base = TrajectoryPort(self.cell, robot.base.name)
        return made

    @property
    def controller(self) -> TrajectoryPort:
        """The arm's trajectory controller."""
        return TrajectoryPort(self.cell, self.spec.name)

    def snapshot(self) -> World:
        """See ``WorldSource.snapshot``."""
        return self.cell.snapshot()

    def world_T_base(self) -> Pose:
        """Return the present pose of the arm's base; the scene gives that of the robot's root link."""
        base = self.spec.base_link
        poses = link_poses(self.cell.robot, self.cell.snapshot().joints.position, (base,))
        return self.cell.scene.world_T_base @ poses[base]

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: The planning problem.
            should_stop: Turns true when the result is no longer wanted.
        """
        world = self.snapshot()
        self.engine.update_world(world)
        asked = replace(request, scene=self._placed(request.scene), budget_s=MORE_TIME * request.budget_s)
        result = self.limits.kept(self.engine.plan(asked, should_stop), request.arm, asked.scene, world)
        return replace(result, planning_time_s=0.0)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: The candidates.
            should_stop: Turns true when the result is no longer wanted.
        """
        self.engine.update_world(self.snapshot())
        scenes = tuple(self._placed(scene) for scene in request.scenes or (SceneQuery(),))
        asked = replace(request, scenes=scenes, budget_s=MORE_TIME * request.budget_s)
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
        world, placed = self.snapshot(), self._placed(scene)
        self.engine.update_world(world)
        verdict = self.engine.validate(arm, trajectory, placed, self.cell.sim.measured(arm))
        return self.limits.judged(verdict, arm, trajectory, placed, world)

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
        world, placed = self.snapshot(), self._placed(scene)
        self.engine.update_world(world)
        verdict = self.engine.validate(arm, trajectory, placed, self.cell.sim.measured(arm), rest)
        if rest.from_s <= 0.0:  # of a motion under way the load was judged before it began
            verdict = self.limits.judged(verdict, arm, trajectory, placed, world)
        return verdict

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

    def _placed(self, scene: SceneQuery) -> SceneQuery:
        """Return a scene in which a mobile base is where it is measured, as the planner's node completes it."""
        base = self.cell.robot.base
        if base is None:
            return scene
        joints, named = self.cell.snapshot().joints.position, dict(scene.gripper_m)
        measured = (
            (name, round(joints[name], BASE_DIGITS)) for name in base.joint_names if name not in named
        )
        return replace(scene, gripper_m=(*scene.gripper_m, *measured))

    def _admittance(self) -> AdmittanceRule | None:
        return self.cell.sim.arms[self.spec.name].controller.admittance
