"""Checks of contacts: sign and unit of forces, by the weight of objects at rest. Imports no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.thresholds import OBJECT_REST
from handiwork_core.model.world import Contact
from handiwork_core.robot.robot import Robot

from .findings import CheckFinding, failed, missing, passed
from .recording import Recording

GRAVITY = 9.81

WEIGHT_SHARE = 0.3
"""Largest difference of the sum of forces on an object at rest from its weight, as a part of that."""


def judge_contacts(robot: Robot, recording: Recording) -> Iterator[CheckFinding]:
    """Judge that the forces on objects at rest carry their weights.

    Args:
        robot: The robot.
        recording: The received messages.

    Yields:
        One finding.
    """
    check = "contacts sign"
    resting = resting_objects(robot, recording)
    if not resting:
        remedy = "let an object with a mass rest on another, away from the robot, and check again"
        yield missing(check, "nothing rests on anything", remedy, required=False)
        return
    faults: list[CheckFinding] = []
    for name in resting:
        up_n = float(np.mean([force_on(name, contacts)[2] for contacts in recording.contacts]))
        weight_n = recording.objects[name].mass_kg * GRAVITY
        text = f"{name} weighs {weight_n:.2f} N and is pushed up by {up_n:.2f} N"
        if abs(up_n + weight_n) <= WEIGHT_SHARE * weight_n:
            remedy = "publish the force on a from b; turn the sign, or swap a and b"
            faults.append(failed(check, f"{text}: the sign is the other way round", remedy))
        elif abs(up_n - weight_n) > WEIGHT_SHARE * weight_n:
            remedy = "publish net forces in newtons and world axes: an impulse is force times the step"
            faults.append(failed(check, text, remedy))
    if faults:
        yield faults[0]
        return
    yield passed(check, f"the weights of {', '.join(resting)} are held up by their contacts")


def resting_objects(robot: Robot, recording: Recording) -> list[str]:
    """Return the objects with a mass that are at rest, touch something in every message, and touch no robot link.

    Args:
        robot: The robot.
        recording: The received messages.
    """
    found = []
    for name, item in sorted(recording.objects.items()):
        state = recording.states.get(name)
        if item.is_static or item.articulation is not None or state is None or not recording.contacts:
            continue
        if (
            np.linalg.norm(state.world_v_object) > OBJECT_REST
            or np.linalg.norm(state.world_w_object) > OBJECT_REST
        ):
            continue
        touched = [_touched(name, contacts) for contacts in recording.contacts]
        if all(touched) and not any(other.startswith(f"{robot.name}/") for one in touched for other in one):
            found.append(name)
    return found


def force_on(name: str, contacts: Sequence[Contact]) -> Array:
    """Return the sum of forces on a body in the axes of the world, (3,), N.

    Args:
        name: Name of the body.
        contacts: The contacts of one message.
    """
    total = np.zeros(3)
    for contact in contacts:
        if contact.a == name:
            total += contact.force_on_a_n
        elif contact.b == name:
            total -= contact.force_on_a_n
    return total


def _touched(name: str, contacts: Sequence[Contact]) -> set[str]:
    return {c.b if c.a == name else c.a for c in contacts if name in (c.a, c.b)}
