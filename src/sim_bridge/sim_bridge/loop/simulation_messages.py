"""The differences between versions of simulation_interfaces, found by the fields of a message. Knows no ROS."""

# ruff: noqa: ANN401 messages of either version

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim_bridge.mujoco.spawning import Resource


def resource_from(request: Any) -> Resource:
    """Return the resource to spawn: two fields in 1.x, a message in 2.x and in ``SpawnEntities``.

    Args:
        request: The request, of either version.
    """
    holder = getattr(request, "entity_resource", request)
    return Resource(holder.uri, holder.resource_string)


def put_uri(spawnable: Any, uri: str) -> None:
    """Write the URI of a spawnable into the field that the version has.

    Args:
        spawnable: The message, of either version.
        uri: The URI.
    """
    getattr(spawnable, "entity_resource", spawnable).uri = uri


@dataclass(frozen=True, slots=True)
class StateParts:
    """The parts of a state that a request sets.

    Attributes:
        pose: Whether the pose is set.
        twist: Whether the twist is set.
        acceleration: Whether the acceleration is set.
    """

    pose: bool
    twist: bool
    acceleration: bool


def parts_to_set(request: Any) -> StateParts:
    """Return the parts of a state that a request sets: 2.1 has three flags; without flags, pose and twist are set.

    Args:
        request: The request, of either version.
    """
    if not hasattr(request, "set_pose"):
        return StateParts(pose=True, twist=True, acceleration=False)
    return StateParts(bool(request.set_pose), bool(request.set_twist), bool(request.set_acceleration))
