"""Between a checked message and the engine: the newest world, the request checks, the engine call."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    Engine,
    IkRequest,
    IkResult,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import ArmSpec, Robot

from .planning_scene import PlanningScene
from .request_checks import (
    Refused,
    check_capabilities,
    check_newness,
    check_others,
    check_scene,
    check_world,
    ordered_q,
)

R = TypeVar("R")

MAX_JOINT_AGE_S = 1.0


@dataclass(frozen=True)
class Heard:
    """What the pipeline reads of the world outside; each may raise an exception with an ``outcome``."""

    snapshot: Callable[[], World]
    has_geometry: Callable[[], bool]
    joint_age_s: Callable[[], float]
    joint_silence: Callable[[], str] = lambda: "joint_states is silent; start the robot or simulation"
    conflict: Callable[[], Outcome | None] = lambda: None
    """That two publishers send what only one may."""


class PlanningPipeline:
    """Its methods are called on the engine's thread. They raise ``Refused`` for what no engine should see."""

    def __init__(self, robot: Robot, engine: Engine, table: PlanningScene, heard: Heard) -> None:
        self.robot, self.engine, self.table = robot, engine, table
        self.heard = heard

    def plan(
        self, request: PlanRequest, min_version: int, deadline_s: float, should_stop: ShouldStop
    ) -> PlanResult:
        """``request.start_q`` may be empty: measured joints; ``deadline_s`` is steady time."""
        world, scene = self._read(request.arm, request.scene, min_version)
        start_q = request.start_q if request.start_q.size else self.measured_q(self.robot.arm(request.arm))
        budget_s = _left(deadline_s)
        request = dataclasses.replace(request, scene=scene, start_q=start_q, budget_s=budget_s)
        check_capabilities(self.engine.name, self.engine.capabilities, request)
        result = self.engine.plan(request, should_stop)
        return dataclasses.replace(result, world_version=world.version, seed=request.seed)

    def check_candidates(
        self, request: CandidatesRequest, min_version: int, deadline_s: float, should_stop: ShouldStop
    ) -> CandidatesResult:
        """See ``Engine.check_candidates``."""
        world = self._world(min_version)
        scenes = tuple(self._scene(request.arm, s, world) for s in request.scenes)
        start_q = request.start_q if request.start_q.size else self.measured_q(self.robot.arm(request.arm))
        request = dataclasses.replace(request, scenes=scenes, start_q=start_q, budget_s=_left(deadline_s))
        return dataclasses.replace(
            self.engine.check_candidates(request, should_stop), world_version=world.version
        )

    def solve_ik(self, request: IkRequest, min_version: int, should_stop: ShouldStop) -> IkResult:
        """An empty ``seed_q`` is the measured configuration."""
        _world, scene = self._read(request.arm, request.scene, min_version)
        seed_q = request.seed_q if request.seed_q.size else self.measured_q(self.robot.arm(request.arm))
        return self.engine.solve_ik(dataclasses.replace(request, scene=scene, seed_q=seed_q), should_stop)

    def explain(self, arm: ArmSpec, q: Array, scene: SceneQuery, min_version: int) -> tuple[Verdict, int]:
        """Verdict and world version; an empty ``q`` is the measured configuration."""
        world, query = self._read(arm.name, scene, min_version)
        return self.engine.explain(arm.name, q if q.size else self.measured_q(arm), query), world.version

    def validate(
        self,
        arm: ArmSpec,
        trajectory: Trajectory,
        scene: SceneQuery,
        start_q: Array,
        min_version: int,
        rest: PathRest | None = None,
    ) -> tuple[Verdict, int]:
        """Verdict and world version; columns may come in any order."""
        if rest is not None:
            return self._validate_rest(arm, trajectory, scene, rest, min_version)
        world, query = self._read(arm.name, scene, min_version)
        start_q = start_q if start_q.size else self.measured_q(arm)
        return self.engine.validate(arm.name, _in_order(trajectory, arm), query, start_q), world.version

    def _validate_rest(
        self, arm: ArmSpec, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, min_version: int
    ) -> tuple[Verdict, int]:
        check_newness(self.heard.snapshot(), rest)
        world, query = self._read(arm.name, scene, min_version)
        if rest.changed:  # the planner's own obstacles may be new to the client
            rest = dataclasses.replace(rest, changed=rest.changed | self.table.names())
        nowhere = np.zeros(0)
        return self.engine.validate(arm.name, _in_order(trajectory, arm), query, nowhere, rest), world.version

    def measured_q(self, arm: ArmSpec) -> Array:
        """The newest joint_states (dof,) [rad]."""
        joints: JointState = self.heard.snapshot().joints
        age_s = self.heard.joint_age_s()
        if age_s > MAX_JOINT_AGE_S:
            text = (
                f"no good joint_states for {age_s:.1f} s: {self.heard.joint_silence()}, or send options.start"
            )
            raise Refused(Code.ROBOT_LOST, text, "options.start")
        return ordered_q(joints.position, arm, "joint_states")

    def _read(self, arm: str, scene: SceneQuery, min_version: int) -> tuple[World, SceneQuery]:
        world = self._world(min_version)
        return world, self._scene(arm, scene, world)

    def _world(self, min_version: int) -> World:
        if not self.heard.has_geometry():
            raise Refused(
                Code.STALE_WORLD, "world/objects was never received; start the simulation or the perception"
            )
        if (conflict := self.heard.conflict()) is not None:
            raise Refused(conflict.code, conflict.message)
        world = self.table.merged(self.heard.snapshot())
        check_world(world, min_version)
        self.engine.update_world(world)
        return world

    def _scene(self, arm: str, scene: SceneQuery, world: World) -> SceneQuery:
        query, spec = self.table.query(scene), self.robot.arm(arm)
        check_scene(query, world, self.robot)
        check_others(query, world, self.robot, spec)
        return dataclasses.replace(query, gripper_m=(*query.gripper_m, *self._standing(query, spec)))

    def _standing(self, scene: SceneQuery, arm: ArmSpec) -> Iterator[tuple[str, float]]:
        """Measured joints that the arm and its gripper do not move and the request does not name."""
        named = {*arm.joint_names, *(name for name, _ in scene.gripper_m)}
        if arm.gripper is not None:
            named.add(arm.gripper.joint)
        for name, value in self.heard.snapshot().joints.position.items():
            joint = self.robot.joints.get(name)
            if joint is not None and joint.mimic is None and name not in named:
                # Rounded, so that the noise of a joint at rest does not look like another robot.
                yield name, round(value, 4)


def _left(deadline_s: float) -> float:
    left_s = deadline_s - time.monotonic()
    if left_s <= 0.0:
        text = "options.allowed_planning_time was used up while waiting for earlier requests; ask again or send more"
        raise Refused(Code.PLAN_BUDGET, text, "options.allowed_planning_time")
    return left_s


def _in_order(trajectory: Trajectory, arm: ArmSpec) -> Trajectory:
    if sorted(trajectory.joint_names) != sorted(arm.joint_names):
        names, wanted = list(trajectory.joint_names), list(arm.joint_names)
        text = f"trajectory.joint_names are {names}; arm {arm.name!r} has {wanted}"
        raise Refused(Code.BAD_GOAL, text, "trajectory.joint_names")
    order = np.array([trajectory.joint_names.index(name) for name in arm.joint_names])
    columns = (trajectory.q[:, order], trajectory.qd[:, order], trajectory.qdd[:, order])
    return Trajectory(arm.joint_names, trajectory.t_s, *columns)
