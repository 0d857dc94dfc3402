"""The planning contract: what a client asks, what an engine answers, and the base class of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
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
Report = Callable[[float, str], None]
"""Progress in 0..1 and what is being done."""


@dataclass(frozen=True, slots=True, eq=False)
class Attachment:
    """An object held by a robot link: it moves with the link and is no obstacle."""

    object: str
    link: str
    link_T_object: Pose


@dataclass(frozen=True, slots=True, eq=False)
class OtherArm:
    """Another arm of the robot, an obstacle with what it holds wherever it is on its way.

    ``q``: (k, dof) [rad], the way by rows, straight between them and first where the arm is now; no row: as if the arm
    were not there. ``gripper_m``: as in ``SceneQuery``; its fingers are obstacles there and fully open.
    """

    arm: str
    q: Array
    attached: tuple[Attachment, ...] = ()
    gripper_m: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class SceneQuery:
    """How the world is to be read for one request.

    ``ignored``: exact object names that are no obstacle; ``allowed``: pairs that may touch; ``gripper_m``:
    position of each gripper joint by name [m or rad], for joints not named the robot's home value holds. It may name
    any joint that the arm does not move. ``others``: arms that move or stand elsewhere than these joints say.
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
    """Move the EE from where it is to ``world_T_ee`` along a straight line, turning evenly; deviation is bounded."""

    world_T_ee: Pose
    max_deviation_m: float = 0.002


Goal = PoseGoals | JointGoals | StraightGoal


@dataclass(frozen=True, slots=True, eq=False)
class PlanRequest:
    """One planning problem.

    ``start_q``: (dof,) [rad]; ``hold_vec_weight``: (ang x, y, z, lin x, y, z) weights of base-frame
    components that must keep their start value, 0 is free, None is no constraint; ``budget_s`` is steady
    time.
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
    """``trajectory`` is present exactly when ``code`` is OK."""

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
    """EE poses in order: the first is reached freely, each later one along a straight line from the one before."""

    world_T_ee: tuple[Pose, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CandidatesRequest:
    """Which of many candidates can be done from ``start_q`` (dof,), without planning the free part.

    ``scene`` may differ per waypoint (a target object is ignored only while it is grasped): one entry for
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
    """``q``: (n_waypoints, dof) when OK, else empty; ``cost``: sum of joint moves [rad], the first from the start."""

    code: Code
    q: Array
    cost: float = float("inf")
    blocking: BodyPair | None = None


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
    """Configurations for EE poses; a solution is within limits and, if asked, free of collision."""

    arm: str
    world_T_ee: tuple[Pose, ...]
    seed_q: Array
    scene: SceneQuery = field(default_factory=SceneQuery)
    avoid_collision: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class IkResult:
    """``q``: (n, dof), rows of nan where not found; errors (n,) of the best try [m, rad]."""

    codes: tuple[Code, ...]
    q: Array
    position_error_m: Array
    angle_error_rad: Array
    planning_time_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """Why a configuration or path is good or bad. ``clearance_m`` < 0 is penetration; ``at`` is the path index."""

    code: Code
    message: str = ""
    blocking: BodyPair | None = None
    clearance_m: float = float("nan")
    at: int = -1


@dataclass(frozen=True, slots=True)
class PathRest:
    """What is left of a motion that is under way, to be judged again because the world has changed.

    Attributes:
        from_s: Time on the trajectory that the arm has reached [s].
        changed: Objects that are new, have other shapes or moved since the motion was judged; only they can be in the
            way now. Empty: judge against everything.
        objects_version: Oldest geometry that may judge, by its version.
        states_stamp_s: Oldest poses that may judge, by their stamp [s].
    """

    from_s: float
    changed: frozenset[str] = frozenset()
    objects_version: int = 0
    states_stamp_s: float = 0.0


class Capability(Enum):
    """What an engine can honour. A request outside it is refused by name before the engine is called."""

    POSE_GOALS = "pose_goals"
    JOINT_GOALS = "joint_goals"
    STRAIGHT = "straight"
    HOLD_VEC_WEIGHT = "hold_vec_weight"
    ATTACHED = "attached"
    OTHER_ARMS = "other_arms"


class Engine(ABC):
    """A planning engine. One thread at a time calls it.

    Subclasses load and warm up in ``__init__`` (``report`` shows progress) so that no first call is slow.
    Heavy imports belong inside ``__init__``. Every method is deterministic for equal arguments and seed, and
    polls ``should_stop`` at least every 20 ms.
    """

    name: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]]

    @abstractmethod
    def __init__(self, robot: Robot, world_T_base: Pose, report: Report) -> None: ...

    @classmethod
    def why_not(cls) -> str:
        """Why this engine cannot run on this machine, in one clause; empty when it can. Imports nothing heavy."""
        return ""

    @abstractmethod
    def update_world(self, world: World) -> None:
        """Take a new snapshot: geometry when ``world.version`` changed, else poses. Fast; keeps attachments out."""

    @abstractmethod
    def plan(self, request: PlanRequest, should_stop: ShouldStop) -> PlanResult:
        """Find a trajectory, smooth, time-parameterised and re-checked, or say why not."""

    @abstractmethod
    def check_candidates(self, request: CandidatesRequest, should_stop: ShouldStop) -> CandidatesResult:
        """Judge every candidate."""

    @abstractmethod
    def solve_ik(self, request: IkRequest, should_stop: ShouldStop) -> IkResult:
        """Batch inverse kinematics."""

    @abstractmethod
    def explain(self, arm: str, q: Array, scene: SceneQuery) -> Verdict:
        """Judge one configuration (dof,) [rad]: limits first, then the deepest touching pair."""

    @abstractmethod
    def validate(
        self,
        arm: str,
        trajectory: Trajectory,
        scene: SceneQuery,
        start_q: Array,
        rest: PathRest | None = None,
    ) -> Verdict:
        """Judge a timed trajectory again, sampled at 5 mm and 0.01 rad or finer.

        What is judged: start, limits of position, velocity and acceleration, rest at both ends, collision. With
        ``rest`` only the collision of what is left with what has changed: the whole was judged before.
        """

    def close(self) -> None:  # noqa: B027 - most engines have nothing to free
        """Free what ``__init__`` took."""


NO_Q: Array = np.zeros((0, 0))
