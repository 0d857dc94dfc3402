"""What was heard and done while a backend was checked, as values. Knows no ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import Contact, ObjectState, WorldObject


@dataclass(frozen=True, slots=True)
class Publisher:
    """Who offers a topic, and how."""

    node: str
    type: str
    is_reliable: bool = True
    is_latched: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """One message: when it came [s, steady], and what time it says it is of [s]."""

    heard_s: float
    stamp_s: float


@dataclass(frozen=True, slots=True)
class JointSample:
    """One ``joint_states`` as it came; arrays may have any length."""

    heard_s: float
    stamp_s: float
    names: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]

    def of(self, joint: str) -> float | None:
        """Position of a joint, None when it is not there."""
        found = dict(zip(self.names, self.position, strict=False))
        return found.get(joint)

    def speed_of(self, joint: str) -> float:
        """Velocity of a joint, 0 when it is not there."""
        found = dict(zip(self.names, self.velocity, strict=False))
        return found.get(joint, 0.0)


@dataclass(frozen=True, slots=True)
class FrameMessage:
    """One message on ``/tf`` or ``/tf_static``: its number among its writer's, and its edges, parent and child."""

    is_static: bool
    number: int
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """All that listening gave. Keys of topics, services and actions are full names; those values are types."""

    publishers: Mapping[str, tuple[Publisher, ...]] = field(default_factory=dict)
    services: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=dict)
    heard: Mapping[str, tuple[Heard, ...]] = field(default_factory=dict)
    joints: tuple[JointSample, ...] = ()
    frames: tuple[FrameMessage, ...] = ()
    objects: Mapping[str, WorldObject] = field(default_factory=dict)
    states: Mapping[str, ObjectState] = field(default_factory=dict)
    contacts: tuple[tuple[Contact, ...], ...] = ()
    """The lists of several messages."""
    system_s: float = 0.0
    """The wall clock of this machine [s since 1970]."""


@dataclass(frozen=True, slots=True)
class ArmMotion:
    """One motion of an arm: by how much each joint was told to move [rad or m], and what was heard meanwhile."""

    arm: str
    asked: Mapping[str, float]
    samples: tuple[JointSample, ...]
    fault: str = ""
    """Why the action did not succeed; empty when it did."""


@dataclass(frozen=True, slots=True)
class GripperMotion:
    """One command of a gripper: positions of its joint [m or rad] before and after, and what its action said.

    ``object_m``: the width of what was between the fingers; 0 for nothing.
    """

    gripper: str
    target: float
    before: float
    after: float
    reached: bool
    stalled: bool
    fault: str = ""
    object_m: float = 0.0


@dataclass(frozen=True, slots=True)
class SuctionTrial:
    """One switching of a cup, and the state a moment later; ``object``: what was put before it, empty for nothing."""

    gripper: str
    on: bool
    object: str
    state: SuctionState | None
