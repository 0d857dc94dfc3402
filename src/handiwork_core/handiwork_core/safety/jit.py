"""Compilation of the checks that run in every control period."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

from handiwork_core.process.kernel_index import follow_sources

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile a function at its first call and keep it on disk if a folder allows it.

    Import everything that it uses above it; see ``follow_sources``.

    Args:
        function: A function that Numba supports.

    Returns:
        The compiled function.
    """
    try:
        made: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # there is no writable folder for it
        plain: F = numba.njit(nogil=True, error_model="numpy")(function)
        return plain
    follow_sources(made)
    return made
