"""Worlds that a measured one may be: its poses, moved by draws from their covariances. Pure.

The draws of an object depend on nothing but its name. So a probability does not flicker from snapshot to snapshot, and
equal worlds have equal probabilities.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

import numpy as np

from conditionals_node.views.batch_worlds import Poses, Worlds
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import ObjectState, World, WorldObject, with_parts
from handiwork_core.scene.covariance import factor_of

K = TypeVar("K")
SAMPLES = 128
"""Number of worlds that are drawn; a probability is a multiple of its inverse."""


def noisy_objects(world: World) -> frozenset[str]:
    """Return the objects whose poses are not exact.

    Args:
        world: The snapshot.
    """
    states = world.states.items()
    return frozenset(name for name, state in states if state.pose_covariance is not None)


@lru_cache(maxsize=1024)
def draws_of(name: str) -> Array:
    """Return the draws of one object from the normal distribution with mean 0 and variance 1.

    They come in pairs of opposite signs and are made uncorrelated, so that mean and covariance of the sample are exact.

    Args:
        name: The object.

    Returns:
        (SAMPLES, 6).
    """
    half = np.random.default_rng(zlib.crc32(name.encode())).normal(size=(SAMPLES // 2, 6))
    # The factor of the sample's own covariance turns it into the unit matrix.
    factor = np.linalg.cholesky(half.T @ half / len(half))
    found = np.linalg.solve(factor, half.T).T
    both: Array = np.concatenate([found, -found])
    both.setflags(write=False)
    return both


def drawn_poses(name: str, state: ObjectState) -> Poses:
    """Return the poses that an object may have.

    Args:
        name: The object.
        state: Its measured state, with a covariance.
    """
    assert state.pose_covariance is not None  # called for noisy objects only
    moved = draws_of(name) @ factor_of(state.pose_covariance).T
    pose = state.world_T_object
    return Poses(pose.translation_m + moved[:, :3], _turned(pose.rotation, moved[:, 3:]))


def drawn_worlds(world: World, names: Collection[str] | None = None) -> Worlds:
    """Return ``SAMPLES`` worlds that a measured one may be. The noises of different objects are independent.

    Args:
        world: The snapshot.
        names: Objects whose poses are read; None: all.
    """
    parts = {n: i.articulation.body for n, i in world.objects.items() if i.articulation is not None}
    wanted = None if names is None else {*names, *parts, *parts.values()}
    states = {n: s for n, s in world.states.items() if wanted is None or n in wanted}
    noisy = {name: drawn_poses(name, s) for name, s in states.items() if s.pose_covariance is not None}
    one = Worlds.of([replace(world, states=states)])
    return Worlds(
        objects=one.objects,
        poses={name: noisy.get(name) or _same(poses) for name, poses in one.poses.items()},
        velocities=_repeated(one.velocities),
        turn_rates=_repeated(one.turn_rates),
        forces=None if one.forces is None else _repeated(one.forces),
        touches=_repeated(one.touches),
        contact_points=_repeated(one.contact_points),
        joints={**_repeated(one.joints), **_parts(world.objects, states, noisy)},
        frames={name: _same(poses) for name, poses in one.frames.items()},
        stamps=np.full(SAMPLES, world.stamp_s),
    )


def drawn_one_by_one(world: World) -> list[World]:
    """Return the same worlds as snapshots, for predicates that decide one world at a time.

    Args:
        world: The snapshot.
    """
    drawn = {n: drawn_poses(n, s) for n, s in world.states.items() if s.pose_covariance is not None}
    found = []
    for i in range(SAMPLES):
        moved = {name: replace(world.states[name], world_T_object=_pose(p, i)) for name, p in drawn.items()}
        states = {**world.states, **moved}
        joints = (
            with_parts(world.joints, world.objects, states) if _has_parts(world.objects) else world.joints
        )
        found.append(replace(world, states=states, joints=joints))
    return found


def _turned(rotation: Rotation, by: Array) -> Array:
    """Return the quaternions wxyz (n, 4) of a rotation that is followed by others about the axes of world.

    Args:
        rotation: The rotation.
        by: Rotation vectors, (n, 3), rad.
    """
    half = 0.5 * np.linalg.norm(by, axis=1, keepdims=True)
    turns = np.concatenate([np.cos(half), 0.5 * by * np.sinc(half / np.pi)], axis=1)
    w, x, y, z = rotation.wxyz.tolist()
    # The product of quaternions is linear in the left one.
    product = np.array([(w, x, y, z), (-x, w, -z, y), (-y, z, w, -x), (-z, -y, x, w)])
    return np.asarray(turns @ product)


def _parts(
    objects: Mapping[str, WorldObject], states: Mapping[str, ObjectState], noisy: Mapping[str, Poses]
) -> dict[str, Array]:
    """Return the joint positions of parts whose poses, or whose bodies', are noisy."""
    found = {}
    for name, item in objects.items():
        joint = item.articulation
        if (
            joint is None
            or not {name, joint.body} <= states.keys()
            or noisy.keys().isdisjoint((name, joint.body))
        ):
            continue
        body, part = (
            [_pose(noisy[one], i) if one in noisy else states[one].world_T_object for i in range(SAMPLES)]
            for one in (joint.body, name)
        )
        found[name] = np.array([joint.position(b.inverse() @ p) for b, p in zip(body, part, strict=True)])
    return found


def _has_parts(objects: Mapping[str, WorldObject]) -> bool:
    return any(item.articulation is not None for item in objects.values())


def _pose(poses: Poses, row: int) -> Pose:
    return Pose.of(poses.position[row], Rotation.from_wxyz(poses.wxyz[row]))


def _same(poses: Poses) -> Poses:
    return Poses(np.repeat(poses.position, SAMPLES, axis=0), np.repeat(poses.wxyz, SAMPLES, axis=0))


def _repeated(rows: Mapping[K, Array]) -> dict[K, Array]:
    return {key: np.repeat(values, SAMPLES, axis=0) for key, values in rows.items()}
