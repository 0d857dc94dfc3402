"""Conversions of poses, vectors and time. Only in this file quaternions have the order xyzw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Transform, Vector3

from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import (
    UNIT_TOLERANCE,
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.outcome import Code, Outcome


class BadMessage(HandiworkError, ValueError):
    """A message holds an invalid value. ``outcome`` names the field, its value and a valid one.

    Args:
        field: Name of the field.
        what: Rest of the sentence that begins with the field's name.
        code: Code of the outcome.
    """

    def __init__(self, field: str, what: str, code: Code = Code.BAD_NUMBER) -> None:
        super().__init__(Outcome(code, f"{field} {what}", field_name=field))


def at_most(field: str, count: int, most: int, noun: str) -> None:
    """Refuse a list that is too long.

    Args:
        field: Name of the list in the error text.
        count: Number of its entries.
        most: Largest number of entries.
        noun: Name of the entries in the error text, in the plural.

    Raises:
        BadMessage: ``count`` is greater than ``most``.
    """
    if count > most:
        raise BadMessage(field, f"has {count} {noun}; at most {most} are taken, send fewer", Code.BAD_GOAL)


def pose_from_msg(msg: PoseMsg, field: str = "pose") -> Pose:
    """Read a pose.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: A number is not finite, or the quaternion's norm differs from one by more than ``UNIT_TOLERANCE``.
    """
    return _pose(msg.position, msg.orientation, f"{field}.position", f"{field}.orientation")


def poses_from_msg(msgs: Sequence[PoseMsg], field_of: Callable[[int], str]) -> tuple[Pose, ...]:
    """Read many poses at once, which takes a sixth of the time of ``pose_from_msg`` for each.

    Args:
        msgs: The poses.
        field_of: Returns the name of the pose with an index, for error texts.

    Raises:
        BadMessage: See ``pose_from_msg``.
    """
    numbers = [
        (p.x, p.y, p.z, q.x, q.y, q.z, q.w) for p, q in [(msg.position, msg.orientation) for msg in msgs]
    ]
    rows = frozen(numbers).reshape(-1, 7)
    turns = unit_wxyz(rows[:, 3:]) if np.isfinite(rows).all() else None
    if turns is None:  # one by one, so that the error names the pose
        return tuple(pose_from_msg(msg, field_of(i)) for i, msg in enumerate(msgs))
    return tuple(Pose(Rotation(q), p) for q, p in zip(turns, rows[:, :3], strict=True))


def unit_wxyz(xyzw: Array) -> Array | None:
    """Normalize quaternions and bring their scalar to the front.

    Args:
        xyzw: Quaternions (n, 4), scalar last.

    Returns:
        Read-only quaternions (n, 4) of norm one, scalar first and not negative; None if a norm differs from one by more
        than ``UNIT_TOLERANCE``.
    """
    norms = np.sqrt((xyzw * xyzw).sum(axis=1))
    if (np.abs(norms - 1.0) > UNIT_TOLERANCE).any():
        return None
    norms[xyzw[:, 3] < 0.0] *= -1.0
    found = np.empty_like(xyzw)
    found[:, 0], found[:, 1:] = xyzw[:, 3] / norms, xyzw[:, :3] / norms[:, None]
    found.setflags(write=False)
    return found


def transform_from_msg(msg: Transform, field: str = "transform") -> Pose:
    """Read a transform.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: See ``pose_from_msg``.
    """
    return _pose(msg.translation, msg.rotation, f"{field}.translation", f"{field}.rotation")


def pose_to_msg(pose: Pose) -> PoseMsg:
    """Write a pose.

    Args:
        pose: The pose.
    """
    msg = PoseMsg()
    _write(pose, msg.position, msg.orientation)
    return msg


def transform_to_msg(pose: Pose) -> Transform:
    """Write a transform.

    Args:
        pose: The transform.
    """
    msg = Transform()
    _write(pose, msg.translation, msg.rotation)
    return msg


def vector_from_msg(msg: Vector3, field: str) -> Array:
    """Read x, y, z of a Vector3 or Point.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Returns:
        The read-only vector, (3,).

    Raises:
        BadMessage: A number is not finite.
    """
    return finite((msg.x, msg.y, msg.z), field)


def vector_to_msg(vector: Array) -> Vector3:
    """Write x, y, z.

    Args:
        vector: The vector, (3,).
    """
    return Vector3(x=float(vector[0]), y=float(vector[1]), z=float(vector[2]))


def finite(values: object, field: str) -> Array:
    """Return a read-only float64 copy of numbers, all of which must be finite.

    Args:
        values: The numbers.
        field: Name of the numbers in the error text.

    Raises:
        BadMessage: A number is not finite.
    """
    array = frozen(values)  # type: ignore[arg-type]  # array.array and tuple alike
    if not np.isfinite(array).all():
        raise BadMessage(field, f"is {array.tolist()}; send finite numbers")
    return array


def time_from_msg(msg: Time) -> float:
    """Read a Time or Duration.

    Args:
        msg: The message.

    Returns:
        The time, s.
    """
    return float(msg.sec) + float(msg.nanosec) * 1e-9


def time_to_msg(stamp_s: float) -> Time:
    """Write a time, rounded to the nanosecond.

    Args:
        stamp_s: The time, s.
    """
    sec, nanosec = time_parts(stamp_s)
    return Time(sec=sec, nanosec=nanosec)


def time_parts(stamp_s: float) -> tuple[int, int]:
    """Split a time, rounded to the nanosecond, as ROS messages do.

    Args:
        stamp_s: The time, s.

    Returns:
        Whole seconds, and nanoseconds from 0 to 999999999.
    """
    sec = math.floor(stamp_s)
    carry, nanosec = divmod(round((stamp_s - sec) * 1e9), 1_000_000_000)
    return sec + carry, nanosec


def _pose(position: Vector3, orientation: object, position_field: str, orientation_field: str) -> Pose:
    p = vector_from_msg(position, position_field)
    q = orientation
    xyzw = finite((q.x, q.y, q.z, q.w), orientation_field)  # type: ignore[attr-defined]  # messages carry no types
    norm = float(np.linalg.norm(xyzw))
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise BadMessage(
            orientation_field, f"(x, y, z, w) = {xyzw.tolist()} has norm {norm:.4g}; send a unit quaternion"
        )
    return Pose(Rotation.from_xyzw(xyzw), p)


def _write(pose: Pose, position: Any, orientation: Any) -> None:
    position.x, position.y, position.z = pose.translation_m.tolist()
    orientation.w, orientation.x, orientation.y, orientation.z = pose.rotation.wxyz.tolist()
