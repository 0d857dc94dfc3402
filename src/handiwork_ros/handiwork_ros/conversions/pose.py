"""Poses, vectors and time. The only file in which a quaternion is xyzw."""

from __future__ import annotations

import math

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import Transform, Vector3

from handiwork_core.geometry import UNIT_TOLERANCE, Array, Pose, Rotation, frozen
from handiwork_core.outcome import Code, Outcome


class BadMessage(ValueError):
    """A message holds what cannot be. ``outcome`` names the field, its value and what would be right."""

    def __init__(self, field: str, what: str, code: Code = Code.BAD_NUMBER) -> None:
        self.outcome = Outcome(code, f"{field} {what}", field_name=field)
        super().__init__(self.outcome.message)


def pose_from_msg(msg: PoseMsg, field: str = "pose") -> Pose:
    """Read a pose.

    Raises:
        BadMessage: a number is not finite, or the quaternion's norm is off one.
    """
    return _pose(msg.position, msg.orientation, f"{field}.position", f"{field}.orientation")


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


def _write(pose: Pose, position: object, orientation: object) -> None:
    x, y, z, w = (float(v) for v in pose.rotation.xyzw)
    for name, value in zip("xyz", pose.translation_m, strict=True):
        setattr(position, name, float(value))
    for name, value in zip("xyzw", (x, y, z, w), strict=True):
        setattr(orientation, name, value)
