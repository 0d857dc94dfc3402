"""The arm's collision spheres as cuRobo holds them, for one reading of the scene: gripper, held objects, exceptions."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.distance.sphere_cover import cover, patches
from handiwork_planning.scene.query import Query
from handiwork_planning.scene.robot_model import (
    Chain,
    bounding_sphere,
    fold,
    joint_values,
)

INFLATE_M = 0.0015
"""Spheres are larger by this in the world: more than our margin and what lies between two of cuRobo's looks."""
DEEP_M = 10.0
"""Links that the arm does not move count against other links only. Their radii are less by this, and negative radii
meet no obstacle; against other links cuRobo adds an offset, which is this."""
AWAY = np.array([0.0, 0.0, 0.0, -100.0])
"""A sphere that is off in both."""
HELD_SPHERES = 40
"""Places for what is held. Each costs time, also an empty one."""
COARSE_M = 0.012
"""How far, about, a sphere of the coarse cover stands out of what is held."""
CLEAR_M = 0.001


def self_offsets(robot: Robot, arm: ArmSpec, held: str) -> dict[str, float]:
    """What cuRobo adds to each link's radii against other links, so that those are what they are."""
    chain = _chain(robot, arm, ())
    offsets = {
        s.link: DEEP_M if chain.mounts[s.link].body == 0 else -INFLATE_M
        for s in robot.spheres
        if len(s.radii)
    }
    return {**offsets, held: -INFLATE_M}


class SphereSheet:
    """Rows (k, 4) for each link with spheres and for the link ``held``, in the links' frames [m]."""

    def __init__(self, robot: Robot, arm: ArmSpec, held: str) -> None:
        self._robot, self._arm, self._held_link = robot, arm, held
        self._home = _chain(robot, arm, ())
        self._chains: dict[tuple[tuple[str, float], ...], Chain] = {(): self._home}
        self._covers: dict[int, tuple[object, Array]] = {}
        self._last: tuple[object, dict[str, Array]] = (None, {})

    def rows(self, scene: SceneQuery, world: World, query: Query, places: Array) -> dict[str, Array]:
        """The spheres for a motion between ``places`` (k, n); what is too near there is smaller by as much."""
        touching = touching_at(query, places)
        held_at = [
            (id(world.objects[a.object]), a.link, a.link_T_object.matrix().tobytes()) for a in scene.attached
        ]
        key = (scene.gripper_m, held_at, scene.allowed, scene.ignored, touching)
        if key != self._last[0]:
            self._last = (key, self._made(scene, world, touching))
        return self._last[1]

    def _made(self, scene: SceneQuery, world: World, touching: dict[str, float]) -> dict[str, Array]:
        chain = self._at(scene.gripper_m)
        found = {
            s.link: self._link(s.link, s.centers, s.radii, chain) for s in self._robot.spheres if len(s.radii)
        }
        found[self._held_link] = self._held(scene, world, chain)
        for link, rows in found.items():
            depth = touching.get(f"{self._robot.name}/{link}", 0.0)
            if depth > 0.0:
                rows[:, 3] -= depth
        held = max((touching.get(a.object, 0.0) for a in scene.attached), default=0.0)
        if held > 0.0:
            rows = found[self._held_link]
            used = rows[:, 3] > 0.0
            rows[used, 3] = np.maximum(0.3 * rows[used, 3], rows[used, 3] - held - COARSE_M)
        for link in self._without_contact(scene, world):
            found[link][:] = AWAY
        return found

    def _link(self, link: str, centers: Array, radii: Array, chain: Chain) -> Array:
        """Spheres of ``link``, moved to where the gripper's position has them: cuRobo keeps the home position."""
        mount, home = chain.mounts[link], self._home.mounts[link]
        shift = np.linalg.solve(home.body_T_link, mount.body_T_link)
        moved = centers @ shift[:3, :3].T + shift[:3, 3]
        size = radii - DEEP_M if mount.body == 0 else radii + INFLATE_M
        return np.column_stack([moved, size])

    def _held(self, scene: SceneQuery, world: World, chain: Chain) -> Array:
        rows = np.tile(AWAY, (HELD_SPHERES, 1))
        ee = chain.mounts[self._arm.ee_link]
        parts = []
        for item in scene.attached:
            mount = chain.mounts.get(item.link)
            if mount is None or mount.body != ee.body:
                continue
            ee_T_object = np.linalg.solve(ee.body_T_link, mount.body_T_link) @ item.link_T_object.matrix()
            spheres = self._cover(item, world)
            parts.append(
                np.column_stack([spheres[:, :3] @ ee_T_object[:3, :3].T + ee_T_object[:3, 3], spheres[:, 3]])
            )
        if parts:
            few = coarse(np.concatenate(parts), HELD_SPHERES)
            rows[: len(few)] = few
            rows[: len(few), 3] += INFLATE_M
        return rows

    def _cover(self, item: Attachment, world: World) -> Array:
        solid = world.objects[item.object]
        if id(solid) not in self._covers:
            if len(self._covers) > 64:
                self._covers.clear()
            exact = np.concatenate([cover(shape) for shape in solid.shapes])
            self._covers[id(solid)] = (solid, coarse(exact, HELD_SPHERES))
        return self._covers[id(solid)][1]

    def _at(self, gripper_m: tuple[tuple[str, float], ...]) -> Chain:
        key = tuple(sorted((name, round(value, 6)) for name, value in gripper_m))
        if key not in self._chains:
            if len(self._chains) > 64:
                self._chains = {(): self._home}
            self._chains[key] = _chain(self._robot, self._arm, gripper_m)
        return self._chains[key]

    def _without_contact(self, scene: SceneQuery, world: World) -> set[str]:
        """Links to switch off for ``scene.allowed``: pairs with what ``objects_off`` does not take away."""
        gone, held = objects_off(scene, world), {a.object for a in scene.attached}
        names = {f"{self._robot.name}/{s.link}": s.link for s in self._robot.spheres if len(s.radii)}
        names |= dict.fromkeys(held, self._held_link)
        return {names[one] for pair in scene.allowed for one in pair if one in names and not gone & set(pair)}


