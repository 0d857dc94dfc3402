"""All ports of a skill on a private simulation, without ROS: time advances during waits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import (
    CandidatesRequest,
    PathRest,
    PlanRequest,
    SceneQuery,
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
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.timing.tool_speed import ToolSpeedLimit
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from support.paths import ROOT

POLL_STEPS = 10
REST_S = 10.0
"""An arm that was stopped rests after this time at the latest, s."""
UNSUPERVISED = replace(SUPERVISED, is_on=False)
"""For contexts of this cell: checks have a thread of their own, this simulation has one only."""


class SimulatedCell:
    """All ports except for the planner's, on a simulation that advances during waits."""

    def __init__(self, robot: Robot, engine: Any, scene: str | Path, seed: int, arm: str = "") -> None:
        self.robot, self.engine, self.spec = robot, engine, robot.arm(arm)
        path = scene if isinstance(scene, Path) else ROOT / f"config/scenes/{scene}.yaml"
        self.scene = load_scene(path).randomized(seed)
        self.sim = Simulation(robot, self.scene)
        self.objects = {item.name: item.body for item in self.scene.objects}
        self.sim.advance(int(0.5 / CONTROL_S))

    def now_s(self) -> float:
        return self.sim.world.time_s

    def sleep(self, seconds: float, *, should_stop: Any) -> None:
        self.sim.advance(int(np.ceil(seconds / CONTROL_S)))

    def world_T_base(self) -> Pose:
        """Return the pose of the arm's base; the scene gives that of the robot's root link."""
        root_T_base = link_poses(self.robot, {}, (self.spec.base_link,))[self.spec.base_link]
        return self.scene.world_T_base @ root_T_base

    def snapshot(self) -> World:
        gripper = self.spec.gripper
        assert gripper is not None
        names = (*self.spec.joint_names, gripper.joint)
        indices, measured, now = self.sim.world.indices(names), self.sim.world.joints(), self.now_s()
        joints = JointState(
            now,
            dict(zip(names, measured.position[indices].tolist(), strict=True)),
            dict(zip(names, measured.velocity[indices].tolist(), strict=True)),
        )
        return World(
            now, 1, self.objects, self.sim.world.object_states(), self.sim.world.contacts(), now, joints
        )

    def plan(self, request: PlanRequest, *, should_stop: Any) -> Any:
        self.engine.update_world(self.snapshot())
        found = self.engine.plan(request, should_stop)
        if found.trajectory is None:
            return found
        # As the planner's node does; the limit is that of the simulation's safety layer.
        limit = ToolSpeedLimit(self.robot, self.sim.safety.config.tool_speed)
        return replace(found, trajectory=limit.kept(request.arm, found.trajectory))

    def check_candidates(self, request: CandidatesRequest, *, should_stop: Any) -> Any:
        self.engine.update_world(self.snapshot())
        return self.engine.check_candidates(request, should_stop)

    def validate(self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: Any) -> Any:
        self.engine.update_world(self.snapshot())  # the planner's node has the newest world as well
        return self.engine.validate(arm, trajectory, scene, self.sim.measured(arm))

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: Any
    ) -> Any:
        self.engine.update_world(self.snapshot())
        return self.engine.validate(arm, trajectory, scene, self.sim.measured(arm), rest)

    def follow(self, trajectory: Trajectory, *, should_stop: Any) -> Outcome:
        controller = self.sim.arms[self.spec.name].controller
        try:
            controller.start(TrajectoryGoal.of(trajectory), self.sim.measured(self.spec.name))
        except GoalRefused as refusal:
            return refusal.outcome
        stopped_s = np.inf
        # The goal's own end: an arm that yields to a wrench is busy also when its path is over.
        while controller.result is None:
            self.sim.advance(POLL_STEPS)
            if should_stop():
                controller.stop(Ending.CANCELED, "stopped")
                stopped_s = min(stopped_s, self.now_s())
            assert self.now_s() - stopped_s < REST_S, "the arm does not come to rest"
        result = controller.result
        if result.ending is Ending.CANCELED:
            return Outcome(Code.CANCELED, result.message)
        if result.code is ErrorCode.CONTACT:
            return Outcome(Code.CONTACT, result.message)
        return OK if result.ending.name == "SUCCEEDED" else Outcome(Code.PATH_TOLERANCE, str(result))

    def stop(self) -> Outcome:
        controller = self.sim.arms[self.spec.name].controller
        controller.hold(self.sim.measured(self.spec.name), "stopped")
        self.sim.advance(int(0.3 / CONTROL_S))
        return OK

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: Any) -> Outcome:
        assert self.spec.gripper is not None
        axis = self.sim.grippers[self.spec.gripper.name]
        here = float(self.sim.world.joints().position[axis.indices[0]])
        axis.controller.start(GripperGoal(self.spec.gripper.position(width_m), force_n), here)
        while axis.controller.busy:
            self.sim.advance(POLL_STEPS)
        return OK

    def set_admittance(self, settings: AdmittanceSettings, *, should_stop: Any) -> Outcome:
        rule = self.sim.arms[self.spec.name].controller.admittance
        assert rule is not None
        rule.set(settings)
        return OK

    def set_wrench(self, wrench: Array) -> None:
        rule = self.sim.arms[self.spec.name].controller.admittance
        assert rule is not None
        rule.wrench_reference = wrench

    def wrench(self) -> Array | None:
        return self.sim.wrench(self.spec.name)

    def context(self, seed: int) -> Context:
        """Return the context of a run with this seed, in which nothing is held."""
        rng = np.random.default_rng(seed)
        context = Context(self.robot, self.spec, self, self, self, self, self, Token(), rng, seed, {})
        context.supervision, context.compliance = UNSUPERVISED, self
        return context
