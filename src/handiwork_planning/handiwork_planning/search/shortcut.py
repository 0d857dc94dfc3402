"""Shorten a path of straight joint motions: skip way points, then cut between random points of it."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.motion_check import edge_is_free
from handiwork_planning.kernels.borrowed_ref import borrowed
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.rng import State, uniform


@kernel
def skip(c: Checker, path: Array) -> Array:
    """Return only the way points that are needed, longest skip first; both ends are kept.

    Args:
        c: Robot, world and margins.
        path: Way points, (k, n), rad or m.
    """
    c = borrowed(c)
    k, n = path.shape
    hit = np.zeros(2, dtype=np.int64)
    out = np.empty((k, n))
    out[0] = path[0]
    count, i = 1, 0
    while i < k - 1:
        j = k - 1
        while j > i + 1 and not edge_is_free(c, path[i], path[j], hit):
            j -= 1
        out[count] = path[j]
        count, i = count + 1, j
    return out[:count].copy()


@kernel
def _point(path: Array, ends: Array, s: float, out: Array) -> int:
    """Compute the point ``out`` (n,) at length ``s``, and return its segment.

    ``ends`` (k,) are lengths up to each way point.
    """
    i = 0
    while i < len(ends) - 2 and ends[i + 1] < s:
        i += 1
    t = (s - ends[i]) / max(ends[i + 1] - ends[i], 1.0e-12)
    for j in range(path.shape[1]):
        out[j] = path[i, j] + t * (path[i + 1, j] - path[i, j])
    return i


@kernel
def cut(c: Checker, path: Array, tries: int, state: State) -> Array:
    """Replace pieces between two random points by straight motions if these are free (Geraerts, Overmars 2007).

    Args:
        c: Robot, world and margins.
        path: Way points, (k, n), rad or m.
        tries: Number of pieces that are tried.
        state: Random numbers; it is advanced.

    Returns:
        Way points, (l, n), rad or m.
    """
    c, state = borrowed(c), borrowed(state)
    n = path.shape[1]
    hit = np.zeros(2, dtype=np.int64)
    a, b = np.empty(n), np.empty(n)
    for _ in range(tries):
        k = len(path)
        if k < 3:
            break
        ends = np.zeros(k)
        for i in range(1, k):
            ends[i] = ends[i - 1] + np.sqrt(np.sum((path[i] - path[i - 1]) ** 2))
        s, t = uniform(state) * ends[k - 1], uniform(state) * ends[k - 1]
        if s > t:
            s, t = t, s
        i, j = _point(path, ends, s, a), _point(path, ends, t, b)
        if i == j or not edge_is_free(c, a, b, hit):
            continue
        fresh = np.empty((i + 3 + k - 1 - j, n))
        fresh[: i + 1] = path[: i + 1]
        fresh[i + 1], fresh[i + 2] = a, b
        fresh[i + 3 :] = path[j + 1 :]
        path = fresh
    return path


@kernel
def shorten(c: Checker, path: Array, tries: int, state: State) -> Array:
    """Skip way points, cut, and skip the way points that cutting has made needless.

    Args:
        c: Robot, world and margins.
        path: Way points, (k, n), rad or m.
        tries: Number of pieces that are tried.
        state: Random numbers; it is advanced.

    Returns:
        Way points, (l, n), rad or m.
    """
    path = skip(c, path)
    if len(path) > 2:
        path = skip(c, cut(c, path, tries, state))
    return path
