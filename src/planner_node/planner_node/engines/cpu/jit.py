"""The one decorator of all kernels: compiled once, cached on disk, run without the GIL."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba  # type: ignore[import-untyped]

F = TypeVar("F", bound=Callable[..., Any])

_FAST = {"nsz", "arcp", "contract", "reassoc"}
"""Floating-point freedoms taken: not the ones that assume away nan and inf."""


def _ensure_cache_folder() -> None:
    """Point Numba at a writable cache where neither the package folder nor the user's cache folder is writable."""
    beside = Path(__file__).parent
    home_cache = Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))
    nearest = next(p for p in (home_cache, *home_cache.parents) if p.exists())
    if numba.config.CACHE_DIR or os.access(beside, os.W_OK) or os.access(nearest, os.W_OK):
        return
    numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="handiwork-numba-")


def _postpone_blas() -> None:
    """Let Numba take linear algebra for granted until a function uses it: asking loads scipy.linalg, for 0.15 s."""
    from numba.np import linalg  # type: ignore[import-untyped]

    ask, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # type: ignore[import-untyped]  # noqa: F401 - it asks when it is imported
    finally:
        linalg.ensure_blas = ask


_ensure_cache_folder()
_postpone_blas()


def kernel(function: F) -> F:
    """Compile ``function`` with Numba on its first call; NUMBA_CACHE_DIR moves the cache."""
    return cast(F, numba.njit(function, cache=True, nogil=True, fastmath=_FAST, error_model="numpy"))
