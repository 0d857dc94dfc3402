"""Time from a depth image to a field of distances, and of checks in it: ``python -m benchmarks.perception.obstacles``.

A camera of 640 x 480 pixels looks at a table with five boxes, of which three are known, and at an FR3; the cells are
those of a cube of 1.2 m. All times are processor time of one thread, the medians and the largest of repetitions.
Checks are blocks of sixteen configurations along random straight motions, in the tabletop alone, and in the tabletop
with the field of the two unknown boxes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.ndimage import distance_transform_edt

from benchmarks.mbm.engine_adapter import checker
from benchmarks.mbm.own_scene import FR3
from handiwork_core.contracts.planning import JointGoals, PlanRequest, SceneQuery, never_stop
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.distance.voxel_field import field_of
from perception_bridge.obstacles.known_bodies import KnownBodies, KnownObjects, robot_spheres
from perception_bridge.obstacles.obstacle_map import DepthLook, ObstacleMap
from perception_bridge.obstacles.settings import DepthSpec, ObstacleSettings

TABLE = ((-0.3, -0.8, -0.04), (1.2, 0.8, 0.0))
KNOWN = {
    "cube": ((0.45, 0.1, 0.0), (0.5, 0.15, 0.05)),
    "bin": ((0.35, -0.45, 0.0), (0.6, -0.25, 0.12)),
    "shelf": ((0.85, -0.3, 0.0), (0.95, 0.3, 0.5)),
}
UNKNOWN = {"wall": ((0.45, -0.15, 0.0), (0.75, -0.11, 0.45)), "mug": ((0.6, 0.25, 0.0), (0.68, 0.33, 0.1))}
WIDTH, HEIGHT, FOCAL = 640, 480, 554.0
STILL = np.zeros(3)

Box = tuple[tuple[float, float, float], tuple[float, float, float]]


def camera() -> Pose:
    """Return the pose of the optical frame: before the robot, 1.1 m up, looking at the table."""
    place, target = np.array([1.3, 0.5, 1.1]), np.array([0.5, 0.0, 0.1])
    z = (target - place) / np.linalg.norm(target - place)
    x = np.cross(z, (0.0, 0.0, 1.0))
    x /= np.linalg.norm(x)
    return Pose.of(tuple(place), Rotation.from_matrix(np.column_stack([x, np.cross(z, x), z])))


def drawn(world_T_camera: Pose, boxes: list[Box], spheres: Array) -> Array:
    """Return the depth image of boxes and spheres, (HEIGHT, WIDTH), m.

    Args:
        world_T_camera: Pose of the optical frame.
        boxes: Least and greatest corners, m.
        spheres: Centres and radii, (n, 4), m.
    """
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH]
    rays = np.stack(
        [(u - 0.5 * (WIDTH - 1)) / FOCAL, (v - 0.5 * (HEIGHT - 1)) / FOCAL, np.ones(u.shape)], axis=-1
    )
    way, place = rays @ world_T_camera.rotation.matrix().T, world_T_camera.translation_m
    depth = np.full(u.shape, np.inf)
    for low, high in boxes:
        a, b = (np.array(low) - place) / way, (np.array(high) - place) / way
        near, far = np.minimum(a, b).max(axis=-1), np.maximum(a, b).min(axis=-1)
        depth = np.where((near <= far) & (near > 0.0) & (near < depth), near, depth)
    square = (way**2).sum(axis=-1)
    for x, y, z, radius in spheres:
        to = np.array([x, y, z]) - place
        half = way @ to
        root = half**2 - square * (to @ to - radius**2)
        near = (half - np.sqrt(np.maximum(root, 0.0))) / square
        depth = np.where((root > 0.0) & (near > 0.0) & (near < depth), near, depth)
    return depth


def world_of(boxes: dict[str, Box]) -> World:
    """Return a world of boxes.

    Args:
        boxes: Least and greatest corners by name, m.
    """
    objects, states = {}, {}
    for name, (low, high) in boxes.items():
        shape = Shape(ShapeKind.BOX, np.subtract(high, low), Pose.identity())
        objects[name] = WorldObject(name, (shape,), is_static=True)
        states[name] = ObjectState(Pose.of(tuple(0.5 * np.add(low, high))), STILL, STILL, 0.0)
    return World(0.0, 1, objects, states)


def timed(call: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the median and the largest processor time of calls, ms; the first one does not count.

    Args:
        call: What is timed.
        runs: Number of calls.
    """
    call()
    found = []
    for _ in range(runs):
        began = time.thread_time()
        call()
        found.append(1e3 * (time.thread_time() - began))
    return float(np.median(found)), max(found)


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    robot = load_robot(FR3)
    joints = dict(zip(robot.arm("").joint_names, robot.arm("").home_q, strict=True))
    spheres, eye = robot_spheres(robot, Pose.identity(), joints), camera()
    table: dict[str, Box] = {"table": TABLE}
    known = world_of({**table, **KNOWN})
    depth = drawn(eye, [TABLE, *KNOWN.values(), *UNKNOWN.values()], spheres).astype(np.float32)
    settings = ObstacleSettings(
        cameras=(DepthSpec("depth", "depth"),), position=(0.5, 0.0, 0.55), size=(1.2, 1.2, 1.2), cell=0.02
    )
    search, packer = ObstacleMap(settings), KnownObjects()
    centre = (0.5 * (WIDTH - 1), 0.5 * (HEIGHT - 1))

    def look() -> KnownBodies:
        bodies = KnownBodies(
            robot_spheres(robot, Pose.identity(), joints), packer.shapes(known.objects, known.states)
        )
        search.look("camera", DepthLook(depth, (FOCAL, FOCAL), centre, eye, 1.0), bodies)
        return bodies

    voxels = search.map(look())
    occupied = int(np.count_nonzero(voxels.occupied))
    print(f"{WIDTH} x {HEIGHT} pixels, {' x '.join(map(str, voxels.grid.shape))} cells, {occupied} occupied")
    for name, call in (
        ("image to field", lambda: field_of(search.map(look()))),
        ("image to occupied cells", look),
        ("cells to field", lambda: field_of(voxels)),
        ("scipy, distance_transform_edt of both sides", lambda: _scipy(voxels.occupied)),
    ):
        median, most = timed(call, options.runs)
        print(f"| {name} | {median:.1f} ms | {most:.1f} ms |", flush=True)
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    _checks(engine, known, replace(known, version=2, voxels=voxels), options.runs)
    engine.close()
    return 0


