"""The QoS profiles of the contract, by the messages that they carry. Table: docs/explanation/architecture.md."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

from .silence_limits import SILENCE_S


def _profile(depth: int, *, latched: bool = False, reliable: bool = True) -> QoSProfile:
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


LATEST = _profile(1)
"""The profile of publishers of joint_states, world/object_states and world/contacts: only the newest message counts."""

LATCHED = _profile(1, latched=True)
"""robot_description, world/objects, conditions: late subscribers receive the newest message."""

STATUS = _profile(20)
"""handiwork/status."""


def _bond(depth: int) -> QoSProfile:
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
        liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
        liveliness_lease_duration=Duration(seconds=SILENCE_S),
    )


BOND = _bond(1)
"""handiwork/bond/<node>: only writing asserts the writer's liveliness; readers do not match writers that offer less."""

BOND_READER = _bond(50)
"""A subscriber keeps the newest messages of all writers together: another writer must not push out the true one's."""

EVENTS = _profile(100)
"""conditions/events."""

TF = _profile(100)
"""/tf."""

TF_STATIC = _profile(100, latched=True)
"""/tf_static: several publishers, each latched."""

CLOCK = _profile(1, reliable=False)
"""/clock."""

STREAM = _profile(1, reliable=False)
"""The profile of subscribers of streams, as REP-2003 defines it.

A lost message is not requested again, and publishers, reliable or not, need no acknowledgements.
"""

STREAM_FETCHED = _profile(8, reliable=False)
"""The profile of subscribers of streams that are polled: behind a bad message there is most likely a good one."""

CLOCK_PROBE = _profile(64, reliable=False)
"""The profile for /clock of a node that counts its publishers twice a second."""
