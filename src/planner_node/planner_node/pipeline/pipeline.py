"""The steps between a checked message and the engine: the newest world, the request checks, the engine call."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    Capability,
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
from handiwork_core.intake.robot_watchdog import SILENCE_S
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.voxels.voxel_map import UNMODELLED
from handiwork_planning.dynamics.planned_limits import PlannedLimits

from .planning_scene import PlanningScene
from .request_checks import (
    RequestRefused,
    check_capabilities,
    check_newness,
    check_others,
    check_scene,
    check_world,
    ordered_q,
)

R = TypeVar("R")


@dataclass(frozen=True)
class WorldReaders:
    """The functions by which the pipeline reads the received world; each may raise an exception with an ``outcome``.

    Attributes:
        snapshot: Returns the newest world.
        has_geometry: Returns whether ``world/objects`` was received.
        joint_age_s: Returns the age of the newest valid ``joint_states``, s.
        joint_silence: Returns the reason why ``joint_states`` are missing.
        conflict: Returns the error when two publishers send what only one may, else None.
    """

    snapshot: Callable[[], World]
    has_geometry: Callable[[], bool]
    joint_age_s: Callable[[], float]
    joint_silence: Callable[[], str] = lambda: "joint_states is silent; start the robot or simulation"
    conflict: Callable[[], Outcome | None] = lambda: None


class PlanningPipeline:
    """Serves checked requests. Its methods run on the engine's thread.

    They raise ``RequestRefused`` for invalid requests.

    Args:
        robot: The robot.
        engine: The engine.
        table: The planner's own scene.
        readers: Functions that read the received world.
        world_T_root: Pose of the robot's root link, which a mobile base does not move, for the direction of gravity.
        tool_speed: Speed of a tool centre point at which the safety layer stops a motion, m/s; inf for none.
    """

    def __init__(
        self,
        robot: Robot,
        engine: Engine,
        table: PlanningScene,
        readers: WorldReaders,
        world_T_root: Pose,
        tool_speed: float = math.inf,
    ) -> None:
        self.robot, self.engine, self.table = robot, engine, table
        self.readers = readers
        self.limits = PlannedLimits(robot, world_T_root, tool_speed)

    def plan(
        self, request: PlanRequest, min_version: int, deadline_s: float, should_stop: ShouldStop
    ) -> PlanResult:
        """Plan a motion in the newest world.

        Args:
            request: The request. An empty ``start_q`` means the measured joints.
            min_version: Oldest version of the world that may be used.
            deadline_s: End of the request's time by the steady clock, s.
            should_stop: Returns True when planning must end.

        Returns:
            The engine's result with the version of the world; a motion faster than ``tool_speed`` takes more time.

        Raises:
            Refused: The request does not fit the world, the robot or the engine, or its time is used up.
        """
        world = self._world(min_version)
        ready = dataclasses.replace(self.ready(request, world), budget_s=_left(deadline_s))
        return self.finished(ready, self.engine.plan(ready, should_stop), world)

    def ready(self, request: PlanRequest, world: World) -> PlanRequest:
        """Return a request with all that the engine needs. Any thread may call this.

        Args:
            request: The request. An empty ``start_q`` means the measured joints.
            world: The world that it is planned in.

        Returns:
            The request with its start, and its scene with the attached objects and the joints that stand still.

        Raises:
            Refused: The request does not fit the world, the robot or the engine.
        """
        scene = self._scene(request.arm, request.scene, world)
        start_q = request.start_q if request.start_q.size else self.measured_q(self.robot.arm(request.arm))
        request = dataclasses.replace(request, scene=scene, start_q=start_q)
        check_capabilities(self.engine.name, self.engine.capabilities, request)
        return request

    def finished(self, request: PlanRequest, result: PlanResult, world: World) -> PlanResult:
        """Return an engine's result as it is answered.

        Args:
            request: The request.
            result: The engine's result.
            world: The world that it was planned in.

        Returns:
            The result with the world's version and the seed. A motion faster than ``tool_speed``, or than the joints'
            efforts allow with what the arm holds, takes more time; one with too heavy a load is PLAN_FAILED.
        """
        result = dataclasses.replace(result, world_version=world.version, seed=request.seed)
        return self.limits.kept(result, request.arm, request.scene, world)

    def check_candidates(
        self, request: CandidatesRequest, min_version: int, deadline_s: float, should_stop: ShouldStop
    ) -> CandidatesResult:
        """Judge candidates in the newest world; see ``Engine.check_candidates``.

        Args:
            request: The request. An empty ``start_q`` means the measured joints.
            min_version: Oldest version of the world that may be used.
            deadline_s: End of the request's time by the steady clock, s.
            should_stop: Returns True when the engine must end.

        Returns:
            The engine's result with the version of the world.

        Raises:
            Refused: The request does not fit the world or the robot, or its time is used up.
        """
        world = self._world(min_version)
        scenes = tuple(self._scene(request.arm, s, world) for s in request.scenes)
        start_q = request.start_q if request.start_q.size else self.measured_q(self.robot.arm(request.arm))
        request = dataclasses.replace(request, scenes=scenes, start_q=start_q, budget_s=_left(deadline_s))
        return dataclasses.replace(
            self.engine.check_candidates(request, should_stop), world_version=world.version
        )

    def solve_ik(self, request: IkRequest, min_version: int, should_stop: ShouldStop) -> IkResult:
        """Solve inverse kinematics in the newest world; see ``Engine.solve_ik``.

        Args:
            request: The request. An empty ``seed_q`` means the measured joints.
            min_version: Oldest version of the world that may be used.
            should_stop: Returns True when the engine must end.

        Returns:
            The engine's result.

        Raises:
            Refused: The request does not fit the world or the robot.
        """
        _world, scene = self._read(request.arm, request.scene, min_version)
        seed_q = request.seed_q if request.seed_q.size else self.measured_q(self.robot.arm(request.arm))
        return self.engine.solve_ik(dataclasses.replace(request, scene=scene, seed_q=seed_q), should_stop)

    def explain(self, arm: ArmSpec, q: Array, scene: SceneQuery, min_version: int) -> tuple[Verdict, int]:
        """Judge one configuration in the newest world.

        Args:
            arm: The arm.
            q: Joint positions, (dof,), rad or m; empty for the measured ones.
            scene: The request's scene.
            min_version: Oldest version of the world that may be used.

        Returns:
            The verdict, and the version of the world.

        Raises:
            Refused: The request does not fit the world or the robot.
        """
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
        """Judge a trajectory in the newest world.

        Args:
            arm: The arm.
            trajectory: The trajectory; its joints may come in any order.
            scene: The request's scene.
            start_q: Joint positions at the start, (dof,), rad or m; empty: the measured ones. Unused with ``rest``.
            min_version: Oldest version of the world that may be used.
            rest: The part of a motion under way that is judged again; None judges the whole trajectory.

        Returns:
            The verdict, and the version of the world.

        Raises:
            Refused: The request does not fit the world or the robot.
        """
        if rest is not None:
            return self._validate_rest(arm, trajectory, scene, rest, min_version)
        world, query = self._read(arm.name, scene, min_version)
        start_q = start_q if start_q.size else self.measured_q(arm)
        trajectory = _in_order(trajectory, arm)
        verdict = self.engine.validate(arm.name, trajectory, query, start_q)
        return self.limits.judged(verdict, arm.name, trajectory, query, world), world.version

    def _validate_rest(
        self, arm: ArmSpec, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, min_version: int
    ) -> tuple[Verdict, int]:
        check_newness(self.readers.snapshot(), rest)
        world, query = self._read(arm.name, scene, min_version)
        if rest.changed:  # the planner's own obstacles may be new to the client
            rest = dataclasses.replace(rest, changed=rest.changed | self.table.names())
        trajectory = _in_order(trajectory, arm)
        verdict = self.engine.validate(arm.name, trajectory, query, np.zeros(0), rest)
        if rest.from_s <= 0.0:  # of a motion under way the load was judged before it began
            verdict = self.limits.judged(verdict, arm.name, trajectory, query, world)
        return verdict, world.version

    def measured_q(self, arm: ArmSpec) -> Array:
        """Return the newest measured joint positions.

        Args:
            arm: The arm.

        Returns:
            Joint positions in the arm's order, (dof,), rad or m.

        Raises:
            Refused: ROBOT_LOST when they are older than SILENCE_S; BAD_GOAL when a joint is missing.
        """
        joints: JointState = self.readers.snapshot().joints
        age_s = self.readers.joint_age_s()
        if age_s > SILENCE_S:
            text = f"no good joint_states for {age_s:.1f} s: {self.readers.joint_silence()}, or send options.start"
            raise RequestRefused(Code.ROBOT_LOST, text, "options.start")
        return ordered_q(joints.position, arm, "joint_states")

    def _read(self, arm: str, scene: SceneQuery, min_version: int) -> tuple[World, SceneQuery]:
        world = self._world(min_version)
        return world, self._scene(arm, scene, world)

    def _world(self, min_version: int) -> World:
        world = self.newest_world(min_version)
        self.engine.update_world(world)
        return world

    def newest_world(self, min_version: int) -> World:
        """Return the received world with the planner's own obstacles. Any thread may call this.

        Args:
            min_version: Oldest version that may be used.

        Raises:
            Refused: No geometry was received, two publishers send it, it is too old, or the engine cannot read it.
        """
        if not self.readers.has_geometry():
            raise RequestRefused(
                Code.STALE_WORLD, "world/objects was never received; start the simulation or the perception"
            )
        if (conflict := self.readers.conflict()) is not None:
            raise RequestRefused(conflict.code, conflict.message)
        world = self.table.merged(self.readers.snapshot())
        check_world(world, min_version)
        sees = Capability.VOXELS in self.engine.capabilities
        if not sees and world.voxels is not None and world.voxels.occupied.any():
            text = (
                f"world/unmodelled has obstacles, and engine {self.engine.name!r} cannot keep clear of such"
            )
            raise RequestRefused(Code.UNSUPPORTED, f"{text}; start with engine:=cpu")
        return world

    def _scene(self, arm: str, scene: SceneQuery, world: World) -> SceneQuery:
        query, spec = self.table.query(scene), self.robot.arm(arm)
        check_scene(query, world, self.robot)
        check_others(query, world, self.robot, spec)
        if world.voxels is None and any(UNMODELLED in pair for pair in query.allowed):
            query = dataclasses.replace(
                query, allowed=frozenset(pair for pair in query.allowed if UNMODELLED not in pair)
            )
        return dataclasses.replace(query, gripper_m=(*query.gripper_m, *self._standing(query, spec)))

    def _standing(self, scene: SceneQuery, arm: ArmSpec) -> Iterator[tuple[str, float]]:
        """Yield the measured joints that the arm and its gripper do not move and the request does not name."""
        named = {*arm.joint_names, *(name for name, _ in scene.gripper_m)}
        if arm.gripper is not None:
            named.add(arm.gripper.joint)
        for name, value in self.readers.snapshot().joints.position.items():
            joint = self.robot.joints.get(name)
            if joint is not None and joint.mimic is None and name not in named:
                # Rounded, so that the noise of a joint at rest does not look like another robot.
                yield name, round(value, 4)


def _left(deadline_s: float) -> float:
    left_s = deadline_s - time.monotonic()
    if left_s <= 0.0:
        text = "options.allowed_planning_time was used up while waiting for earlier requests; ask again or send more"
        raise RequestRefused(Code.PLAN_BUDGET, text, "options.allowed_planning_time")
    return left_s


def _in_order(trajectory: Trajectory, arm: ArmSpec) -> Trajectory:
    if sorted(trajectory.joint_names) != sorted(arm.joint_names):
        names, wanted = list(trajectory.joint_names), list(arm.joint_names)
        text = f"trajectory.joint_names are {names}; arm {arm.name!r} has {wanted}"
        raise RequestRefused(Code.BAD_GOAL, text, "trajectory.joint_names")
    order = np.array([trajectory.joint_names.index(name) for name in arm.joint_names])
    columns = (trajectory.q[:, order], trajectory.qd[:, order], trajectory.qdd[:, order])
    return Trajectory(arm.joint_names, trajectory.t_s, *columns)
