"""Processor time of other processes."""

from __future__ import annotations

import ctypes
import time


def processor_s(pid: int) -> float:
    """Return the processor time of a process so far, its own and the kernel's, with all threads that it has had, s.

    Args:
        pid: The process.

    Raises:
        ProcessLookupError: There is no such process.
    """
    clock = ctypes.c_int()
    # The clock of process 0 would be that of the caller.
    if pid <= 0 or ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise ProcessLookupError(f"there is no process {pid}; it has ended, or it never was")
    return time.clock_gettime(clock.value)
