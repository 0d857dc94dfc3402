"""Large blocks of memory in a process of its own, as seen by the C library."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MEASURE = """
import ctypes, sys
from handiwork_core.process.heap import give_large_blocks_back
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
if sys.argv[1] == "fixed":
    assert give_large_blocks_back()
bytearray(8_000_000)  # freed at once
before = libc.mallinfo2().hblks
kept = bytearray(4_000_000)
print(libc.mallinfo2().hblks - before)
"""


def own_pages(how: str) -> int:
    """Return how many blocks with pages of their own a large array takes after a larger one was freed."""
    run = subprocess.run([sys.executable, "-c", MEASURE, how], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="an option of glibc")
def test_a_large_array_has_pages_of_its_own_also_after_a_larger_one_was_freed() -> None:
    assert own_pages("fixed") == 1
    assert own_pages("as glibc adapts it") == 0
