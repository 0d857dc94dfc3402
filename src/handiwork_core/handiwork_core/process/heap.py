"""Keeps large arrays out of the heap of a process that runs for days. No ROS."""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Numbers of the options in ``malloc.h`` of glibc."""
LARGE_BYTES = 1 << 20
"""Blocks from this size on have their own pages, which go back to the system when they are freed."""
SPARE_BYTES = 32 << 20
"""Free memory that may stay at the end of the heap; with less, a planner takes and returns it in each request."""


def give_large_blocks_back() -> bool:
    """Fix the size from which a block of memory has its own pages.

    glibc begins with 128 kB, but raises it to the size of every larger block that is freed, up to 32 MB. From then on
    large arrays lie in the heap between small objects, and what is freed is not returned.

    Returns:
        False where the C library has no such options.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return all(
        mallopt(option, size) == 1
        for option, size in ((M_MMAP_THRESHOLD, LARGE_BYTES), (M_TRIM_THRESHOLD, SPARE_BYTES))
    )
