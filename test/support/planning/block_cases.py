"""Random robots among random shapes, and their distances in float64, written from the definitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot, Spheres
from handiwork_planning.distance.sphere_cover import cover
from handiwork_planning.kernels.arrays import OFF
from handiwork_planning.scene.query import Query, Reader
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.validation.shape_distances import distance, radius

from .demo_world import world_of
from .serial_arms import limits, serial_arm

Bodies = dict[str, Array]
Margins = dict[tuple[str, str], float]


@dataclass(frozen=True, eq=False)
class Case:
    """A robot among shapes, and the least distance of each pair, by name."""

    robot: Robot
    shapes: Mapping[str, tuple[Shape, Pose]]
    scene: SceneQuery
    margins: Margins

    def query(self) -> Query:
        """Return the query with ``margins`` in place of those of the reader."""
        held = [(a.object, (HELD[a.object],), Pose.identity()) for a in self.scene.attached]
        items = [(name, (shape,), pose) for name, (shape, pose) in self.shapes.items()]
        scene = CollisionScene()
        scene.update(world_of(*items, *held))
        query = Reader(self.robot, Pose.identity()).read(self.robot.arm(""), scene, self.scene)
        table = np.array([[self.margins.get((b, c), OFF) for c in query.columns] for b in query.bodies])
        return query.with_margins(table)


NEAR_M = 0.03
"""Bodies that are further apart, which is more than every margin, are only said to be so."""
HELD = {
    "rod": Shape(ShapeKind.CAPSULE, np.array([0.02, 0.1]), Pose.identity()),
    "brick": Shape(ShapeKind.BOX, np.array([0.02, 0.03, 0.02]), Pose.identity()),
}


def link_matrices(robot: Robot, q: Array) -> dict[str, Array]:
    """Return (s, 4, 4) of every link at configurations ``q`` (s, n); the other joints are as in ``link_poses``."""
    names = robot.arm("").joint_names
    still = link_poses(robot, dict(zip(names, q[0].tolist(), strict=True)))
    made = {robot.root_link: np.tile(np.eye(4), (len(q), 1, 1))}
    for joint in robot.joints.values():
        if joint.name not in names:
            local = (still[joint.parent].inverse() @ still[joint.child]).matrix()
            made[joint.child] = made[joint.parent] @ local
            continue
        x, step = q[:, names.index(joint.name)], np.tile(np.eye(4), (len(q), 1, 1))
        if joint.type is JointKind.PRISMATIC:
            step[:, :3, 3] = x[:, None] * joint.axis
        else:
            k = np.cross(np.eye(3), joint.axis)
            step[:, :3, :3] += np.sin(x)[:, None, None] * k + (1.0 - np.cos(x))[:, None, None] * (k @ k)
        made[joint.child] = made[joint.parent] @ joint.parent_T_joint.matrix() @ step
    return made


def moving(robot: Robot) -> dict[str, int]:
    """Return the number of the arm's joints that move each link."""
    count = {robot.root_link: 0}
    for joint in robot.joints.values():
        count[joint.child] = count[joint.parent] + (joint.name in robot.arm("").joint_names)
    return count


def balls(case: Case, q: Array) -> dict[str, tuple[Array, Array]]:
    """Return centres (s, k, 3) and radii (k,) of each body of the robot, at ``q`` (s, n)."""
    robot, made = case.robot, link_matrices(case.robot, q)
    local = {f"{robot.name}/{s.link}": (s.link, s.centers, s.radii) for s in robot.spheres if len(s.radii)}
    for held in case.scene.attached:
        rows = cover(HELD[held.object])
        local[held.object] = (held.link, held.link_T_object.apply(rows[:, :3]), rows[:, 3])
    return {
        name: (centres @ made[link][:, :3, :3].transpose(0, 2, 1) + made[link][:, None, :3, 3], radii)
        for name, (link, centres, radii) in local.items()
    }


def slow_gap(case: Case, found: dict[str, tuple[Array, Array]], a: str, b: str) -> Array:
    """Return the distance (s,) of two bodies at each configuration of ``found``, m."""
    centres, radii = found[a]
    if b in case.shapes:
        shape, pose = case.shapes[b]
        m = (pose @ shape.object_T_shape).matrix()
        points = (centres - m[:3, 3]) @ m[:3, :3]
        # For a ball far from the whole shape, a lower bound of the distance is enough.
        gaps = lengths(points) - radius(shape)
        near = gaps - radii < NEAR_M
        gaps[near] = distance(shape, points[near])
        return np.asarray((gaps - radii).min(axis=1))
    # Rigid bodies: one ball around each, the same at every configuration, says how far they are at least.
    (few, thin), (many, thick) = sorted((found[a], found[b]), key=lambda body: len(body[1]))
    between = few.mean(axis=1) - many.mean(axis=1)
    gaps = np.linalg.norm(between, axis=1) - reach(few[0], thin) - reach(many[0], thick)
    near = gaps < NEAR_M
    rows = [lengths(many[near] - few[near, j : j + 1]) - thick - thin[j] for j in range(len(thin))]
    gaps[near] = np.min([row.min(axis=1) for row in rows], axis=0)
    return np.asarray(gaps)


