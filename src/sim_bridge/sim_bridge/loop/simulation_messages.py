"""What differs between the versions of simulation_interfaces, told by the fields of a message. Knows no ROS."""

# ruff: noqa: ANN401 messages of either version

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim_bridge.mujoco.spawning import Resource


def resource_from(request: Any) -> Resource:
    """What to spawn: in 1.x two fields, in 2.x and in ``SpawnEntities`` a message of their own."""
    holder = getattr(request, "entity_resource", request)
    return Resource(holder.uri, holder.resource_string)


def put_uri(spawnable: Any, uri: str) -> None:
    """Write where a spawnable comes from, as the version has it."""
    getattr(spawnable, "entity_resource", spawnable).uri = uri


@dataclass(frozen=True, slots=True)
class StateParts:
    """What of a state is to be set."""

    pose: bool
    twist: bool
    acceleration: bool


def parts_to_set(request: Any) -> StateParts:
    """In 2.1 three flags say it; before there were none, and pose and twist are set."""
    if not hasattr(request, "set_pose"):
        return StateParts(pose=True, twist=True, acceleration=False)
    return StateParts(bool(request.set_pose), bool(request.set_twist), bool(request.set_acceleration))
