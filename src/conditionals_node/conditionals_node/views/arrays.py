"""Arrays of other libraries as arrays of NumPy, without a copy where that is possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array


def numbers_of(values: Any, name: str) -> Array:  # noqa: ANN401 - anything that holds numbers
    """Return numbers as a contiguous array of float64.

    Args:
        values: An array of NumPy, an array in the memory of the processor of any library that exports DLPack (torch,
            warp, jax), or nested sequences.
        name: Name of the values, for the error.

    Returns:
        The same memory for contiguous float64; else a copy, as float64.

    Raises:
        ValueError: The array is not in the memory of the processor, or cannot be exported; names it.
    """
    if not isinstance(values, np.ndarray) and hasattr(values, "__dlpack__"):
        if hasattr(values, "resolve_neg"):
            # torch exports a view with a pending minus, such as t.conj().imag, without the minus.
            values = values.resolve_neg()
        try:
            values = np.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            text = "is no dense array of numbers in the memory of the processor, or needs a gradient"
            text = f"{text}; give values.detach().cpu(), and bfloat16 as float"
            raise ValueError(f"{name}: {text} ({error})") from error
    return np.ascontiguousarray(values, dtype=np.float64)