def _scipy(occupied: Array) -> Array:
    return np.asarray(distance_transform_edt(~occupied) - distance_transform_edt(occupied))


def _checks(engine: CpuEngine, without: World, with_field: World, runs: int) -> None:
    """Print times of block tests, of plans and of the referee, without and with the field."""
    robot = engine._core.robot
    arm = robot.arm("")
    rng = np.random.default_rng(0)
    lower = np.array([robot.joints[name].lower for name in arm.joint_names])
    upper = np.array([robot.joints[name].upper for name in arm.joint_names])
    ends = rng.uniform(lower, upper, (400, 2, len(lower)))
    steps = np.linspace(0.0, 0.2, 16)
    q = np.concatenate([a + s * (b - a) for a, b in ends for s in steps[:, None]]).reshape(-1, len(lower))
    engine.update_world(without)
    paths = [
        found.trajectory
        for seed in range(10)
        if (found := engine.plan(_request(arm.home_q, ends[seed, 0]), never_stop)).trajectory is not None
    ]
    times: dict[str, list[tuple[float, float]]] = {}
    for world in (without, with_field, without, with_field):
        engine.update_world(world)
        count = checker(engine)
        times.setdefault("block of 16 configurations, us", []).append(
            tuple(1e3 * t / (len(q) // 16) for t in timed(lambda count=count: count(q), runs))  # type: ignore[arg-type, misc]
        )
        times.setdefault("referee, ms a motion", []).append(
            tuple(
                t / max(1, len(paths))
                for t in timed(
                    lambda: [engine.validate(arm.name, p, SceneQuery(), p.q[0]) for p in paths],
                    max(3, runs // 10),
                )
            )  # type: ignore[arg-type]
        )
    for name, pairs in times.items():
        bare, field = min(pairs[0][0], pairs[2][0]), min(pairs[1][0], pairs[3][0])
        print(f"| {name} | without {bare:.2f} | with {field:.2f} | {field / bare:.2f} times |", flush=True)


def _request(start: Array, goal: Array) -> PlanRequest:
    return PlanRequest("", start, JointGoals(goal[None]), budget_s=20.0)


if __name__ == "__main__":
    sys.exit(main())
