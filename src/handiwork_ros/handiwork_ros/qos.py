"""The QoS profiles of the contract, by what they carry. Table: docs/explanation/architecture.md."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy


def _profile(depth: int, *, latched: bool = False, reliable: bool = True) -> QoSProfile:
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


LATEST = _profile(1)
"""joint_states, world/object_states, world/contacts: only the newest counts."""

LATCHED = _profile(1, latched=True)
"""robot_description, world/objects, conditions: late joiners get the newest."""

STATUS = _profile(20)
"""handiwork/status."""

EVENTS = _profile(100)
"""conditions/events."""

TF = _profile(100)
"""/tf."""

TF_STATIC = _profile(100, latched=True)
"""/tf_static: several publishers, each latched."""

CLOCK = _profile(1, reliable=False)
"""/clock."""

STREAM = _profile(1, reliable=False)
"""What a simulator streams at its own pace: the newest counts, and what was lost is not waited for."""
