"""Statistics of features as LeRobot stores them: of each episode, and of all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Stats = dict[str, NDArray[Any]]

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}


def of_rows(rows: NDArray[Any], count: int | None = None) -> Stats:
    """Return the statistics of the columns of an array.

    Args:
        rows: Values, (n, d).
        count: Number that is noted as ``count``; None: n.
    """
    values = np.asarray(rows, dtype=np.float64)
    found = {
        "min": values.min(axis=0),
        "max": values.max(axis=0),
        "mean": values.mean(axis=0),
        "std": values.std(axis=0),
        "count": np.array([len(values) if count is None else count], dtype=np.int64),
    }
    cuts = np.quantile(values, list(QUANTILES.values()), axis=0)
    return {**found, **dict(zip(QUANTILES, cuts, strict=True))}


def of_frames(frames: Sequence[NDArray[np.uint8]]) -> Stats:
    """Return the statistics of the channels of pictures, 0 to 1.

    Args:
        frames: The pictures, each (height, width, 3).

    Returns:
        Values of shape (3, 1, 1); ``count`` is the number of pictures.
    """
    rows = np.concatenate([frame.reshape(-1, 3) for frame in frames]) / 255.0
    found = of_rows(rows, len(frames))
    return {name: value if name == "count" else value.reshape(3, 1, 1) for name, value in found.items()}


def together(parts: Sequence[Stats]) -> Stats:
    """Return the statistics of all episodes from those of each; quantiles are weighted means.

    Args:
        parts: Statistics of the episodes.
    """
    weights = np.array([float(part["count"][0]) for part in parts])
    weights /= weights.sum()

    def mean(name: str) -> NDArray[np.float64]:
        stacked = np.stack([part[name] for part in parts])
        return np.asarray(np.tensordot(weights, stacked, axes=1), dtype=np.float64)

    centre = mean("mean")
    spread = np.stack([part["std"] ** 2 + (part["mean"] - centre) ** 2 for part in parts])
    return {
        "min": np.min([part["min"] for part in parts], axis=0),
        "max": np.max([part["max"] for part in parts], axis=0),
        "mean": centre,
        "std": np.sqrt(np.tensordot(weights, spread, axes=1)),
        "count": np.sum([part["count"] for part in parts], axis=0),
        **{name: mean(name) for name in QUANTILES if name in parts[0]},
    }
