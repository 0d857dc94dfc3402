"""The reading of robot and world for one request: which pairs count, and how far apart they must stay."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from handiwork_core.contracts.planning import Attachment, OtherArm, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.followers import links_moved_by
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.collision.batch_check import Checker
from handiwork_planning.collision.batch_checker import checker_of
from handiwork_planning.collision.exact_check import all_distances
from handiwork_planning.collision.motion_check import first_blocked
from handiwork_planning.distance.sphere_cover import cover, patches
from handiwork_planning.kernels.arrays import (
    OFF,
    Ints,
    RobotArrays,
    SceneArrays,
)

from .other_arms import ARM_GAP_M, swept
from .robot_model import Chain, SphereGroup, assemble, fold, joint_values, link_groups
from .scene import CollisionScene

LINK_MARGIN_M = 0.0007
"""Distance that robot links keep from objects, m: more than an edge test can miss (``batch_check.FINEST_M``)."""
FORESEEN_GAP_M = 0.005
"""Distance that links keep from an object which is attached to a link that does not move, m.

That is an object where it will be, which is known to this; see ``SAME_OBJECT_M``.
"""
LINK_TOUCH_M = 0.002
"""A link this deep in an object at the start counts as touching, m; the motion must not go deeper by TOUCH_SLACK_M."""
HELD_TOUCH_M = 0.005
"""The same for a held object, which rests on its support at the start of a lift."""
TOUCH_SLACK_M = 0.0005
ROUND_OFF_M = 2.0e-5
"""More than the error of float32 kernels, m."""


@dataclass(frozen=True, eq=False)
class Query:
    """Arrays for the kernels, for one SceneQuery.

    Attributes:
        robot: The arm as a chain, with its groups of spheres.
        scene: The shapes of the world.
        margins: Smallest allowed distance of each pair of group and column, (g, m + g), m.
        bodies: Names of the groups, (g,).
        columns: Names of the margin columns, (m + g,).
        held: Whether each group is an attached object, (g,) bool.
    """

    robot: RobotArrays
    scene: SceneArrays
    margins: Array
    bodies: tuple[str, ...]
    columns: tuple[str, ...]
    held: Array
    """(g,) bool: the group is an attached object."""

    @cached_property
    def checker(self) -> Checker:
        """The checker for block tests; made once, as this query is for one request."""
        return checker_of(self.robot, self.scene, self.margins)

    @cached_property
    def carried(self) -> Array:
        """(g,) bool: the group is an attached object that the arm moves."""
        return np.logical_and(self.held, self.robot.group_body > 0)

    @cached_property
    def _clear(self) -> set[bytes]:
        return set()

    def with_margins(self, margins: Array) -> Query:
        """Return the same query with other margins.

        Args:
            margins: Smallest allowed distances, (g, m + g), m.
        """
        return replace(self, margins=margins)

    @property
    def frames(self) -> Array:
        """New scratch for the kernels, (m + 1, 12)."""
        return np.empty((len(self.robot.chain) + 1, 12))

    def pair(self, hit: Ints) -> BodyPair:
        """Return the names of a pair.

        Args:
            hit: Indices of group and column, (2,).
        """
        return BodyPair(self.bodies[int(hit[0])], self.columns[int(hit[1])])

    def distances(self, q: Array, ceiling: float = 1.0) -> Array:
        """Return signed distances of all pairs, (g, m + g), m; 1e9 if a pair is off or farther apart than ``ceiling``.

        Args:
            q: Configuration, (n,), rad or m.
            ceiling: Largest distance that matters, m.
        """
        out = np.empty_like(self.margins)
        all_distances(q, ceiling, self.robot, self.scene, self.margins, self.frames, out)
        return out

    def touches(self, q: Array) -> bool:
        """Check whether any pair is below its margin; a configuration that is known to be clear is not tested again.

        Args:
            q: Configuration, (n,), rad or m.
        """
        key = q.tobytes()
        if key in self._clear:
            return False
        touching = bool(first_blocked(self.checker, np.array([q, q]), np.empty(2, dtype=np.int64)) >= 0)
        if not touching:
            self._clear.add(key)
        return touching

    def touching_at(self, q: Array) -> Query:
        """Return the same query, except that pairs that touch at ``q`` within tolerance may stay as deep as they are.

        Args:
            q: Configuration, (n,), rad or m.
        """
        if not self.touches(q):
            return self
        d = self.distances(q, 0.01)
        shapes = len(self.scene.kind)
        tolerance = np.full_like(d, LINK_TOUCH_M)
        tolerance[self.held, :shapes] = HELD_TOUCH_M
        below = d < self.margins + ROUND_OFF_M
        margins = np.where(below & (d >= -tolerance), d - TOUCH_SLACK_M, self.margins)
        return self.with_margins(margins)

    def grazing_at(self, goals: Array) -> Query:
        """Return the same query, except that pairs apart at ``goals`` by less than their margin may be that close.

        Args:
            goals: Configurations, (k, n) or (n,), rad or m.
        """
        margins = self.margins
        for q in np.atleast_2d(goals):
            if q.shape != self.robot.lower.shape or not np.isfinite(q).all() or not self.touches(q):
                continue
            d = self.distances(np.ascontiguousarray(q), 0.01)
            # Margins to other arms stay: they allow for how exactly each arm follows its path.
            near = (d < margins + ROUND_OFF_M) & (d >= 0.0) & (margins < ARM_GAP_M)
            margins = np.where(near, d - ROUND_OFF_M, margins)
        return self if margins is self.margins else self.with_margins(margins)

    def deepest(self, q: Array, *, over_margin: bool) -> tuple[float, BodyPair | None]:
        """Return the smallest distance [m] and its pair; infinity and None without a pair.

        Args:
            q: Configuration, (n,), rad or m.
            over_margin: Consider all pairs up to 1 m apart, not only those below their margin.
        """
        d = self.distances(q, 1.0 if over_margin else 0.01)
        if not over_margin:
            d = np.where(d < self.margins, d, 1.0e9)
        if d.size == 0 or d.min() > 1.0e8:
            return float("inf"), None
        index = np.array(np.unravel_index(int(d.argmin()), d.shape))
        return float(d.min()), self.pair(index)


_Carrying = tuple[
    Chain, tuple[WorldObject | None, ...], tuple[tuple[str, bytes], ...], list[SphereGroup], RobotArrays
]
"""Arrays with attached objects, and what they were made from: the chain, the objects, and where they are attached."""


class Reader:
    """Turns a SceneQuery into a Query; keeps chains per gripper opening, and sphere covers per object."""

    def __init__(self, robot: Robot, world_T_base: Pose) -> None:
        self._robot, self._base = robot, world_T_base
        self._chains: dict[
            tuple[str, tuple[tuple[str, float], ...]], tuple[Chain, list[SphereGroup], RobotArrays]
        ] = {}
        self._covers: dict[str, tuple[object, Array]] = {}
        """The key is the object's name, so that the solid of an older version of the world is not kept."""
        self._links: dict[str, frozenset[str]] = {}
        self._carried: _Carrying | None = None

    def read(self, arm: ArmSpec, scene: CollisionScene, query: SceneQuery) -> Query:
        """Return the arrays for the kernels.

        Args:
            arm: The arm that moves.
            scene: The packed world.
            query: Attachments, openings, other arms, ignored and allowed bodies.

        Raises:
            KeyError: an attached object, its link, a gripper joint or another arm is unknown.
        """
        chain, groups, arrays = self._chain(arm, self._joints(query))
        if query.attached and not query.others:
            groups, arrays = self._carrying(arm, scene, query, chain, groups)
        elif query.others:
            moved = frozenset[str]().union(*(self._moved(other.arm) for other in query.others))
            groups = [g for g in groups if g.link not in moved or g.body > 0]
            groups += [part for held in query.attached for part in self._held(scene, chain, held)]
            groups += [part for other in query.others for part in self._other(scene, query, other)]
            arrays = assemble(self._robot, arm, chain, groups)
        bodies = tuple(g.name for g in groups)
        held = np.array([g.attached for g in groups])
        margins = self._margins(scene, query, groups)
        return Query(arrays, scene.arrays, margins, bodies, scene.names + bodies, held)

    def _chain(
        self, arm: ArmSpec, gripper_m: tuple[tuple[str, float], ...]
    ) -> tuple[Chain, list[SphereGroup], RobotArrays]:
        key = (arm.name, tuple(sorted((name, round(value, 6)) for name, value in gripper_m)))
        if key not in self._chains:
            if len(self._chains) > 64:
                self._chains.clear()
            chain = fold(self._robot, arm, self._base, joint_values(self._robot, gripper_m))
            groups = link_groups(self._robot, chain)
            self._chains[key] = (chain, groups, assemble(self._robot, arm, chain, groups))
        return self._chains[key]

    def _carrying(
        self, arm: ArmSpec, scene: CollisionScene, query: SceneQuery, chain: Chain, groups: list[SphereGroup]
    ) -> tuple[list[SphereGroup], RobotArrays]:
        """Return groups and arrays with what is attached; those of the last call, if nothing of it has changed."""
        solids = tuple(scene.world.objects.get(held.object) for held in query.attached)
        places = tuple((held.link, held.link_T_object.matrix().tobytes()) for held in query.attached)
        last = self._carried
        if (
            last is None
            or last[0] is not chain
            or last[2] != places
            or any(map(operator.is_not, last[1], solids))
        ):
            groups = groups + [part for held in query.attached for part in self._held(scene, chain, held)]
            last = self._carried = (chain, solids, places, groups, assemble(self._robot, arm, chain, groups))
        return last[3], last[4]

    def _joints(self, query: SceneQuery) -> tuple[tuple[str, float], ...]:
        """Return the joints that the chain depends on, which those of the other arms do not belong to."""
        arms = [self._robot.arm(other.arm) for other in query.others]
        unused = {name for other in arms for name in other.joint_names}
        unused |= {other.gripper.joint for other in arms if other.gripper is not None}
        return tuple((name, value) for name, value in query.gripper_m if name not in unused)

    def _moved(self, arm: str) -> frozenset[str]:
        if arm not in self._links:
            self._links[arm] = links_moved_by(self._robot.joints, self._robot.arm(arm).joint_names)
        return self._links[arm]

    def _other(self, scene: CollisionScene, query: SceneQuery, other: OtherArm) -> list[SphereGroup]:
        """Return the links that the other arm moves and what it holds, on its way; its fingers also fully open."""
        arm, joints = self._robot.arm(other.arm), {**dict(query.gripper_m), **dict(other.gripper_m)}
        chain, groups, _ = self._chain(arm, tuple(joints.items()))
        groups = [g for g in groups if g.body > 0]
        if arm.gripper is not None:
            joints[arm.gripper.joint] = arm.gripper.position(arm.gripper.max_width_m)
            followers = [j.name for j in self._robot.joints.values() if j.mimic is not None]
            _, opened, _ = self._chain(arm, tuple((n, v) for n, v in joints.items() if n not in followers))
            groups += [g for g in opened if g.link in arm.gripper.finger_links]
        for held in other.attached:
            ball = np.concatenate([g.spheres for g in self._held(scene, chain, held)])
            groups.append(SphereGroup(held.object, "", chain.mounts[held.link].body, ball))
        return swept(chain, groups, other.q)

    def _held(self, scene: CollisionScene, chain: Chain, held: Attachment) -> list[SphereGroup]:
        if held.object not in scene.world.objects:
            raise KeyError(f"attached object {held.object!r} is not one of {sorted(scene.world.objects)}")
        if held.link not in chain.mounts:
            raise KeyError(f"link {held.link!r} is not one of {sorted(chain.mounts)}")
        solid, mount = scene.world.objects[held.object], chain.mounts[held.link]
        known = self._covers.get(held.object)
        if known is None or known[0] is not solid:
            if len(self._covers) > 64:
                self._covers.clear()
            known = self._covers[held.object] = (solid, np.concatenate([cover(s) for s in solid.shapes]))
        spheres = known[1]
        body_T_object = mount.body_T_link @ held.link_T_object.matrix()
        centres = spheres[:, :3] @ body_T_object[:3, :3].T + body_T_object[:3, 3]
        moved = np.column_stack([centres, spheres[:, 3]])
        return [
            SphereGroup(held.object, held.link, mount.body, part, attached=True) for part in patches(moved)
        ]

    def _margins(self, scene: CollisionScene, query: SceneQuery, groups: list[SphereGroup]) -> Array:
        """Return the margins (g, m + g).

        Bodies that the arm does not move are off, and so are ignored, attached and allowed bodies.
        """
        skipped = query.ignored | {a.object for a in query.attached}
        skipped |= {a.object for other in query.others for a in other.attached}
        links = [0.0 if g.attached else LINK_MARGIN_M for g in groups]
        margins = np.zeros((len(groups), len(scene.names) + len(groups)))
        margins[:, : len(scene.names)] = np.array(links)[:, None]
        margins[:, : len(scene.names)][:, [name in skipped for name in scene.names]] = OFF
        margins[[g.body == 0 for g in groups], : len(scene.names)] = OFF
        fixed = [g.attached and g.body == 0 for g in groups]
        margins[np.ix_([not g.attached for g in groups], [False] * len(scene.names) + fixed)] = FORESEEN_GAP_M
        margins[np.ix_(fixed, [False] * len(scene.names) + [not g.attached for g in groups])] = FORESEEN_GAP_M
        margins[[g.other for g in groups], len(scene.names) :] = ARM_GAP_M
        if query.allowed:
            allowed = query.allowed | {BodyPair(p.b, p.a) for p in query.allowed}
            for c, name in enumerate(scene.names + tuple(g.name for g in groups)):
                margins[[BodyPair(g.name, name) in allowed for g in groups], c] = OFF
        return margins
