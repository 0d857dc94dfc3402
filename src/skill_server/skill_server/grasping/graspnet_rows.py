"""Grasp annotations in GraspNet rows: reads .npy files, and turns rows into EE poses in the object's frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from handiwork_core.intake.limits import GRASP_FILE_BYTES
from handiwork_core.intake.regular_files import FileRefused, check_file
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import GripperSpec
from skill_server.geometry.orientation_cones import Mask

COLUMNS = (16, 17)
MOST_ROWS = 200_000
ROTATION_TOLERANCE = 1e-3


class GraspFileError(ValueError):
    """The file is no annotation; the message is one sentence with the file, the fault and the correction."""


@dataclass(frozen=True, slots=True, eq=False)
class Annotated:
    """Grasps of an object, in its frame.

    Attributes:
        turns: Rotations of the EE, (n, 3, 3).
        positions: Positions of the EE, (n, 3), m.
        tcp: Positions of the TCP, (n, 3), m.
        score: Score, (n,); lower is better.
        width: Distance between the pads on the scaled object, (n,), m.
    """

    turns: Array
    positions: Array
    tcp: Array
    score: Array
    width: Array


@dataclass(frozen=True, slots=True)
class RatioRange:
    """Keeps grasps whose TCP is between two ratios of the range along an axis of the object.

    Attributes:
        axis: 0, 1 or 2.
        low: Least ratio.
        high: Greatest ratio.
    """

    axis: int
    low: float
    high: float


def read_rows(path: Path) -> Array:
    """Read an annotation file.

    Args:
        path: File in the .npy format.

    Returns:
        Rows (n, 16), read-only: score, width, height, depth, rotation (9, row-major), translation (3) [m].

    Raises:
        GraspFileError: The file does not exist, is not an array of 16 or 17 columns, or holds numbers that are no
            grasps.
    """
    try:
        check_file(path, GRASP_FILE_BYTES)
        stamp = path.stat()
    except FileRefused as error:
        raise GraspFileError(f"{path}: {error}") from error
    except OSError as error:
        raise GraspFileError(f"{path}: cannot be read ({error.strerror}); name a .npy file") from error
    return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=32)
def _read(path: Path, _changed_ns: int, _size: int) -> Array:
    try:
        # Mapped, so that a wrong header cannot claim memory; never pickled, which could run code.
        raw = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise GraspFileError(f"{path}: is no plain .npy array ({error}); save it with numpy.save") from error
    if not isinstance(raw, np.ndarray):
        raise GraspFileError(f"{path}: is an archive of arrays; save the rows alone with numpy.save")
    if raw.ndim != 2 or raw.shape[1] not in COLUMNS or not 1 <= len(raw) <= MOST_ROWS:
        shape = f"1 to {MOST_ROWS} rows of 16 or 17 numbers"
        raise GraspFileError(f"{path}: has shape {raw.shape}; a grasp annotation has {shape}")
    if raw.dtype.kind not in "fiu":
        raise GraspFileError(f"{path}: holds {raw.dtype}; save real numbers")
    rows = np.array(raw[:, :16], dtype=np.float64)
    _check(path, rows)
    rows.setflags(write=False)
    return rows


def _check(path: Path, rows: Array) -> None:
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise GraspFileError(f"{path}: row {int(np.argmin(finite))} is not finite; correct or drop it")
    turns = rows[:, 4:13].reshape(-1, 3, 3)
    gram = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    good = (gram < ROTATION_TOLERANCE) & (np.linalg.det(turns) > 0.0)
    if not good.all():
        i = int(np.argmin(good))
        raise GraspFileError(f"{path}: columns 4 to 12 of row {i} are no rotation matrix; correct or drop it")
    if float(rows[:, 1].min()) < 0.0:
        raise GraspFileError(
            f"{path}: row {int(np.argmin(rows[:, 1]))} has a negative width; correct or drop it"
        )


def annotated(
    rows: Array,
    gripper: GripperSpec,
    *,
    grasp_scale: float = 1.0,
    tcp_offset_m: float | None = None,
    part: RatioRange | None = None,
    extra_depth: Callable[[Array], Array] | None = None,
) -> Annotated:
    """Return the grasps of the rows as they are, then each turned by 180 degrees about the approach.

    Formulas: SimBox format.

    Args:
        rows: Rows of an annotation, (n, 16 or more).
        gripper: Parallel gripper.
        grasp_scale: Scale of the object against the annotated one: it multiplies positions and widths, not depths.
        tcp_offset_m: Distance of the TCP from the EE, m; None: that of the gripper.
        part: Part of the object to grasp; None: all of it.
        extra_depth: Maps widths, clipped to the gripper's, to additional insertion, m; None: none.

    Returns:
        The grasps, twice as many as rows are kept.
    """
    tcp = rows[:, 13:16] * grasp_scale
    if part is not None:
        keep = within_part(tcp, part)
        rows, tcp = rows[keep], tcp[keep]
    n = len(rows)
    turns = np.empty((2, n, 3, 3))
    turns[0] = (rows[:, 4:13].reshape(-1, 3) @ gripper.R_ee_graspnet.T).reshape(-1, 3, 3)
    signs = -np.ones(3)
    signs[gripper.ee_axis] = 1.0
    np.multiply(turns[0], signs, out=turns[1])
    depth = rows[:, 3]
    if extra_depth is not None:
        depth = depth + extra_depth(np.clip(rows[:, 1], gripper.min_width_m, gripper.max_width_m))
    offset = gripper.tcp_offset_m if tcp_offset_m is None else tcp_offset_m
    positions = tcp + turns[0, :, :, gripper.ee_axis] * (depth - offset)[:, None]
    return Annotated(
        turns.reshape(-1, 3, 3),
        np.concatenate([positions, positions]),
        np.concatenate([tcp, tcp]),
        np.concatenate([rows[:, 0], rows[:, 0]]),
        np.concatenate([rows[:, 1], rows[:, 1]]) * grasp_scale,
    )


def depth_table(gripper: GripperSpec) -> Callable[[Array], Array] | None:
    """Return the gripper's extra depths as a cubic over the width, constant beyond its ends.

    Args:
        gripper: Parallel gripper.

    Returns:
        Maps widths (n,) to depths (n,), m; None when the gripper has none.
    """
    if not gripper.extra_depth:
        return None
    widths, depths = np.array(gripper.extra_depth).T
    spline = CubicSpline(widths, depths)
    return lambda asked: np.asarray(spline(np.clip(asked, widths[0], widths[-1])))


def within_part(tcp: Array, part: RatioRange) -> Mask:
    """Check which points are between two ratios of their range, ends included in spite of round-off.

    Args:
        tcp: Points in the object's frame, (n, 3), m.
        part: Axis and ratios.

    Returns:
        Mask, (n,).
    """
    values = tcp[:, part.axis]
    least, span = float(values.min(initial=np.inf)), float(np.ptp(values)) if len(values) else 0.0
    slack = 1e-9 * max(span, 1e-9)
    low, high = least + part.low * span - slack, least + part.high * span + slack
    if part.low > part.high:
        return np.zeros(len(values), dtype=np.bool_)
    return np.asarray((values >= low) & (values <= high))
