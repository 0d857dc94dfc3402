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
"""Spheres are larger by this against the world: more than our margin and the motion between two of cuRobo's samples."""
DEEP_M = 10.0
"""Links that the arm does not move are checked against other links only. Their radii are less by this, and spheres of
negative radius meet no obstacle; against other links cuRobo adds an offset of this size."""
AWAY = np.array([0.0, 0.0, 0.0, -100.0])
"""A sphere that meets neither obstacles nor links."""
HELD_SPHERES = 40
"""The number of spheres for held objects. Each costs time, also an unused one."""
FEW_HELD_SPHERES = 12
"""The same beside the coarse set of the robot's spheres."""
COARSE_M = 0.012
"""The distance, about, by which a sphere of the coarse cover reaches out of the held object."""
CLEAR_M = 0.001


def self_offsets(robot: Robot, arm: ArmSpec, held: str) -> dict[str, float]:
    """Return the offsets that cuRobo adds to radii against other links, so that those have their true size.

    Args:
        robot: The robot.
        arm: The arm that plans.
        held: Link of the arm that carries the spheres of held objects.

    Returns:
        Link -> offset in m.
    """
    chain = _chain(robot, arm, ())
    offsets = {
        s.link: DEEP_M if chain.mounts[s.link].body == 0 else -INFLATE_M
        for s in robot.spheres
        if len(s.radii)
    }
    return {**offsets, held: -INFLATE_M}


class SphereSheet:
    """The spheres of each link with spheres, and of the link ``held``, in the links' frames.

    Args:
        robot: The robot.
        arm: The arm that plans.
        held: Link of the arm that carries the spheres of held objects.
        held_spheres: Number of spheres for held objects.
    """

    def __init__(self, robot: Robot, arm: ArmSpec, held: str, held_spheres: int = HELD_SPHERES) -> None:
        self._most = held_spheres
        self._robot, self._arm, self._held_link = robot, arm, held
        self._home = _chain(robot, arm, ())
        self._chains: dict[tuple[tuple[str, float], ...], Chain] = {(): self._home}
        self._covers: dict[str, tuple[object, Array]] = {}
        """The key is the object's name, so that the solid of an older version of the world is not kept."""
        self._last: tuple[object, dict[str, Array]] = (None, {})

    def rows(self, scene: SceneQuery, world: World, query: Query, places: Array) -> dict[str, Array]:
        """Return the spheres for a motion; those that are too near to something at its ends are smaller by as much.

        Args:
            scene: The request's scene.
            world: The world.
            query: The reading of the scene for the arm.
            places: Joint positions at the start and the ends, (k, n), rad or m; without any no sphere is smaller.

        Returns:
            Link -> centres and radii in the link's frame, (s, 4), m.
        """
        touching = touching_at(query, places) if len(places) else {}
        # The solids themselves, which compare by identity: id() of one that was freed may belong to the next one.
        held_at = [
            (world.objects[a.object], a.link, a.link_T_object.matrix().tobytes()) for a in scene.attached
        ]
        named = [world.objects.get(name) for pair in sorted(scene.allowed) for name in pair]
        key = (scene.gripper_m, held_at, scene.allowed, named, scene.ignored, touching)
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
        """Return the spheres of ``link``, moved for the gripper's position: cuRobo keeps the gripper at home."""
        mount, home = chain.mounts[link], self._home.mounts[link]
        shift = np.linalg.solve(home.body_T_link, mount.body_T_link)
        moved = centers @ shift[:3, :3].T + shift[:3, 3]
        size = radii - DEEP_M if mount.body == 0 else radii + INFLATE_M
        return np.column_stack([moved, size])

    def _held(self, scene: SceneQuery, world: World, chain: Chain) -> Array:
        rows = np.tile(AWAY, (self._most, 1))
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
            few = coarse(np.concatenate(parts), self._most)
            rows[: len(few)] = few
            rows[: len(few), 3] += INFLATE_M
        return rows

    def _cover(self, item: Attachment, world: World) -> Array:
        solid = world.objects[item.object]
        known = self._covers.get(item.object)
        if known is None or known[0] is not solid:
            if len(self._covers) > 64:
                self._covers.clear()
            exact = np.concatenate([cover(shape) for shape in solid.shapes])
            known = self._covers[item.object] = (solid, coarse(exact, self._most))
        return known[1]

    def _at(self, gripper_m: tuple[tuple[str, float], ...]) -> Chain:
        key = tuple(sorted((name, round(value, 6)) for name, value in gripper_m))
        if key not in self._chains:
            if len(self._chains) > 64:
                self._chains = {(): self._home}
            self._chains[key] = _chain(self._robot, self._arm, gripper_m)
        return self._chains[key]

    def _without_contact(self, scene: SceneQuery, world: World) -> set[str]:
        """Return links to switch off for ``scene.allowed``: those in pairs that ``objects_off`` does not cover."""
        gone, held = objects_off(scene, world), {a.object for a in scene.attached}
        names = {f"{self._robot.name}/{s.link}": s.link for s in self._robot.spheres if len(s.radii)}
        names |= dict.fromkeys(held, self._held_link)
        return {names[one] for pair in scene.allowed for one in pair if one in names and not gone & set(pair)}


