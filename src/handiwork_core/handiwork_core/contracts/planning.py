"""The planning contract: the requests of a client, the answers of an engine, and the base class of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot

ShouldStop = Callable[[], bool]


def never_stop() -> bool:
    """Return False: a ``ShouldStop`` for calls that run to their end."""
    return False


Report = Callable[[float, str], None]
"""Receives the progress, 0 to 1, and a description of the current step."""


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """An object held by a robot link: it moves with the link and is no obstacle."""

    object: str
    link: str
    link_T_object: Pose


@dataclass(frozen=True, slots=True, eq=False)
class OtherArm:
    """Another arm of the robot. It and the objects it holds are obstacles anywhere on its path.

    Attributes:
        arm: Its name.
        q: Its path by rows, (k, dof), rad, straight between them; the first row is the present configuration. Without
            rows the arm is left out of the scene.
        attached: The objects that it holds.
        gripper_m: As in ``SceneQuery``; its fingers are obstacles there and fully open.
        t_s: Times (k,) [s], rising, on the trajectory that is validated, at which it is at each row: both arms move in
            one motion. None: it may be anywhere on its path. Only ``validate`` uses them; plans avoid the whole path.
    """

    arm: str
    q: Array
    attached: tuple[Attachment, ...] = ()
    gripper_m: tuple[tuple[str, float], ...] = ()
    t_s: Array | None = None


@dataclass(frozen=True, slots=True)
class SceneQuery:
    """The interpretation of the world for one request.

    Attributes:
        ignored: Exact names of objects that are no obstacle.
        attached: Objects that the arm holds.
        allowed: Pairs of bodies that may touch.
        gripper_m: Position of each gripper joint by name, m or rad; other joints have the robot's home value. It may
            name any joint that the arm does not move.
        others: Arms that move, or are at other positions than these joints say.
    """

    ignored: frozenset[str] = frozenset()
    attached: tuple[Attachment, ...] = ()
    allowed: frozenset[BodyPair] = frozenset()
    gripper_m: tuple[tuple[str, float], ...] = ()
    others: tuple[OtherArm, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PoseGoals:
    """Reach any one of these EE poses."""

    world_T_ee: tuple[Pose, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JointGoals:
    """Reach any one of these configurations, (n, dof) [rad]."""

    q: Array


@dataclass(frozen=True, slots=True, eq=False)
class StraightGoal:
    """Move the EE from its pose to ``world_T_ee`` along a straight line, turning evenly; the deviation is bounded."""

    world_T_ee: Pose
    max_deviation_m: float = 0.002


@dataclass(frozen=True, slots=True, eq=False)
class PathGoal:
    """Move the EE from its pose through these poses without a stop: a curve that is given by many poses.

    Between two poses it moves on a straight line and turns evenly; the deviation from these lines is bounded.
    """

    world_T_ee: tuple[Pose, ...]
    max_deviation_m: float = 0.002


Goal = PoseGoals | JointGoals | StraightGoal | PathGoal


@dataclass(frozen=True, slots=True, eq=False)
class PlanRequest:
    """One planning problem.

    Attributes:
        arm: Name of the arm.
        start_q: Start configuration, (dof,), rad or m.
        goal: The goal.
        scene: The interpretation of the world.
        hold_vec_weight: Weights (ang x, y, z, lin x, y, z) of base-frame components that must keep their start value;
            0 is free, None is no constraint.
        budget_s: Longest planning time, s of steady time.
        velocity_scaling: Share of the velocity limits, (0, 1].
        acceleration_scaling: Share of the acceleration limits, (0, 1].
        seed: Seed of every random choice.
    """

    arm: str
    start_q: Array
    goal: Goal
    scene: SceneQuery = field(default_factory=SceneQuery)
    hold_vec_weight: tuple[float, ...] | None = None
    budget_s: float = 5.0
    velocity_scaling: float = 1.0
    acceleration_scaling: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PlanResult:
    """The answer to a ``PlanRequest``; ``trajectory`` is present exactly when ``code`` is OK."""

    code: Code
    message: str = ""
    trajectory: Trajectory | None = None
    goal_index: int = -1
    planning_time_s: float = 0.0
    blocking: BodyPair | None = None
    depth_m: float = float("nan")
    position_error_m: float = float("nan")
    angle_error_rad: float = float("nan")
    world_version: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """EE poses in order: the first is reached freely, each later one along a straight line from its predecessor."""

    world_T_ee: tuple[Pose, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CandidatesRequest:
    """A check of which candidates are feasible from ``start_q`` (dof,), without planning the free part.

    ``scenes`` may differ per waypoint (a target object is ignored only while it is grasped): one entry for
    all, or one each.
    """

    arm: str
    start_q: Array
    candidates: tuple[Candidate, ...]
    scenes: tuple[SceneQuery, ...]
    budget_s: float = 2.0
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class CandidateVerdict:
    """The verdict on one candidate.

    Attributes:
        code: OK, or the constraint that removed it.
        q: Configurations, (n_waypoints, dof), rad or m, when OK, else empty.
        cost: Sum of the joint moves, rad, the first from the start.
        blocking: The bodies that collide, if any.
        waypoint: Index of the waypoint that cannot be reached, or to which the way is blocked; -1 for none.
    """

    code: Code
    q: Array
    cost: float = float("inf")
    blocking: BodyPair | None = None
    waypoint: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class CandidatesResult:
    """One verdict per candidate, in order, and the time used."""

    code: Code
    message: str
    verdicts: tuple[CandidateVerdict, ...]
    planning_time_s: float = 0.0
    world_version: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class IkRequest:
    """A request for configurations of EE poses; a solution is within limits and, on request, free of collision.

    A ``PoseArray`` is the fastest sequence of many poses.
    """

    arm: str
    world_T_ee: Sequence[Pose]
    seed_q: Array
    scene: SceneQuery = field(default_factory=SceneQuery)
    avoid_collision: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class IkResult:
    """The answer to an ``IkRequest``.

    Attributes:
        codes: One code per pose.
        q: Configurations, (n, dof), rad or m; rows of nan where none was found.
        position_error_m: Error of the best attempt per pose, (n,), m.
        angle_error_rad: Error of the best attempt per pose, (n,), rad.
        planning_time_s: Time used, s.
    """

    codes: tuple[Code, ...]
    q: Array
    position_error_m: Array
    angle_error_rad: Array
    planning_time_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The verdict on a configuration or path.

    Attributes:
        code: OK, or the constraint that is violated.
        message: The reason in words.
        blocking: The bodies that collide, if any.
        clearance_m: Smallest distance, m; below 0 is penetration.
        at: Index on the path; -1 for none.
    """

    code: Code
    message: str = ""
    blocking: BodyPair | None = None
    clearance_m: float = float("nan")
    at: int = -1


