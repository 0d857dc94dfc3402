"""The one decorator of all kernels: compiled once, cached on disk, run without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba  # type: ignore[import-untyped]

from handiwork_core.process.kernel_cache import prepare
from handiwork_core.process.kernel_index import follow_sources

F = TypeVar("F", bound=Callable[..., Any])

_FAST = {"nsz", "arcp", "contract", "reassoc"}
"""Floating-point freedoms taken: all but the ones that assume away nan and inf."""


def _postpone_blas() -> None:
    """Replace Numba's test for linear algebra while it is imported: the test loads scipy.linalg, which takes 0.15 s."""
    from numba.np import linalg  # type: ignore[import-untyped]

    ask, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # type: ignore[import-untyped]  # noqa: F401 - it tests when it is imported
    finally:
        linalg.ensure_blas = ask


CACHED = prepare(Path(__file__).parent, numba.config)
_postpone_blas()


def kernel(function: F) -> F:
    """Compile ``function`` with Numba on its first call; NUMBA_CACHE_DIR moves the cache.

    Import everything that it uses above it: Numba builds kernels into those that call them, but would look for changes
    in the caller's file only, and go on with the old versions of the others.

    Args:
        function: The function.
    """
    compiled = numba.njit(function, cache=CACHED, nogil=True, fastmath=_FAST, error_model="numpy")
    if CACHED:
        follow_sources(compiled)
    return cast(F, compiled)


def inlined(function: F) -> F:
    """Do the same for small functions that take many arrays: passing these would cost more than the function does.

    Args:
        function: The function; it is compiled into each caller.
    """
    options = {"nogil": True, "fastmath": _FAST, "error_model": "numpy", "forceinline": True}
    return cast(F, numba.njit(function, **options))
