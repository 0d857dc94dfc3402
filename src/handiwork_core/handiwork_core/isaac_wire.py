"""The interface between Isaac Sim's process and Handiwork: names, and texts for data without a standard message.

Only messages of std_msgs, sensor_msgs, tf2_msgs, rosgraph_msgs and services of std_srvs cross, so that any Python that
Isaac Sim ships can use them. Besides the names below there are ``/clock``, and ``/tf`` from ``world`` to each object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.world import Contact

JOINT_STATES = "isaac_joint_states"
"""sensor_msgs/JointState: all joints in the articulation's order."""
JOINT_COMMANDS = "isaac_joint_commands"
"""sensor_msgs/JointState, depth 1: positions alone, of all driven joints in one message."""
CONTACTS = "isaac_contacts"
"""std_msgs/String: see ``contacts_text``."""
SUCTION_STATE = "isaac_suction_state"
"""std_msgs/String: see ``cups_text``."""
SET_POSES = "isaac_set_poses"
"""tf2_msgs/TFMessage: new poses of objects, which are then at rest."""
RESET = "isaac_reset"
"""std_srvs/Trigger: robot at home, objects as the stage has them, at rest; the clock may restart."""
PAUSE = "isaac_pause"
"""std_srvs/SetBool: true stops the physics."""
STEP = "isaac_step"
"""std_srvs/Trigger: one frame of physics, ``FRAME_S`` of simulated time, while it is stopped."""
BELT_VELOCITY = "isaac_belt_velocity"
"""geometry_msgs/TwistStamped: the belt ``frame_id`` is to run at the linear velocity, in its own frame."""

FRAME_S = 0.02
"""Simulated time between two frames of the application, s: the period of contacts, cups and frames of objects."""

GRID = 1e-4
"""The bridge rounds positions, velocities and efforts of joints to this."""


def suction_service(gripper: str) -> str:
    """Return the name of the service that closes (true) or opens one surface gripper.

    Its type is std_srvs/SetBool; it is answered at once.

    Args:
        gripper: Name of the gripper.
    """
    return f"isaac_suction/{gripper}"


class BadWire(ValueError):
    """A text that violates the format of its topic; the message names the fault."""


@dataclass(frozen=True, slots=True)
class CupState:
    """The state of a surface gripper.

    Attributes:
        on: True if it was commanded to close.
        is_closed: True if it holds something.
        objects: Names of the objects that it holds.
    """

    on: bool
    is_closed: bool
    objects: tuple[str, ...] = ()


def on_grid(values: Array) -> Array:
    """Return values rounded as the bridge rounds them.

    Args:
        values: Any shape.
    """
    return np.round(np.asarray(values, dtype=np.float64) / GRID) * GRID


def contacts_text(contacts: Iterable[Contact], stamp_s: float) -> str:
    """Return contacts as ``{"stamp": s, "contacts": [[a, b, fx, fy, fz, px, py, pz], ...]}``.

    Contacts with numbers that are not finite are left out.

    Args:
        contacts: The contacts: force on a from b, N, and point in the world, m.
        stamp_s: Time of the contacts, s of simulated time.
    """
    rows = [
        [item.a, item.b, *map(float, item.force_on_a_n), *map(float, item.point_m)]
        for item in contacts
        if np.isfinite([*item.force_on_a_n, *item.point_m]).all()
    ]
    return json.dumps({"stamp": stamp_s, "contacts": rows}, separators=(",", ":"))


def contacts_of(text: str) -> tuple[float, tuple[Contact, ...]]:
    """Return the content of a text of contacts.

    Args:
        text: A text in the format of ``contacts_text``.

    Returns:
        Stamp, s, and contacts.

    Raises:
        BadWire: The text is not in the format of ``contacts_text``.
    """
    stamp_s, bodies, numbers = contact_rows(text)
    rows = zip(bodies, numbers, strict=True)
    return stamp_s, tuple(Contact(a, b, frozen(row[:3]), frozen(row[3:])) for (a, b), row in rows)


def contact_rows(text: str) -> tuple[float, tuple[tuple[str, str], ...], Array]:
    """Return the content of a text of contacts as arrays.

    Args:
        text: A text in the format of ``contacts_text``.

    Returns:
        Stamp, s; the names of the two bodies of each contact; its force, N, and point, m, as rows (n, 6).

    Raises:
        BadWire: The text is not in the format of ``contacts_text``.
    """
    stamp_s, rows = _entries(text, CONTACTS, "contacts")
    if not isinstance(rows, list):
        raise BadWire(f"{CONTACTS}: contacts is {type(rows).__name__}; send a list of rows")
    for index, row in enumerate(rows):
        if not _is_contact(row):
            raise BadWire(f"{CONTACTS}: row {index} is {row!r}; send two names, a force and a point")
    try:
        numbers = np.array([row[2:] for row in rows], dtype=np.float64).reshape(len(rows), 6)
    except OverflowError as error:  # JSON's whole numbers are unbounded
        raise BadWire(f"{CONTACTS}: cannot be read ({error}); send forces and points as floats") from error
    if not np.isfinite(numbers).all():
        index = int(np.argmin(np.isfinite(numbers).all(axis=1)))
        raise BadWire(f"{CONTACTS}: row {index} is {rows[index]!r}; send finite forces and points")
    return stamp_s, tuple((row[0], row[1]) for row in rows), numbers


NUMBERS = frozenset((int, float))
"""The types of JSON's numbers in Python."""


def _is_contact(row: object) -> bool:
    if not isinstance(row, list) or len(row) != 8:
        return False
    a, b, *numbers = row
    return bool(type(a) is type(b) is str and a and b and NUMBERS.issuperset(map(type, numbers)))


def cups_text(cups: Mapping[str, CupState], stamp_s: float) -> str:
    """Return grippers as ``{"stamp": s, "cups": {name: {"on": b, "status": "Closed", "objects": ["box"]}}}``.

    Args:
        cups: Surface grippers by name.
        stamp_s: Time of the states, s of simulated time.
    """
    rows = {
        name: {"on": cup.on, "status": "Closed" if cup.is_closed else "Open", "objects": list(cup.objects)}
        for name, cup in cups.items()
    }
    return json.dumps({"stamp": stamp_s, "cups": rows}, separators=(",", ":"))


def cups_of(text: str) -> tuple[float, dict[str, CupState]]:
    """Return the content of a text of surface grippers.

    Args:
        text: A text in the format of ``cups_text``.

    Returns:
        Stamp, s, and surface grippers by name; ``Closing`` counts as not closed.

    Raises:
        BadWire: The text is not in the format of ``cups_text``.
    """
    stamp_s, rows = _entries(text, SUCTION_STATE, "cups")
    try:
        return stamp_s, {
            name: CupState(bool(row["on"]), row["status"] == "Closed", tuple(map(str, row["objects"])))
            for name, row in rows.items()
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise BadWire(f"{SUCTION_STATE}: {error!r} in {text[:120]!r}; send on, status and objects") from error


def _entries(text: str, topic: str, key: str) -> tuple[float, Any]:
    try:
        whole = json.loads(text)
        stamp_s, entries = whole["stamp"], whole[key]
    except (ValueError, KeyError, TypeError) as error:
        raise BadWire(f"{topic}: cannot be read ({error!r}); send JSON with stamp and {key}") from error
    if not _is_finite(stamp_s):
        raise BadWire(f"{topic}: stamp is {stamp_s!r}; send seconds of simulated time")
    return float(stamp_s), entries


def _is_finite(value: object) -> bool:
    # A comparison, because math.isfinite fails for JSON's unbounded whole numbers.
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max
