"""The command list: what a skill wants done, in order, as data that exists before anything moves.

Names of the functions are those of the SimBox format.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.trajectory import Trajectory


class Motion(Enum):
    """How the arm gets to a command's pose."""

    FREE = "free"
    STRAIGHT = "straight"


@dataclass(frozen=True, slots=True)
class UpdatePoseCostMetric:
    """Hold pose components in later plans; None frees all."""

    hold_vec_weight: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class UpdateSpecific:
    """Ignore exactly these objects as obstacles from now on."""

    ignored: frozenset[str]


@dataclass(frozen=True, slots=True)
class OpenGripper:
    """Open to a width [m]; None is the gripper's maximum."""

    width_m: float | None = None


@dataclass(frozen=True, slots=True)
class CloseGripper:
    """Close until the fingers stall."""


@dataclass(frozen=True, slots=True)
class AttachObject:
    """From now on the object moves with the EE link and is no obstacle."""

    object: str


@dataclass(frozen=True, slots=True)
class DetachObject:
    """The object is an obstacle again, where it was last seen."""

    object: str


@dataclass(frozen=True, slots=True, eq=False)
class DummyForward:
    """Go to joint positions (dof,) [rad] directly, without a planner; still validated before it is sent."""

    q: Array


@dataclass(frozen=True, slots=True, eq=False)
class AwaitObject:
    """Wait until a moving object is ``lead_s`` before ``world_p`` (3,), by its speed; at most ``timeout_s``."""

    object: str
    world_p: Array
    lead_s: float
    timeout_s: float


@dataclass(frozen=True, slots=True)
class ExpectJoint:
    """Go on only if the joint of a part is at ``position``, give or take ``within`` [m or rad]."""

    part: str
    position: float
    within: float


@dataclass(frozen=True, slots=True, eq=False)
class DriveBase:
    """Drive the mobile base straight to its joint positions ``q`` (3,), x, y [m] and yaw [rad].

    ``ignored``: objects that are no obstacle.
    """

    q: Array
    ignored: frozenset[str] = frozenset()


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
)


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """Be at ``world_T_ee`` (None: stay), then do ``function``, then wait ``dwell_s``.

    ``q`` (dof,): the configuration found for the pose when the candidate was chosen; a FREE move goes there,
    so that the straight moves behind it stay feasible. ``touching``: objects that may be touched during this
    move, and no longer. ``stage`` is what feedback and results call this part. ``planned``: a motion to ``q`` found
    when the candidate was chosen, taken if the arm still stands where it starts, and validated like any.
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
