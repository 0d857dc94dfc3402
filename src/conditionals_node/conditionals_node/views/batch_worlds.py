"""Many worlds with the same objects, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.geometry import UNIT_TOLERANCE, Array
from handiwork_core.model.world import Contact, World, WorldObject
from handiwork_core.scene.bounds import hull_points

from .arrays import numbers_of

Pair = tuple[str, str]
EXACT = 1e-12
"""The error of a quaternion's norm up to which it is taken as it is, without a copy."""


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """The poses of one frame in world, one for each world.

    Attributes:
        position: (n, 3), m. A row of nan is a pose that is not known.
        wxyz: Unit quaternions, scalar first, (n, 4).

    Raises:
        ValueError: Wrong shapes, or a quaternion whose norm differs from one by more than ``UNIT_TOLERANCE``.
    """

    position: Array
    wxyz: Array

    def __post_init__(self) -> None:
        position, wxyz = _rows(self.position, 3, "position"), _rows(self.wxyz, 4, "wxyz")
        if len(position) != len(wxyz):
            raise ValueError(f"wxyz: has {len(wxyz)} rows for {len(position)} positions; make them equal")
        norm = np.linalg.norm(wxyz, axis=1)
        off = np.abs(norm - 1.0)
        wrong = np.flatnonzero(off > UNIT_TOLERANCE)
        if len(wrong):
            raise ValueError(
                f"wxyz: row {wrong[0]}, {wxyz[wrong[0]].tolist()}, has norm {norm[wrong[0]]:.4g}; make it 1"
            )
        object.__setattr__(self, "position", position)
        if (off > EXACT).any():
            wxyz = wxyz / norm[:, None]
        object.__setattr__(self, "wxyz", wxyz)


@dataclass(frozen=True, slots=True, eq=False)
class Worlds:
    """``n`` worlds. Geometry is shared, everything else has one row for each world; SI units, axes of world.

    Arrays may be of NumPy, or of any library that exports DLPack, such as torch, warp and jax; see ``numbers_of``.

    Attributes:
        objects: Geometry by object.
        poses: Poses by object.
        velocities: Linear velocities by object, (n, 3), m/s.
        turn_rates: Angular velocities by object, (n, 3), rad/s.
        forces: Net force on the first body of a pair from the second, (n, 3), N, as ``world/contacts`` has them;
            pairs that are left out have none. None: there is no contact source.
        touches: Sum of the sizes of the forces between the bodies of a pair, in either order, (n,), N, so that a
            squeeze does not cancel; the size of the net force counts for a pair that is left out.
        contact_points: Mean point of the contacts of a pair, in either order, (n, 3), m.
        joints: Measured positions by joint, (n,), rad or m.
        frames: Poses of frames that are no objects; "robot" is the robot's root link.
        sizes: Size of an object about its origin, relative to its geometry, (n,); 1 where left out.
        stamps: Time of each world, (n,), s.
        derived: Results that predicates share.

    Raises:
        ValueError: An array has another shape, or a size is not more than 0; the message names it.
    """

    objects: Mapping[str, WorldObject]
    poses: Mapping[str, Poses]
    velocities: Mapping[str, Array] = field(default_factory=dict)
    turn_rates: Mapping[str, Array] = field(default_factory=dict)
    forces: Mapping[Pair, Array] | None = None
    touches: Mapping[Pair, Array] = field(default_factory=dict)
    contact_points: Mapping[Pair, Array] = field(default_factory=dict)
    joints: Mapping[str, Array] = field(default_factory=dict)
    frames: Mapping[str, Poses] = field(default_factory=dict)
    sizes: Mapping[str, Array] = field(default_factory=dict)
    stamps: Array | None = None
    derived: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        n = self.n
        for name, poses in {**self.poses, **self.frames}.items():
            if len(poses.position) != n:
                raise ValueError(
                    f"poses of {name!r}: are {len(poses.position)} for {n} worlds; make them equal"
                )
        for key in ("velocities", "turn_rates", "forces", "contact_points"):
            given: Mapping[object, Array] | None = getattr(self, key)
            if given is not None:
                object.__setattr__(self, key, {k: _rows(v, 3, f"{key}[{k!r}]", n) for k, v in given.items()})
        for key in ("joints", "sizes", "touches"):
            columns = {name: numbers_of(v, f"{key}[{name!r}]") for name, v in getattr(self, key).items()}
            for name, values in columns.items():
                if values.shape != (n,):
                    raise ValueError(f"{key}[{name!r}]: has shape {values.shape}; make it ({n},)")
            object.__setattr__(self, key, columns)
        if self.stamps is not None:
            object.__setattr__(self, "stamps", numbers_of(self.stamps, "stamps"))
            if self.stamps.shape != (n,):
                raise ValueError(f"stamps: has shape {self.stamps.shape}; make it ({n},)")
        for name, sizes in self.sizes.items():
            if not (sizes > 0.0).all():
                raise ValueError(f"sizes[{name!r}]: holds {sizes.min()}; make all more than 0")

    @property
    def n(self) -> int:
        """The number of worlds."""
        some = next(iter({**self.poses, **self.frames}.values()), None)
        return len(some.position) if some else len(next(iter(self.joints.values()), ()))

    @classmethod
    def of(cls, worlds: Sequence[World]) -> Worlds:
        """Stack snapshots with the objects of the first.

        Contacts are summed for each pair; the worlds have a contact source if the first snapshot has one.

        Args:
            worlds: The snapshots, at least one. Values that one of them lacks are nan there.

        Returns:
            One row for each snapshot.

        Raises:
            ValueError: An object has another shape in one of the snapshots, not only another size.
        """
        first = worlds[0]
        forces, touches, points = _contacts(worlds)
        return cls(
            objects=first.objects,
            poses={name: _poses(worlds, name) for name in first.states},
            velocities={name: _vectors(worlds, name, "world_v_object") for name in first.states},
            turn_rates={name: _vectors(worlds, name, "world_w_object") for name in first.states},
            forces=None if first.contacts is None else forces,
            touches=touches,
            contact_points=points,
            joints={
                name: np.array([world.joints.position.get(name, np.nan) for world in worlds])
                for name in first.joints.position
            },
            frames={
                name: Poses(
                    np.array([world.frames[name].translation_m for world in worlds]),
                    np.array([world.frames[name].rotation.wxyz for world in worlds]),
                )
                for name in first.frames
            },
            sizes={name: sizes for name in first.objects if ((sizes := _sizes(worlds, name)) != 1.0).any()},
            stamps=np.array([world.stamp_s for world in worlds]),
        )


