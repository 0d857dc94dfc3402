"""Poses, vectors and time. The only file in which a quaternion is xyzw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Transform, Vector3

from handiwork_core.model.geometry import (
    UNIT_TOLERANCE,
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.outcome import Code, Outcome


class BadMessage(ValueError):
    """A message holds what cannot be. ``outcome`` names the field, its value and what would be right."""

    def __init__(self, field: str, what: str, code: Code = Code.BAD_NUMBER) -> None:
        self.outcome = Outcome(code, f"{field} {what}", field_name=field)
        super().__init__(self.outcome.message)


def at_most(field: str, count: int, most: int, noun: str) -> None:
    """Refuse a list that is too long.

    Raises:
        BadMessage: it has more than ``most`` entries, which are called ``noun``.
    """
    if count > most:
        raise BadMessage(field, f"has {count} {noun}; at most {most} are taken, send fewer", Code.BAD_GOAL)


def pose_from_msg(msg: PoseMsg, field: str = "pose") -> Pose:
    """Read a pose.

    Raises:
        BadMessage: a number is not finite, or the quaternion's norm is off one.
    """
    return _pose(msg.position, msg.orientation, f"{field}.position", f"{field}.orientation")


def poses_from_msg(msgs: Sequence[PoseMsg], field_of: Callable[[int], str]) -> tuple[Pose, ...]:
    """Read many poses at once, which takes a sixth of the time.

    Args:
        msgs: the poses.
        field_of: names the field of the pose with an index.

    Raises:
        BadMessage: see ``pose_from_msg``.
    """
    numbers = [
        (p.x, p.y, p.z, q.x, q.y, q.z, q.w) for p, q in [(msg.position, msg.orientation) for msg in msgs]
    ]
    rows = frozen(numbers).reshape(-1, 7)
    turns = unit_wxyz(rows[:, 3:]) if np.isfinite(rows).all() else None
    if turns is None:  # one by one, which words the error
        return tuple(pose_from_msg(msg, field_of(i)) for i, msg in enumerate(msgs))
    return tuple(Pose(Rotation(q), p) for q, p in zip(turns, rows[:, :3], strict=True))


def unit_wxyz(xyzw: Array) -> Array | None:
    """Read-only quaternions (n, 4), scalar first and not negative, of norm one; None where a norm is off one."""
    norms = np.sqrt((xyzw * xyzw).sum(axis=1))
    if (np.abs(norms - 1.0) > UNIT_TOLERANCE).any():
        return None
    norms[xyzw[:, 3] < 0.0] *= -1.0
    found = np.empty_like(xyzw)
    found[:, 0], found[:, 1:] = xyzw[:, 3] / norms, xyzw[:, :3] / norms[:, None]
    found.setflags(write=False)
    return found


def transform_from_msg(msg: Transform, field: str = "transform") -> Pose:
    """Read a transform; see ``pose_from_msg``."""
    return _pose(msg.translation, msg.rotation, f"{field}.translation", f"{field}.rotation")


def pose_to_msg(pose: Pose) -> PoseMsg:
    """Write a pose."""
    msg = PoseMsg()
    _write(pose, msg.position, msg.orientation)
    return msg


def transform_to_msg(pose: Pose) -> Transform:
    """Write a transform."""
    msg = Transform()
    _write(pose, msg.translation, msg.rotation)
    return msg


def vector_from_msg(msg: Vector3, field: str) -> Array:
    """Read x, y, z of a Vector3 or Point, shape (3,).

    Raises:
        BadMessage: a number is not finite.
    """
    return finite((msg.x, msg.y, msg.z), field)


def vector_to_msg(vector: Array) -> Vector3:
    """Write x, y, z."""
    return Vector3(x=float(vector[0]), y=float(vector[1]), z=float(vector[2]))


def finite(values: object, field: str) -> Array:
    """A read-only float64 copy.

    Raises:
        BadMessage: a number is not finite.
    """
    array = frozen(values)  # type: ignore[arg-type]  # array.array and tuple alike
    if not np.isfinite(array).all():
        raise BadMessage(field, f"is {array.tolist()}; send finite numbers")
    return array


def time_from_msg(msg: Time) -> float:
    """Seconds."""
    return float(msg.sec) + float(msg.nanosec) * 1e-9


def time_to_msg(stamp_s: float) -> Time:
    """Write seconds, rounded to the nanosecond."""
    sec, nanosec = time_parts(stamp_s)
    return Time(sec=sec, nanosec=nanosec)


def time_parts(stamp_s: float) -> tuple[int, int]:
    """Whole seconds and nanoseconds of a time, rounded to the nanosecond."""
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
