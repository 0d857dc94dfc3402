"""The messages received and the motions made during the check of a backend, as values. Imports no ROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import Contact, ObjectState, WorldObject


@dataclass(frozen=True, slots=True)
class Publisher:
    """A publisher of a topic: its node, type and QoS."""

    node: str
    type: str
    is_reliable: bool = True
    is_latched: bool = False


@dataclass(frozen=True, slots=True)
class Received:
    """The times of one message.

    Attributes:
        received_s: Time of arrival, s, steady.
        stamp_s: Its own stamp, s.
    """

    received_s: float
    stamp_s: float


@dataclass(frozen=True, slots=True)
class JointSample:
    """One ``joint_states`` as received; arrays may have any length.

    Attributes:
        received_s: Time of arrival, s, steady.
        stamp_s: Its own stamp, s.
        names: Names of joints.
        position: rad or m.
        velocity: rad/s or m/s.
    """

    received_s: float
    stamp_s: float
    names: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]

    def of(self, joint: str) -> float | None:
        """Return the position of a joint, rad or m; None when it is not there.

        Args:
            joint: Name of the joint.
        """
        found = dict(zip(self.names, self.position, strict=False))
        return found.get(joint)

    def speed_of(self, joint: str) -> float:
        """Return the velocity of a joint, rad/s or m/s; 0 when it is not there.

        Args:
            joint: Name of the joint.
        """
        found = dict(zip(self.names, self.velocity, strict=False))
        return found.get(joint, 0.0)


def joined(samples: Sequence[JointSample]) -> JointSample:
    """Return the newest messages of publishers of different joints as one, with the stamps of the newest.

    Args:
        samples: Messages in the order of arrival, at least one.
    """
    newest = {sample.names: sample for sample in samples}
    parts = sorted(newest.values(), key=lambda sample: sample.received_s)
    return replace(
        parts[-1],
        names=tuple(name for part in parts for name in part.names),
        position=tuple(value for part in parts for value in part.position),
        velocity=tuple(value for part in parts for value in part.velocity),
    )


@dataclass(frozen=True, slots=True)
class FrameMessage:
    """One message on ``/tf`` or ``/tf_static``.

    Attributes:
        is_static: It is of ``/tf_static``.
        number: Its number among its writer's.
        edges: Parent and child of each transform.
    """

    is_static: bool
    number: int
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """All that the subscriptions received. Keys of topics, services and actions are full names.

    Attributes:
        publishers: Publishers of each topic.
        services: Type of each service.
        actions: Type of each action.
        received: Times of the messages of each topic.
        joints: All ``joint_states``.
        frames: All messages with transforms.
        objects: The objects of the world by name.
        states: Their states by name.
        contacts: The lists of several messages.
        system_s: The wall clock of this machine, s since 1970.
    """

    publishers: Mapping[str, tuple[Publisher, ...]] = field(default_factory=dict)
    services: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=dict)
    received: Mapping[str, tuple[Received, ...]] = field(default_factory=dict)
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
    """One motion of an arm.

    Attributes:
        arm: Name of the arm.
        asked: Commanded move of each joint, rad or m.
        samples: ``joint_states`` during the motion.
        fault: Why the action did not succeed; empty when it did.
    """

    arm: str
    asked: Mapping[str, float]
    samples: tuple[JointSample, ...]
    fault: str = ""
    """The reason why the action did not succeed; empty when it did."""


@dataclass(frozen=True, slots=True)
class GripperMotion:
    """One command of a gripper.

    Attributes:
        gripper: Name of the gripper.
        target: Commanded position of its joint, m or rad.
        before: Its position before, m or rad.
        after: Its position after, m or rad.
        reached: The action's ``reached_goal``.
        stalled: The action's ``stalled``.
        fault: Why the action gave no result; empty when it did.
        object_m: Width of the object between the fingers, m; 0 without one.
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
    """One switching of a cup.

    Attributes:
        gripper: Name of the cup.
        on: The command.
        object: Name of the object before the cup; empty without one.
        state: The state a moment later; None without one.
    """

    gripper: str
    on: bool
    object: str
    state: SuctionState | None
