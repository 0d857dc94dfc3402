"""The command list: the actions that a skill requests, in order, as data that exists before anything moves.

Names of the functions are those of the SimBox format.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.trajectory import Trajectory

if TYPE_CHECKING:
    from .skill import Context


class Motion(Enum):
    """The way in which the arm reaches a command's pose."""

    FREE = "free"
    STRAIGHT = "straight"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class UpdatePoseCostMetric:
    """Hold pose components in later plans.

    Attributes:
        hold_vec_weight: Weights as in ``PlanRequest``; None frees all components.
    """

    hold_vec_weight: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class UpdateSpecific:
    """Ignore exactly these objects as obstacles from now on."""

    ignored: frozenset[str]


@dataclass(frozen=True, slots=True)
class OpenGripper:
    """Open to a width, m; None is the gripper's maximum."""

    width_m: float | None = None


@dataclass(frozen=True, slots=True)
class CloseGripper:
    """Close until the fingers stall, with at most ``force_n`` [N] of a finger; 0 is the gripper's greatest."""

    force_n: float = 0.0


@dataclass(frozen=True, slots=True)
class AttachObject:
    """Let the object move with the EE link from now on; it is no obstacle."""

    object: str


@dataclass(frozen=True, slots=True)
class DetachObject:
    """Make the object an obstacle again, at the place where it was last measured."""

    object: str


@dataclass(frozen=True, slots=True, eq=False)
class DummyForward:
    """Go to joint positions ``q`` without a planner; the motion is validated before it is sent.

    Attributes:
        q: Joint positions, (dof,), rad or m.
        planned: The only motion that may be sent for a command with ``is_fixed``; other commands do not read it.
    """

    q: Array
    planned: Trajectory | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AwaitObject:
    """Wait until a moving object, by its speed, will reach a point in ``lead_s``.

    Attributes:
        object: Name of the object.
        world_p: The point in the world, (3,), m.
        lead_s: Time before the arrival, s.
        timeout_s: The longest wait, s.
    """

    object: str
    world_p: Array
    lead_s: float
    timeout_s: float


@dataclass(frozen=True, slots=True)
class ExpectJoint:
    """Go on only if the joint of an articulated part is near a position.

    Attributes:
        part: Name of the part.
        position: Expected joint position, m or rad.
        within: Largest deviation, m or rad.
    """

    part: str
    position: float
    within: float


@dataclass(frozen=True, slots=True, eq=False)
class DriveBase:
    """Drive the mobile base to its joint positions: straight, or as a differential one by a turn, a drive and a turn.

    Attributes:
        q: Joint positions, (3,): x and y in m, yaw in rad.
        ignored: Objects that are no obstacle.
    """

    q: Array
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class NavigateBase:
    """Let the navigation server drive the mobile base to its joint positions.

    Attributes:
        q: Joint positions, (3,): x and y in m, yaw in rad; the angle counts without full turns.
        timeout_s: The longest time, s.
        ignored: Objects that are no obstacle.
    """

    q: Array
    timeout_s: float
    ignored: frozenset[str] = frozenset()


class CommandFunction(ABC):
    """A function of a package's own. Extend it by a frozen dataclass with the data that it needs.

    The executor calls ``execute`` once the arm is at the command's pose, and then goes on. Motions of the arm belong
    into commands with a pose, which are planned, validated and supervised.

    Attributes:
        acts: The world is different afterwards: what the commands were chosen for must not have moved before, and no
            other candidate is tried after it. False for what only measures or waits.
        lets_go: What is held may leave the hand from now on.
        in_preview: True for one whose effect comes from the ports of its context alone, so that a preview can execute
            it on ports that move nothing.
    """

    acts: ClassVar[bool] = True
    lets_go: ClassVar[bool] = False
    in_preview: ClassVar[bool] = False

    @abstractmethod
    def execute(self, context: Context, stage: str) -> None:
        """Do it, and return once it is done. Runs on the arm's worker thread.

        Each wait must end when ``context.token`` is set: give ports ``context.token.is_set``, and call
        ``context.token.check`` behind them.

        Args:
            context: The ports and state of the run.
            stage: Stage of the command, for the outcome of a failure.

        Raises:
            StepFailed: It failed; the outcome says why. The arm is then stopped, and the goal ends with this outcome.
            Stopped: The token was set.
        """


Function = (
    UpdatePoseCostMetric
    | UpdateSpecific
    | OpenGripper
    | CloseGripper
    | AttachObject
    | DetachObject
    | DummyForward
    | AwaitObject
    | ExpectJoint
    | DriveBase
    | NavigateBase
    | CommandFunction
)
"""The functions that the executor knows, and those that packages of their own declare and execute."""


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One entry of the list: reach a pose, then do ``function``, then wait.

    Attributes:
        stage: Name of this part in feedback and results.
        function: The action at the pose.
        world_T_ee: The pose; None: stay.
        q: Configuration (dof,), rad or m, found for the pose when the candidate was chosen; a FREE move goes there,
            so that the straight moves behind it stay feasible.
        motion: The way in which the arm gets to the pose.
        touching: Objects that may be touched during this move, and no longer.
        dwell_s: Wait after ``function``, s.
        speed: Share of the full speed of the move.
        planned: A motion to ``q`` found when the candidate was chosen; it is used if the arm is still at its start,
            and validated like any other.
        path: Poses of the curve that a PATH motion follows without a stop, world_T_ee; the last one is the pose.
        is_fixed: True: no motion but ``planned``, and that of ``DummyForward``, is made for this command; without one
            the arm is there already.
        stop_force_n: Force on the tool that ends the move, N: the pose is then as far as it may go. 0: the move ends at
            the pose.
        tool_speed: Greatest speed of the hand on the move, m/s; 0: that of ``speed``.
    """

    stage: str
    function: Function
    world_T_ee: Pose | None = None
    q: Array | None = None
    motion: Motion = Motion.FREE
    touching: frozenset[str] = frozenset()
    dwell_s: float = 0.0
    speed: float = 1.0
    planned: Trajectory | None = None
    path: tuple[Pose, ...] = ()
    is_fixed: bool = False
    stop_force_n: float = 0.0
    tool_speed: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a force or a speed that no motion would keep.

        Raises:
            ValueError: A number is negative or not finite, or the force belongs to no straight motion.
        """
        for name in ("stop_force_n", "tool_speed"):
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise ValueError(f"stage {self.stage!r}: {name} is {value}; give 0 or more")
        if self.stop_force_n > 0.0 and (self.world_T_ee is None or self.motion is not Motion.STRAIGHT):
            text = "a force ends straight motions to a pose alone"
            raise ValueError(f"stage {self.stage!r}: stop_force_n is {self.stop_force_n:g}, and {text}")
