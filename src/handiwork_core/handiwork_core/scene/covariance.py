"""The covariance of a measured pose: x, y, z [m], then the rotation about the fixed axes x, y, z of world [rad]."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import Array, frozen

SIZE = 6
RELATIVE = 1e-6
"""Relative error up to which a matrix counts as symmetric and without negative variances."""


class Deviation(NamedTuple):
    """Standard deviations of a pose along the axes where they are greatest.

    Attributes:
        position_m: That of the position, m.
        rotation_rad: That of the rotation, rad.
    """

    position_m: float
    rotation_rad: float


def read_covariance(values: ArrayLike) -> Array | None:
    """Return a covariance from its numbers.

    Args:
        values: Nothing, or 36 numbers, row-major: see the head of the file.

    Returns:
        (6, 6), exactly symmetric; None for an exact pose: no numbers, or only zeros.

    Raises:
        ValueError: There is another count of numbers, one is not finite, the matrix is not symmetric, or a variance is
            negative, also one along another direction than the axes. The message is the end of a sentence.
    """
    numbers = np.asarray(values, dtype=np.float64).ravel()
    if not numbers.any() and numbers.size in (0, SIZE * SIZE):
        return None
    if numbers.size != SIZE * SIZE:
        raise ValueError(f"has {numbers.size} numbers; send 36, row by row, or none for an exact pose")
    if not np.isfinite(numbers).all():
        at = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"holds {numbers[at]} at {at}; send finite numbers, or none for an exact pose")
    matrix: Array = numbers.reshape(SIZE, SIZE)
    worst = int(matrix.diagonal().argmin())
    if matrix[worst, worst] < 0.0:
        text = f"has variance {matrix[worst, worst]:g} at ({worst}, {worst})"
        raise ValueError(f"{text}; send variances of 0 or more, and no object whose pose is not known")
    off = np.abs(matrix - matrix.T)
    scale, correlation = _scaled(matrix)
    if (off > RELATIVE * np.outer(scale, scale)).any():
        i, j = divmod(int(off.argmax()), SIZE)
        text = f"has {matrix[i, j]:g} at ({i}, {j}) and {matrix[j, i]:g} at ({j}, {i})"
        raise ValueError(f"{text}; send a symmetric matrix")
    least = float(np.linalg.eigvalsh(correlation)[0])
    if least < -RELATIVE:
        text = f"has a negative variance in some direction, its correlations have the eigenvalue {least:.3g}"
        raise ValueError(f"{text}; send a matrix that is positive semidefinite")
    return frozen(0.5 * (matrix + matrix.T))


def read_covariances(rows: Array) -> list[Array | None] | None:
    """Return many covariances from their numbers, much faster than one after the other.

    Args:
        rows: Row-major numbers, (n, 36).

    Returns:
        What ``read_covariance`` returns of each; None where it may refuse one, which it explains.
    """
    matrices = rows.reshape(-1, SIZE, SIZE)
    variances = np.diagonal(matrices, axis1=1, axis2=2)
    if not np.isfinite(rows).all() or (variances < 0.0).any():
        return None
    scale = np.sqrt(variances)
    turned = matrices.transpose(0, 2, 1)
    if (np.abs(matrices - turned) > RELATIVE * scale[:, :, None] * scale[:, None, :]).any():
        return None
    symmetric: Array = 0.5 * (matrices + turned)
    sure = np.where(scale > 0.0, scale, 1.0)
    correlations = symmetric / (sure[:, :, None] * sure[:, None, :])
    try:
        # A factor exists where no eigenvalue is below minus the tolerance.
        np.linalg.cholesky(correlations + RELATIVE * np.eye(SIZE))
    except np.linalg.LinAlgError:
        return None
    symmetric.setflags(write=False)
    return [
        one if any_ else None
        for one, any_ in zip(symmetric, np.asarray(rows.any(axis=1)).tolist(), strict=True)
    ]


def deviation_of(covariance: Array) -> Deviation:
    """Return the standard deviations of position and rotation.

    Args:
        covariance: (6, 6).
    """
    greatest = (np.linalg.eigvalsh(covariance[part, part])[-1] for part in (slice(0, 3), slice(3, 6)))
    return Deviation(*(math.sqrt(max(0.0, float(value))) for value in greatest))


def factor_of(covariance: Array) -> Array:
    """Return a matrix F with F F^T = covariance, (6, 6); one without an inverse has one too.

    Args:
        covariance: (6, 6), positive semidefinite.
    """
    scale, correlation = _scaled(covariance)
    values, vectors = np.linalg.eigh(correlation)
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def _scaled(matrix: Array) -> tuple[Array, Array]:
    """Return standard deviations and correlations: metres and radians may differ by orders of magnitude."""
    scale = np.sqrt(matrix.diagonal())
    sure = np.where(scale > 0.0, scale, 1.0)
    return scale, 0.5 * (matrix + matrix.T) / np.outer(sure, sure)