def _rows(values: ArrayLike, width: int, name: str, rows: int | None = None) -> Array:
    array = numbers_of(values, name)
    if array.ndim != 2 or array.shape[1] != width or rows not in (None, len(array)):
        raise ValueError(
            f"{name}: has shape {array.shape}; make it ({'n' if rows is None else rows}, {width})"
        )
    return array


def _poses(worlds: Sequence[World], name: str) -> Poses:
    nowhere, no_turn = np.full(3, np.nan), np.array([1.0, 0.0, 0.0, 0.0])
    states = [world.states.get(name) for world in worlds]
    return Poses(
        np.array([nowhere if s is None else s.world_T_object.translation_m for s in states]),
        np.array([no_turn if s is None else s.world_T_object.rotation.wxyz for s in states]),
    )


def _vectors(worlds: Sequence[World], name: str, key: str) -> Array:
    states = [world.states.get(name) for world in worlds]
    return np.array([np.full(3, np.nan) if state is None else getattr(state, key) for state in states])


def _sizes(worlds: Sequence[World], name: str) -> Array:
    """Return the size of an object relative to that in the first world."""
    base, found = worlds[0].objects[name], np.ones(len(worlds))
    for i, world in enumerate(worlds):
        item = world.objects.get(name, base)
        if item is not base:
            found[i] = _ratio(base, item)
            if np.isnan(found[i]):
                raise ValueError(f"object {name!r}: has another shape in world {i}; decide such worlds apart")
    return found


def _ratio(base: WorldObject, item: WorldObject) -> float:
    """Return how many times as large ``item`` is as ``base``; nan where it has another shape."""
    if [shape.kind for shape in base.shapes] != [shape.kind for shape in item.shapes]:
        return float("nan")
    a, b = _lengths(base), _lengths(item)
    if a.shape != b.shape or not np.linalg.norm(a) > 0.0:
        return 1.0 if np.array_equal(a, b) else float("nan")
    ratio = float(np.linalg.norm(b) / np.linalg.norm(a))
    return ratio if np.allclose(a * ratio, b, rtol=1e-9, atol=1e-12) else float("nan")


def _lengths(item: WorldObject) -> Array:
    """Return all numbers of an object's geometry that grow with it."""
    return np.concatenate(
        [np.zeros(0), *(np.concatenate([shape.size, hull_points(shape).ravel()]) for shape in item.shapes)]
    )


def _contacts(
    worlds: Sequence[World],
) -> tuple[dict[Pair, Array], dict[Pair, Array], dict[Pair, Array]]:
    """Return net forces, sums of the forces' sizes, and mean points of all pairs, row by row.

    Both orders of a pair are one pair here, as they are for a single world.
    """
    pairs = sorted({_pair(c) for world in worlds for c in world.contacts or ()})
    forces: dict[Pair, Array] = {pair: np.zeros((len(worlds), 3)) for pair in pairs}
    sizes: dict[Pair, Array] = {pair: np.zeros(len(worlds)) for pair in pairs}
    points = {pair: np.zeros((len(worlds), 3)) for pair in pairs}
    counts = {pair: np.zeros((len(worlds), 1)) for pair in pairs}
    for i, world in enumerate(worlds):
        for contact in world.contacts or ():
            pair = _pair(contact)
            force = contact.force_on_a_n
            forces[pair][i] += force if pair[0] == contact.a else -force
            sizes[pair][i] += np.linalg.norm(force)
            points[pair][i] += contact.point_m
            counts[pair][i] += 1.0
    with np.errstate(invalid="ignore"):
        means: dict[Pair, Array] = {pair: points[pair] / counts[pair] for pair in pairs}
    return forces, sizes, means


def _pair(contact: Contact) -> Pair:
    return (contact.a, contact.b) if contact.a <= contact.b else (contact.b, contact.a)
