"""What crosses between Isaac Sim's process and Handiwork: names, and texts for what standard messages have no words.

Only messages of std_msgs, sensor_msgs, tf2_msgs, rosgraph_msgs and services of std_srvs cross, so that any Python that
Isaac Sim ships can speak them. Besides the names below there are ``/clock``, and ``/tf`` from ``world`` to each object.
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
"""tf2_msgs/TFMessage: objects that are to be put there, at rest."""
RESET = "isaac_reset"
"""std_srvs/Trigger: robot at home, objects as the stage has them, at rest; the clock may begin anew."""
PAUSE = "isaac_pause"
"""std_srvs/SetBool: true stops the physics."""
STEP = "isaac_step"
"""std_srvs/Trigger: one frame of physics, ``FRAME_S`` of simulated time, while it is stopped."""
BELT_VELOCITY = "isaac_belt_velocity"
"""geometry_msgs/TwistStamped: the belt ``frame_id`` is to run at the linear velocity, in its own frame."""

FRAME_S = 0.02
"""Simulated time between two frames of the application: so often contacts, cups and frames of objects are told."""

GRID = 1e-4
"""The bridge rounds positions, velocities and efforts of joints to this."""


def suction_service(gripper: str) -> str:
    """std_srvs/SetBool that closes (true) or opens one surface gripper; answered at once."""
    return f"isaac_suction/{gripper}"


class BadWire(ValueError):
    """A text that is not what the other side should write; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class CupState:
    """A surface gripper: whether it was told to close, whether it holds something, and what."""

    on: bool
    is_closed: bool
    objects: tuple[str, ...] = ()


def on_grid(values: Array) -> Array:
    """Rounded as the bridge does."""
    return np.round(np.asarray(values, dtype=np.float64) / GRID) * GRID


def contacts_text(contacts: Iterable[Contact], stamp_s: float) -> str:
    """Write contacts: ``{"stamp": s, "contacts": [[a, b, fx, fy, fz, px, py, pz], ...]}``, force on a from b in N."""
    rows = [
        [item.a, item.b, *map(float, item.force_on_a_n), *map(float, item.point_m)]
        for item in contacts
        if np.isfinite([*item.force_on_a_n, *item.point_m]).all()
    ]
    return json.dumps({"stamp": stamp_s, "contacts": rows}, separators=(",", ":"))


def contacts_of(text: str) -> tuple[float, tuple[Contact, ...]]:
    """Stamp [s] and contacts.

    Raises:
        BadWire: the text is not what ``contacts_text`` writes.
    """
    stamp_s, bodies, numbers = contact_rows(text)
    rows = zip(bodies, numbers, strict=True)
    return stamp_s, tuple(Contact(a, b, frozen(row[:3]), frozen(row[3:])) for (a, b), row in rows)


def contact_rows(text: str) -> tuple[float, tuple[tuple[str, str], ...], Array]:
    """Stamp [s], the bodies of each contact, and its force and point (n, 6) [N, m].

    Raises:
        BadWire: the text is not what ``contacts_text`` writes.
    """
    stamp_s, rows = _entries(text, CONTACTS, "contacts")
    if not isinstance(rows, list):
        raise BadWire(f"{CONTACTS}: contacts is {type(rows).__name__}; send a list of rows")
    for index, row in enumerate(rows):
        if not _is_contact(row):
            raise BadWire(f"{CONTACTS}: row {index} is {row!r}; send two names, a force and a point")
    try:
        numbers = np.array([row[2:] for row in rows], dtype=np.float64).reshape(len(rows), 6)
    except OverflowError as error:  # JSON's whole numbers have no end
        raise BadWire(f"{CONTACTS}: cannot be read ({error}); send forces and points as floats") from error
    if not np.isfinite(numbers).all():
        index = int(np.argmin(np.isfinite(numbers).all(axis=1)))
        raise BadWire(f"{CONTACTS}: row {index} is {rows[index]!r}; send finite forces and points")
    return stamp_s, tuple((row[0], row[1]) for row in rows), numbers


NUMBERS = frozenset((int, float))
"""What JSON's numbers become."""


def _is_contact(row: object) -> bool:
    if not isinstance(row, list) or len(row) != 8:
        return False
    a, b, *numbers = row
    return bool(type(a) is type(b) is str and a and b and NUMBERS.issuperset(map(type, numbers)))


def cups_text(cups: Mapping[str, CupState], stamp_s: float) -> str:
    """Write surface grippers: ``{"stamp": s, "cups": {name: {"on": b, "status": "Closed", "objects": ["box"]}}}``."""
    rows = {
        name: {"on": cup.on, "status": "Closed" if cup.is_closed else "Open", "objects": list(cup.objects)}
        for name, cup in cups.items()
    }
    return json.dumps({"stamp": stamp_s, "cups": rows}, separators=(",", ":"))


def cups_of(text: str) -> tuple[float, dict[str, CupState]]:
    """Stamp [s] and surface grippers by name; ``Closing`` counts as not closed.

    Raises:
        BadWire: the text is not what ``cups_text`` writes.
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
    # Compared, not asked by isfinite: JSON's whole numbers have no end.
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max