def objects_off(scene: SceneQuery, world: World) -> set[str]:
    """Objects that are no obstacle to cuRobo: ignored, attached, or small ones that some link may touch.

    cuRobo knows no pairs of link and object. What it overlooks that way is seen when the motion is checked again.
    """
    held = {a.object for a in scene.attached}
    off = set(scene.ignored) | held
    for pair in scene.allowed:
        off |= {
            name for name in pair if name in world.objects and name not in held and _is_small(world, name)
        }
    return off


def touching_at(query: Query, places: Array) -> dict[str, float]:
    """By body, how far its spheres must shrink to be clear at ``places`` (k, n) [m]; those that are, are left out."""
    shapes = len(query.scene.kind)
    d = np.min([query.distances(np.ascontiguousarray(q), 0.01) for q in places], axis=0)
    nearest: dict[str, float] = {}
    for i, name in enumerate(query.bodies):
        if query.robot.group_body[i] > 0:
            nearest[name] = min(nearest.get(name, 1.0), float(d[i, :shapes].min(initial=1.0)))
    need = INFLATE_M + CLEAR_M
    return {name: need - gap for name, gap in nearest.items() if gap < need}


def coarse(spheres: Array, most: int) -> Array:
    """At most ``most`` spheres that cover ``spheres`` (k, 4)."""
    edge = 0.012
    while len(spheres) > most:
        parts = patches(spheres, edge)
        if len(parts) <= most:
            return np.array([bounding_sphere(part) for part in parts])
        edge *= 1.25
    return spheres


def _is_small(world: World, name: str, limit_m: float = 0.3) -> bool:
    """Does the object fit between the fingers and the wrist, so that little is lost when it is overlooked?"""
    corners = [
        0.5 * float(np.linalg.norm(s.size)) if s.vertices is None else float(np.ptp(s.vertices, axis=0).max())
        for s in world.objects[name].shapes
    ]
    return max(corners) < limit_m


def _chain(robot: Robot, arm: ArmSpec, gripper_m: tuple[tuple[str, float], ...]) -> Chain:
    return fold(robot, arm, Pose.identity(), joint_values(robot, gripper_m))