@dataclass(frozen=True, slots=True)
class PathRest:
    """The rest of a motion that is under way, to be validated again because the world has changed.

    Attributes:
        from_s: Time on the trajectory that the arm has reached, s.
        changed: Objects that are new, have other shapes or moved since the last validation; only they can be in the
            way now. Empty: validate against everything.
        objects_version: Oldest version of the geometry that is new enough for the validation.
        states_stamp_s: Oldest stamp of poses that are new enough for the validation, s.
    """

    from_s: float
    changed: frozenset[str] = frozenset()
    objects_version: int = 0
    states_stamp_s: float = 0.0


class Capability(Enum):
    """A feature that an engine supports. A request that needs another one is refused before the engine is called."""

    POSE_GOALS = "pose_goals"
    JOINT_GOALS = "joint_goals"
    STRAIGHT = "straight"
    PATH = "path"
    HOLD_VEC_WEIGHT = "hold_vec_weight"
    ATTACHED = "attached"
    OTHER_ARMS = "other_arms"
    VOXELS = "voxels"


class Engine(ABC):
    """A planning engine. One thread at a time calls it.

    Subclasses load and warm up in ``__init__`` (``report`` shows progress) so that no first call is slow.
    Heavy imports belong inside ``__init__``. Every method is deterministic for equal arguments and seed, and
    polls ``should_stop`` at least every 20 ms.

    Args:
        robot: The robot.
        world_T_base: Pose of the robot's base.
        report: Receives the progress of the start.
    """

    name: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]]

    @abstractmethod
    def __init__(self, robot: Robot, world_T_base: Pose, report: Report) -> None: ...

    @classmethod
    def why_not(cls) -> str:
        """Return the reason why this engine cannot run on this machine, in one clause.

        It is empty if the engine can run. The method imports nothing heavy.
        """
        return ""

    @classmethod  # noqa: B027 - an engine without it loads in __init__
    def preload(cls, robot: Robot, report: Report) -> None:
        """Load what does not depend on the pose of the robot's base, which a node learns later; by default nothing.

        Args:
            robot: The robot.
            report: Receives the progress, 0 to 1, and a text.
        """

    @abstractmethod
    def update_world(self, world: World) -> None:
        """Take over a new snapshot: geometry when ``world.version`` changed, else poses. Fast; keeps attachments out.

        Args:
            world: The snapshot.
        """

    @abstractmethod
    def plan(self, request: PlanRequest, should_stop: ShouldStop) -> PlanResult:
        """Plan a smooth, time-parameterised trajectory and check it again.

        Args:
            request: The planning problem.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            The trajectory, or a code with the reason.
        """

    def plan_batch(self, requests: Sequence[PlanRequest], should_stop: ShouldStop) -> list[PlanResult]:
        """Plan many requests in the world of ``update_world``, by default one after the other.

        An engine that plans several at a time overrides this.

        Args:
            requests: The planning problems. The budget of each counts from the moment at which it is begun.
            should_stop: Turns true when the results are no longer wanted; what is not planned by then is CANCELED.

        Returns:
            One result per request, in order.
        """
        return [
            PlanResult(Code.CANCELED, "stopped before it was planned", seed=request.seed)
            if should_stop()
            else self.plan(request, should_stop)
            for request in requests
        ]

    @abstractmethod
    def check_candidates(self, request: CandidatesRequest, should_stop: ShouldStop) -> CandidatesResult:
        """Check every candidate of a request.

        Args:
            request: The candidates, with their scenes.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            One verdict per candidate, in order.
        """

    @abstractmethod
    def solve_ik(self, request: IkRequest, should_stop: ShouldStop) -> IkResult:
        """Solve a batch of inverse kinematics problems.

        Args:
            request: The EE poses.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            One configuration or code per pose.
        """

    @abstractmethod
    def explain(self, arm: str, q: Array, scene: SceneQuery) -> Verdict:
        """Check one configuration: limits first, then the pair of bodies that penetrates most.

        Args:
            arm: Name of the arm.
            q: Configuration, (dof,), rad or m.
            scene: The interpretation of the world.

        Returns:
            The verdict, with a message.
        """

    @abstractmethod
    def validate(
        self,
        arm: str,
        trajectory: Trajectory,
        scene: SceneQuery,
        start_q: Array,
        rest: PathRest | None = None,
    ) -> Verdict:
        """Check a timed trajectory again, sampled at 5 mm and 0.01 rad or finer.

        The check covers the start, the limits of position, velocity and acceleration, rest at both ends, and collision.
        With ``rest`` it covers only the collision of the remaining path with the objects that changed: the whole was
        checked before.

        Args:
            arm: Name of the arm.
            trajectory: The motion.
            scene: The interpretation of the world.
            start_q: Configuration from which the motion starts, (dof,), rad or m.
            rest: The part that remains of a motion under way; None: the whole.

        Returns:
            The verdict; ``at`` is the index of the first violation.
        """

    def close(self) -> None:  # noqa: B027 - most engines have nothing to free
        """Free the resources of ``__init__``."""


NO_Q: Array = np.zeros((0, 0))
