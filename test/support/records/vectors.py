"""Verdicts of another implementation as arrays; see test/data/conditionals/README.md."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from conditionals_node.batch import Poses, Worlds
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import (
    Contact,
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from support.paths import ROOT

DATA = ROOT / "test" / "data" / "conditionals"
SINGLE_PRECISION = 2e-6
"""Nearer to a boundary than this, the other implementation's verdict is round-off."""


@functools.cache
def load(name: str) -> Mapping[str, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as file:
        found = {key: file[key] for key in file.files}
    if "verdicts" in found:
        rows = len(next(values for key, values in found.items() if key.endswith("_pos")))
        bits = np.unpackbits(found["verdicts"], axis=1, count=rows).astype(bool)
        found |= dict(zip(found["verdict_names"].tolist(), bits, strict=True))
    return found


def mesh(name: str, points: np.ndarray) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.CONVEX, frozen(()), Pose.identity(), frozen(points)),))


def poses(data: Mapping[str, np.ndarray], name: str, rows: object = slice(None)) -> Poses:
    return Poses(data[f"{name}_pos"][rows], data[f"{name}_quat"][rows])


def single(worlds: Worlds, i: int) -> World:
    """Return one world of a batch."""
    still = np.zeros((worlds.n, 3))
    states = {
        name: ObjectState(
            Pose.of(p.position[i], Rotation.from_wxyz(p.wxyz[i])),
            frozen(worlds.velocities.get(name, still)[i]),
            frozen(worlds.turn_rates.get(name, still)[i]),
            0.0,
        )
        for name, p in worlds.poses.items()
    }
    contacts = None
    if worlds.forces is not None:
        touching = {pair: rows[i] for pair, rows in worlds.forces.items() if rows[i].any()}
        contacts = tuple(Contact(a, b, frozen(f), frozen(np.zeros(3))) for (a, b), f in touching.items())
    frames = {
        name: Pose.of(p.position[i], Rotation.from_wxyz(p.wxyz[i])) for name, p in worlds.frames.items()
    }
    stamp_s = 0.0 if worlds.stamps is None else float(worlds.stamps[i])
    return World(stamp_s, 0, worlds.objects, states, contacts, stamp_s, frames=frames)
