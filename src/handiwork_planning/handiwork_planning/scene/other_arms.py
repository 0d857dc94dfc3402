"""Another arm in motion as groups of spheres that are fixed in the world and cover all places that it passes."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.distance.sphere_cover import patches
from handiwork_planning.kernels.arrays import DRIVER, PARENT, SLIDES

from .robot_model import Chain, SphereGroup

ARM_GAP_M = 0.008
"""Arms keep this distance from each other, m; it allows for how exactly each follows its path."""
STEP_M = 0.02
"""No sphere moves farther than about this between two samples of the way, m; half of it is added to its radius."""
CELL_M = 0.02
"""Spheres of a moving link whose centres share a cell of this size become one around them all."""
PATCH_M = 0.15
CHORD = 1.02
"""Largest ratio of the length of an arc to its chord, for the small turns between two samples."""


def swept(chain: Chain, groups: list[SphereGroup], q: Array) -> list[SphereGroup]:
    """Return groups that cover all places that the moving ``groups`` pass through.

    Every point of a sphere on the way lies in a sphere of the result, which is split so that its parts are small.

    Args:
        chain: The arm that moves.
        groups: Bodies of the chain; those of body 0 are left out.
        q: Its way, (k, n), rad or m, straight between rows.

    Returns:
        Groups in the world frame; none without a way.
    """
    moving = [g for g in groups if g.body > 0]
    if not len(q) or not moving:
        return []
    q = _refined(chain, moving, q)
    frames = _frames(chain, q)
    return [
        SphereGroup(g.name, g.link, 0, part, other=True)
        for g in moving
        for part in patches(_covered(_placed(frames[g.body], g), g.spheres[:, 3]), PATCH_M)
    ]


def coarse(spheres: Array) -> Array:
    """Return fewer spheres that cover ``spheres``: one for each cell with a centre in it.

    Args:
        spheres: Centres and radii, (k, 4), m.

    Returns:
        Centres and radii, (m, 4), m.
    """
    cells = np.floor(spheres[:, :3] / CELL_M).astype(np.int64)
    _, owner = np.unique(cells, axis=0, return_inverse=True)
    owner = owner.ravel()
    count = np.bincount(owner)
    centres = np.stack([np.bincount(owner, spheres[:, i]) / count for i in range(3)], axis=1)
    radii = np.zeros(len(count))
    np.maximum.at(radii, owner, spheres[:, 3] + np.linalg.norm(spheres[:, :3] - centres[owner], axis=1))
    return np.column_stack([centres, radii])


def _refined(chain: Chain, groups: list[SphereGroup], q: Array) -> Array:
    """Return rows (m, n) with more between them, so that no sphere moves by more than about ``STEP_M`` per row."""
    if len(q) < 2:
        return q
    frames = _frames(chain, q)
    steps = np.zeros(len(q) - 1)
    for g in groups:
        moved = np.linalg.norm(np.diff(_placed(frames[g.body], g), axis=0), axis=2)
        steps = np.maximum(steps, moved.max(axis=1))
    counts = np.maximum(1, np.ceil(steps / STEP_M)).astype(np.int64)
    i = np.repeat(np.arange(len(counts)), counts)
    u = (np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[i]
    return np.concatenate([q[i] + u[:, None] * (q[i + 1] - q[i]), q[-1:]])


def _frames(chain: Chain, q: Array) -> list[Array]:
    """Return world poses (k, 4, 4) of all bodies."""
    frames = [np.broadcast_to(np.eye(4), (len(q), 4, 4))]
    for j, row in enumerate(chain.transforms):
        zero, motion = np.eye(4), np.tile(np.eye(4), (len(q), 1, 1))
        zero[:3, :3], zero[:3, 3] = row[:9].reshape(3, 3), row[9:]
        at = chain.ratio[j] * q[:, chain.joints[j, DRIVER]]
        if chain.joints[j, SLIDES]:
            motion[:, 2, 3] = at
        else:
            c, s = np.cos(at), np.sin(at)
            motion[:, 0, 0], motion[:, 0, 1], motion[:, 1, 0], motion[:, 1, 1] = c, -s, s, c
        frames.append(frames[chain.joints[j, PARENT]] @ zero @ motion)
    return frames


def _placed(frames: Array, group: SphereGroup) -> Array:
    """Return the centres (k, s, 3) in the world."""
    centres = group.spheres[:, :3] @ frames[:, :3, :3].transpose(0, 2, 1)
    return np.asarray(centres + frames[:, None, :3, 3])


def _covered(centres: Array, radii: Array) -> Array:
    """Return spheres (m, 4) that cover spheres with ``centres`` (k, s, 3) and ``radii`` (s,), also between the rows."""
    if len(centres) == 1:
        return np.column_stack([centres[0], radii])
    half = 0.5 * CHORD * np.linalg.norm(np.diff(centres, axis=0), axis=2)
    reach = np.zeros(centres.shape[:2])
    reach[:-1] = half
    reach[1:] = np.maximum(reach[1:], half)
    return coarse(np.column_stack([centres.reshape(-1, 3), (radii + reach).ravel()]))