def lengths(vectors: Array) -> Array:
    """Return the lengths (...) of vectors (..., 3), several times as fast as ``np.linalg.norm`` along such an axis."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors)))


def reach(centres: Array, radii: Array) -> float:
    """Radius [m] of a ball around the mean of the balls' ``centres`` (k, 3) that holds them all."""
    return float((np.linalg.norm(centres - centres.mean(axis=0), axis=1) + radii).max())


def slow_rooms(case: Case, q: Array) -> dict[tuple[str, str], Array]:
    """Return the distance above its margin (s,) of each pair at ``q`` (s, n), m."""
    assert max(case.margins.values(), default=0.0) < NEAR_M
    found = balls(case, np.atleast_2d(q))
    return {pair: slow_gap(case, found, *pair) - margin for pair, margin in case.margins.items()}


def least(case: Case, q: Array) -> float:
    """Return the least value of all pairs and configurations."""
    return min((float(room.min()) for room in slow_rooms(case, q).values()), default=np.inf)


def room_of(case: Case, query: Query, hit: Array, q: Array) -> float:
    """Return the least value of the reported pair, in either order of its names."""
    a, b = query.bodies[hit[0]], query.columns[hit[1]]
    pairs = [p for p in ((a, b), (b, a)) if p in case.margins]
    assert pairs, f"{a} and {b} do not count"
    rooms = slow_rooms(replace(case, margins={p: case.margins[p] for p in pairs}), q)
    return min(float(room.min()) for room in rooms.values())


def along(path: Array, steps: int) -> Array:
    """Return ``steps`` places on each straight motion of ``path`` (k, n), and its last row."""
    t = np.linspace(0.0, 1.0, steps, endpoint=False)[None, :, None]
    between = path[:-1, None] + t * np.diff(path, axis=0)[:, None]
    return np.concatenate([between.reshape(-1, path.shape[1]), path[-1:]])


def shapes_near(rng: np.random.Generator, count: int) -> dict[str, tuple[Shape, Pose]]:
    """Make solids of all kinds around a robot at the origin."""
    made = {}
    for i in range(count):
        kind = [ShapeKind.BOX, ShapeKind.SPHERE, ShapeKind.CYLINDER, ShapeKind.CAPSULE, ShapeKind.CONVEX][
            i % 5
        ]
        turn = Rotation.from_rpy(*rng.uniform(-3.0, 3.0, 3))
        cloud = rng.normal(size=(12, 3)) * 0.06 if kind is ShapeKind.CONVEX else None
        sizes = {ShapeKind.BOX: rng.uniform(0.01, 0.25, 3), ShapeKind.SPHERE: rng.uniform(0.01, 0.12, 1)}
        size = np.zeros(0) if cloud is not None else sizes.get(kind, rng.uniform(0.01, 0.15, 2))
        way = rng.normal(size=3)
        at = rng.uniform(0.45, 0.75) * way / np.linalg.norm(way) + np.array([0.0, 0.0, 0.45])
        inner = Pose.of(rng.uniform(-0.02, 0.02, 3), Rotation.from_rpy(0.2, -0.1, 0.3))
        made[f"solid {i}"] = (Shape(kind, size, inner, cloud), Pose.of(at, turn))
    return made


def case_of(
    robot: Robot, rng: np.random.Generator, scene: SceneQuery, solids: int, low: float, high: float
) -> Case:
    """Make random margins from ``low`` to ``high`` for all pairs that ``scene`` and the robot's own pairs leave."""
    shapes, depth = shapes_near(rng, solids), moving(robot)
    links = {f"{robot.name}/{s.link}": s.link for s in robot.spheres if len(s.radii)}
    bodies = {**links, **{a.object: a.link for a in scene.attached}}
    allowed = {frozenset((p.a, p.b)) for p in scene.allowed}
    pairs = [(a, b) for a in bodies for b in shapes if depth[bodies[a]] > 0 and b not in scene.ignored]
    names = list(bodies)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            x, y = bodies[a], bodies[b]
            ignored = a in links and b in links and (min(x, y), max(x, y)) in robot.ignored_pairs
            ignored = ignored or (a not in links and b not in links)
            if depth[x] != depth[y] and not ignored:
                pairs.append((a, b) if depth[x] < depth[y] else (b, a))
    pairs = [p for p in pairs if frozenset(p) not in allowed]
    case = Case(robot, shapes, scene, {p: rng.uniform(low, high) for p in pairs})
    # A pair that mostly touches would hide all others.
    rooms = slow_rooms(case, some_q(case, rng, 60))
    return replace(case, margins={p: m for p, m in case.margins.items() if (rooms[p] < 0.0).mean() < 0.08})


def armed(rng: np.random.Generator, joints: int, slides: int) -> Robot:
    """Make a random arm with a few spheres on each link; neighbours may touch."""
    robot = serial_arm(rng, joints, slides)
    spheres = tuple(
        Spheres(link, rng.uniform(-0.06, 0.06, (3, 3)), rng.uniform(0.01, 0.05, 3)) for link in robot.links
    )
    names = robot.links
    near = {(min(a, b), max(a, b)) for i, a in enumerate(names) for b in names[i : i + 3]}
    return replace(robot, spheres=spheres, ignored_pairs=frozenset(near))


def some_q(case: Case, rng: np.random.Generator, count: int) -> Array:
    lower, upper = limits(case.robot)
    return rng.uniform(lower, upper, (count, len(lower)))
