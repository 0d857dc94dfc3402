"""Rigid motions. Quaternions are wxyz here; xyzw has functions of its own, which only the ROS interface uses.

A variable ``a_T_b`` is the pose of b in a: it maps coordinates in b to coordinates in a, so inner names cancel in
``world_T_base @ base_T_ee``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

UNIT_TOLERANCE = 1e-3
"""Largest deviation from norm one that is taken as round-off and normalised."""

SCALAR_FIRST, SCALAR_LAST = np.array([3, 0, 1, 2]), np.array([1, 2, 3, 0])
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_I3 = np.eye(3)


def frozen(values: ArrayLike) -> Array:
    """Return a read-only float64 copy.

    Args:
        values: Numbers of any shape.
    """
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """Unit quaternion, scalar first, scalar never negative. Built by named methods, never by position."""

    wxyz: Array

    @classmethod
    def from_wxyz(cls, wxyz: ArrayLike) -> Rotation:
        """Return the rotation of a quaternion in the order of MuJoCo, cuRobo and SimBox.

        Args:
            wxyz: Quaternion (w, x, y, z), (4,).

        Raises:
            ValueError: The input is not four finite numbers, or the norm is off one by more than ``UNIT_TOLERANCE``.
        """
        q = np.array(wxyz, dtype=np.float64)
        norm = math.sqrt(q @ q) if q.shape == (4,) else math.nan
        if not abs(norm - 1.0) <= UNIT_TOLERANCE:
            if q.shape != (4,) or not np.isfinite(q).all():
                raise ValueError(f"a quaternion has four finite numbers, not {np.asarray(wxyz).tolist()}")
            raise ValueError(f"quaternion {q.tolist()} has norm {norm:.4g}; make it 1")
        q /= -norm if q[0] < 0.0 else norm
        q.setflags(write=False)
        return cls(q)

    @classmethod
    def from_xyzw(cls, xyzw: ArrayLike) -> Rotation:
        """Return the rotation of a quaternion in the order of ROS messages and scipy's default.

        Args:
            xyzw: Quaternion (x, y, z, w), (4,).

        Raises:
            ValueError: The input is not four finite numbers, or the norm is off one by more than ``UNIT_TOLERANCE``.
        """
        q = np.asarray(xyzw, dtype=np.float64)
        return cls.from_wxyz(q[SCALAR_FIRST] if q.shape == (4,) else q)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Rotation:
        """Return the rotation of a matrix (Shepperd's method, 1978, with the largest pivot).

        Args:
            matrix: Rotation matrix, (3, 3).

        Raises:
            ValueError: The matrix is not orthonormal with determinant +1 within 1e-3.
        """
        m = np.asarray(matrix, dtype=np.float64)
        if m.shape != (3, 3) or not (np.abs(m @ m.T - _I3) <= 1e-3).all() or np.linalg.det(m) < 0.0:
            raise ValueError(f"not a rotation matrix: {m.tolist()}")
        trace = float(np.trace(m))
        pivots = np.array([trace, m[0, 0], m[1, 1], m[2, 2]])
        i = int(np.argmax(pivots))
        if i == 0:
            q = np.array([1.0 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
        else:
            a, b, c = i - 1, i % 3, (i + 1) % 3
            q = np.empty(4)
            q[0] = m[c, b] - m[b, c]
            q[1 + a] = 1.0 + m[a, a] - m[b, b] - m[c, c]
            q[1 + b] = m[b, a] + m[a, b]
            q[1 + c] = m[c, a] + m[a, c]
        return cls.from_wxyz(q / np.linalg.norm(q))

    @classmethod
    def from_axis_angle(cls, axis: ArrayLike, angle_rad: float) -> Rotation:
        """Return the rotation about an axis.

        Args:
            axis: Axis, (3,); need not be a unit vector but must not be zero.
            angle_rad: Angle, rad.

        Raises:
            ValueError: The axis is zero.
        """
        a = np.asarray(axis, dtype=np.float64)
        length = float(np.linalg.norm(a))
        if not length > 0.0:
            raise ValueError(f"a rotation axis must not be zero: {a.tolist()}")
        half = 0.5 * angle_rad
        return cls.from_wxyz(np.concatenate(([np.cos(half)], np.sin(half) * a / length)))

    @classmethod
    def from_rpy(cls, roll: float, pitch: float, yaw: float) -> Rotation:
        """Return the rotation by fixed-axis angles, as in URDF: about x first, then y, then z.

        Args:
            roll: Angle about x, rad.
            pitch: Angle about y, rad.
            yaw: Angle about z, rad.
        """
        x = cls.from_axis_angle((1.0, 0.0, 0.0), roll)
        y = cls.from_axis_angle((0.0, 1.0, 0.0), pitch)
        return cls.from_axis_angle((0.0, 0.0, 1.0), yaw) @ y @ x

    @classmethod
    def identity(cls) -> Rotation:
        """Return the identity."""
        return _NO_TURN

    @property
    def xyzw(self) -> Array:
        """A copy in ROS order, (4,)."""
        found: Array = self.wxyz[SCALAR_LAST]
        return found

    def matrix(self) -> Array:
        """Return the rotation matrix, (3, 3)."""
        w, x, y, z = self.wxyz.tolist()
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    def inverse(self) -> Rotation:
        """Return the inverse rotation."""
        return Rotation.from_wxyz(self.wxyz * CONJUGATE)

    def __matmul__(self, other: Rotation) -> Rotation:
        """Turn by ``other`` first, then by ``self``."""
        aw, ax, ay, az = self.wxyz.tolist()
        bw, bx, by, bz = other.wxyz.tolist()
        return Rotation.from_wxyz(
            (
                aw * bw - ax * bx - ay * by - az * bz,
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
            )
        )

    def angle_to(self, other: Rotation) -> float:
        """Return the angle between two rotations.

        Args:
            other: The other rotation.

        Returns:
            Angle, rad, 0 to pi.
        """
        return 2.0 * float(np.arccos(min(1.0, abs(float(self.wxyz @ other.wxyz)))))


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Rigid motion: rotation and translation (3,), m."""

    rotation: Rotation
    translation_m: Array

    @classmethod
    def of(cls, translation_m: ArrayLike, rotation: Rotation | None = None) -> Pose:
        """Return the pose of a translation and a rotation.

        Args:
            translation_m: Translation, (3,), m.
            rotation: Rotation; None: the identity.

        Raises:
            ValueError: The translation is not three finite numbers.
        """
        p = frozen(translation_m)
        if p.shape != (3,) or not all(map(math.isfinite, p.tolist())):
            raise ValueError(f"a position has three finite numbers, not {np.asarray(translation_m).tolist()}")
        return cls(rotation or _NO_TURN, p)

    @classmethod
    def identity(cls) -> Pose:
        """Return the identity."""
        return _NO_MOTION

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """Return the pose of a homogeneous matrix.

        Args:
            matrix: Homogeneous matrix, (4, 4), translation in m.

        Raises:
            ValueError: Its rotation is not orthonormal, or its translation is not finite.
        """
        m = np.asarray(matrix, dtype=np.float64)
        return cls.of(m[:3, 3], Rotation.from_matrix(m[:3, :3]))

    def matrix(self) -> Array:
        """Return the homogeneous matrix, (4, 4), translation in m."""
        m = np.eye(4)
        m[:3, :3] = self.rotation.matrix()
        m[:3, 3] = self.translation_m
        return m

    def inverse(self) -> Pose:
        """Return the inverse: ``a_T_b.inverse()`` is ``b_T_a``."""
        back = self.rotation.inverse()
        return Pose.of(-(back.matrix() @ self.translation_m), back)

    def __matmul__(self, other: Pose) -> Pose:
        """``a_T_b @ b_T_c`` is ``a_T_c``."""
        return Pose.of(
            self.rotation.matrix() @ other.translation_m + self.translation_m, self.rotation @ other.rotation
        )

    def apply(self, points: ArrayLike) -> Array:
        """Return points of the inner frame in the outer frame.

        Args:
            points: Points in the inner frame, (..., 3), m.

        Returns:
            Points in the outer frame, (..., 3), m.
        """
        return np.asarray(points, dtype=np.float64) @ self.rotation.matrix().T + self.translation_m

    def distance_to(self, other: Pose) -> tuple[float, float]:
        """Return the distance and the angle between two poses.

        Args:
            other: A pose in the same frame.

        Returns:
            Distance, m, and angle, rad.
        """
        gap = float(np.linalg.norm(self.translation_m - other.translation_m))
        return gap, self.rotation.angle_to(other.rotation)

    def almost_equal(self, other: Pose, *, within_m: float, within_rad: float) -> bool:
        """Compare two poses with tolerances; ``==`` stays identity on purpose.

        Args:
            other: A pose in the same frame.
            within_m: Largest distance, m.
            within_rad: Largest angle, rad.
        """
        gap_m, turn_rad = self.distance_to(other)
        return gap_m <= within_m and turn_rad <= within_rad


@dataclass(frozen=True, slots=True, eq=False)
class PoseArray(Sequence[Pose]):
    """Many poses as two arrays. Its items are ``Pose``, its slices are ``PoseArray``.

    A hundred thousand ``Pose`` objects take a second to make and to read; two arrays take milliseconds.

    Attributes:
        translations_m: Translations, (n, 3), m.
        wxyz: Unit quaternions, scalar first and never negative, (n, 4).
    """

    translations_m: Array
    wxyz: Array

    @classmethod
    def from_rows(cls, translations_m: ArrayLike, wxyz: ArrayLike) -> PoseArray:
        """Return the poses of translations and quaternions.

        Args:
            translations_m: Translations, (n, 3), m.
            wxyz: Quaternions, scalar first, (n, 4).

        Raises:
            ValueError: The shapes differ from these, a number is not finite, or the norm of a quaternion is off one by
                more than ``UNIT_TOLERANCE``.
        """
        places, turns = frozen(translations_m), np.array(wxyz, dtype=np.float64)
        if places.ndim != 2 or places.shape[1] != 3 or turns.shape != (len(places), 4):
            raise ValueError(
                f"translations have the shape {places.shape} and quaternions {turns.shape}; give (n, 3) and (n, 4)"
            )
        norms = np.linalg.norm(turns, axis=1)
        is_good = np.isfinite(places).all(axis=1) & (np.abs(norms - 1.0) <= UNIT_TOLERANCE)
        if not is_good.all():
            at = int(np.argmin(is_good))
            raise ValueError(
                f"pose {at} has translation {places[at].tolist()} and quaternion {turns[at].tolist()}; "
                "give finite numbers, and a quaternion of norm 1"
            )
        turns /= np.where(turns[:, 0] < 0.0, -norms, norms)[:, None]
        turns.setflags(write=False)
        return cls(places, turns)

    @classmethod
    def of(cls, poses: Iterable[Pose]) -> PoseArray:
        """Return poses as arrays; a ``PoseArray`` as it is.

        Args:
            poses: The poses.
        """
        if isinstance(poses, cls):
            return poses
        items = list(poses)
        places = np.array([p.translation_m for p in items]).reshape(-1, 3)
        return cls(places, np.array([p.rotation.wxyz for p in items]).reshape(-1, 4))

    def __len__(self) -> int:
        """Return the number of poses."""
        return len(self.translations_m)

    @overload
    def __getitem__(self, at: int) -> Pose: ...
    @overload
    def __getitem__(self, at: slice) -> PoseArray: ...

    def __getitem__(self, at: int | slice) -> Pose | PoseArray:
        """Return one pose, or some of them.

        Args:
            at: Index or slice.

        Raises:
            IndexError: There is no such pose.
        """
        if isinstance(at, slice):
            return PoseArray(self.translations_m[at], self.wxyz[at])
        return Pose(Rotation(frozen(self.wxyz[at])), frozen(self.translations_m[at]))


_NO_TURN = Rotation.from_wxyz((1.0, 0.0, 0.0, 0.0))
_NO_MOTION = Pose.of((0.0, 0.0, 0.0))
