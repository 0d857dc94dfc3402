"""Worlds, requests and results as few bytes: what processes of a pool exchange.

Python writes a frozen dataclass field by field and an array with its whole description, which for a small world takes
a tenth of the time of an easy plan. Here the types that occur in every world are written as their numbers; all others,
and all that is rare in these, as ``pickle`` does it. Nothing is rounded or left out.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from handiwork_core.contracts.planning import PlanResult
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, WorldObject

PROTOCOL = 5
Reduced = tuple[Callable[..., object], tuple[Any, ...]] | tuple[Any, ...]


def packed(value: object) -> bytes:
    """Return bytes from which ``unpacked`` makes an equal value. One object that occurs twice is written once.

    Args:
        value: Problems or results, or anything that ``pickle`` takes.
    """
    file = io.BytesIO()
    pickler = pickle.Pickler(file, PROTOCOL)
    pickler.dispatch_table = _TABLE
    pickler.dump(value)
    return file.getvalue()


def unpacked(data: bytes | memoryview) -> Any:  # noqa: ANN401
    """Return the value that ``packed`` wrote. Its arrays do not share memory with ``data``.

    Args:
        data: The bytes, of a process that is trusted as this one is.
    """
    return pickle.loads(data)


def _array(data: bytes, shape: tuple[int, ...]) -> Array:
    return np.frombuffer(bytearray(data)).reshape(shape)


def _reduced_array(array: Array) -> Reduced:
    if array.dtype != np.float64 or not array.flags.c_contiguous or array.size == 0:
        return array.__reduce_ex__(PROTOCOL)  # type: ignore[return-value]
    return _array, (array.tobytes(), array.shape)


def _pose(data: bytes) -> Pose:
    numbers = np.frombuffer(data)
    return Pose(Rotation(numbers[:4]), numbers[4:])


def _pose_bytes(pose: Pose) -> bytes:
    return pose.rotation.wxyz.tobytes() + pose.translation_m.tobytes()


def _reduced_pose(pose: Pose) -> Reduced:
    data = _pose_bytes(pose)
    return (_pose, (data,)) if len(data) == 56 else _plain(pose)


def _shape(kind: int, size: bytes, pose: bytes) -> Shape:
    return Shape(ShapeKind(kind), np.frombuffer(bytearray(size)), _pose(pose))


def _reduced_shape(shape: Shape) -> Reduced:
    size, pose = shape.size, _pose_bytes(shape.object_T_shape)
    if shape.vertices is not None or size.dtype != np.float64 or size.size == 0 or len(pose) != 56:
        return _plain(shape)
    return _shape, (int(shape.kind), size.tobytes(), pose)


def _object(*fields: Any) -> WorldObject:
    return WorldObject(*fields)


def _reduced_object(item: WorldObject) -> Reduced:
    return _object, (item.name, item.shapes, item.is_static, item.mass_kg, item.articulation)


def _state(data: bytes, stamp_s: float, covariance: Array | None) -> ObjectState:
    twist = np.frombuffer(bytearray(data[56:]))
    return ObjectState(_pose(data[:56]), twist[:3], twist[3:], stamp_s, covariance)


def _reduced_state(state: ObjectState) -> Reduced:
    linear, angular = state.world_v_object, state.world_w_object
    data = _pose_bytes(state.world_T_object) + linear.tobytes() + angular.tobytes()
    if len(data) != 104 or not linear.dtype == angular.dtype == np.float64:
        return _plain(state)
    return _state, (data, state.stamp_s, state.pose_covariance)


def _trajectory(names: tuple[str, ...], data: bytes, rest: tuple[Any, ...]) -> Trajectory:
    rows = np.frombuffer(bytearray(data))
    count = len(rows) // (1 + 3 * len(names))
    q, qd, qdd = rows[count:].reshape(3, count, len(names))
    return Trajectory(names, rows[:count], q, qd, qdd, *rest)


def _reduced_trajectory(motion: Trajectory) -> Reduced:
    parts = (motion.t_s, motion.q, motion.qd, motion.qdd)
    shape = (len(motion.t_s), len(motion.joint_names))
    if any(part.dtype != np.float64 for part in parts) or any(part.shape != shape for part in parts[1:]):
        return _plain(motion)
    data = b"".join(part.tobytes() for part in parts)
    return _trajectory, (
        motion.joint_names,
        data,
        (motion.goal_tolerance, motion.stop_force, motion.begin_s),
    )


def _result(code: int, *fields: Any) -> PlanResult:
    return PlanResult(Code(code), *fields)


def _reduced_result(result: PlanResult) -> Reduced:
    fields = [getattr(result, name) for name in PlanResult.__dataclass_fields__]
    return _result, (int(fields[0]), *fields[1:])


def _plain(value: Any) -> Reduced:  # noqa: ANN401
    return value.__reduce_ex__(PROTOCOL)  # type: ignore[no-any-return]


_TABLE: dict[type, Callable[[Any], Any]] = {
    **copyreg.dispatch_table,
    np.ndarray: _reduced_array,
    Pose: _reduced_pose,
    Shape: _reduced_shape,
    WorldObject: _reduced_object,
    ObjectState: _reduced_state,
    Trajectory: _reduced_trajectory,
    PlanResult: _reduced_result,
}