def objects_off(scene: SceneQuery, world: World) -> set[str]:
    """Return the objects that are no obstacle to cuRobo: ignored, attached, or small ones that some link may touch.

    cuRobo has no exceptions for pairs of link and object. What it misses that way is found when the motion is
    checked again.

    Args:
        scene: The request's scene.
        world: The world.

    Returns:
        Names of objects.
    """
    held = {a.object for a in scene.attached}
    off = set(scene.ignored) | held
    for pair in scene.allowed:
        off |= {
            name for name in pair if name in world.objects and name not in held and _is_small(world, name)
        }
    return off


def touching_at(query: Query, places: Array) -> dict[str, float]:
    """Return by how much the spheres of bodies must shrink to be clear of the world and of each other.

    Args:
        query: The reading of the scene for the arm.
        places: Joint positions at which they must be clear, (k, n), rad or m.

    Returns:
        Body -> decrease of radius in m, without the bodies that are clear.
    """
    shapes = len(query.scene.kind)
    d = np.min([query.distances(np.ascontiguousarray(q), 0.01) for q in places], axis=0)
    nearest: dict[str, float] = {}
    for i, name in enumerate(query.bodies):
        if query.robot.group_body[i] > 0:
            nearest[name] = min(nearest.get(name, 1.0), float(d[i, :shapes].min(initial=1.0)))
    need = INFLATE_M + CLEAR_M
    found = {name: need - gap for name, gap in nearest.items() if gap < need}
    # Links of the fine set never overlap at an end of a motion; large spheres of a coarse one may.
    for i, k in zip(*np.nonzero(d[:, shapes:] < 0.0), strict=True):
        half = 0.5 * (CLEAR_M - float(d[i, shapes + k]))
        for name in (query.bodies[i], query.bodies[k]):
            found[name] = max(found.get(name, 0.0), half)
    return found


def coarse(spheres: Array, most: int) -> Array:
    """Cover spheres by fewer ones.

    Args:
        spheres: Centres and radii, (k, 4), m.
        most: The largest number of spheres to return.

    Returns:
        Centres and radii, (at most ``most``, 4), m.
    """
    edge = 0.012
    while len(spheres) > most:
        parts = patches(spheres, edge)
        if len(parts) <= most:
            return np.array([bounding_sphere(part) for part in parts])
        edge *= 1.25
    return spheres


def _is_small(world: World, name: str, limit_m: float = 0.3) -> bool:
    """Check whether the object fits between fingers and wrist, so that little is lost when it is ignored."""
    corners = [
        0.5 * float(np.linalg.norm(s.size)) if s.vertices is None else float(np.ptp(s.vertices, axis=0).max())
        for s in world.objects[name].shapes
    ]
    return max(corners) < limit_m


def _chain(robot: Robot, arm: ArmSpec, gripper_m: tuple[tuple[str, float], ...]) -> Chain:
    return fold(robot, arm, Pose.identity(), joint_values(robot, gripper_m))
