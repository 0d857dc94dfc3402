"""Worlds and robots of any size, for measurements of growth."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np

from benchmarks.mbm.problems import Problem
from benchmarks.mbm.referee import Referee
from benchmarks.mbm.sphere_robot import (
    MOTION,
    Frame,
    Motion,
    SphereFile,
    SphereRobot,
    build_sphere_robot,
    read_sphere_file,
)
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)

EDGE_M, REACH_M, AWAY_M, SELF_M, SPREAD_RAD = 0.03, 0.9, 0.03, 0.001, 1.5


def world_of_boxes(poses: list[Pose], edges: Array, version: int = 1) -> World:
    """Return a world with one box per pose.

    Args:
        poses: Poses of the boxes.
        edges: Edges, (n, 3), m.
        version: Version of the geometry.
    """
    still = np.zeros(3)
    objects = {
        f"box_{i}": WorldObject(f"box_{i}", (Shape(ShapeKind.BOX, frozen(edge), Pose.identity()),))
        for i, edge in enumerate(edges)
    }
    states = {name: ObjectState(pose, still, still, 0.0) for name, pose in zip(objects, poses, strict=True)}
    return World(0.0, version, objects, states)


def random_poses(count: int, rng: np.random.Generator, reach_m: float = REACH_M) -> list[Pose]:
    """Return poses that are uniform in a cube around and above the origin.

    Args:
        count: Number of poses.
        rng: Random numbers.
        reach_m: Half the edge of the cube, m.
    """
    places = rng.uniform([-reach_m, -reach_m, 0.0], [reach_m, reach_m, 1.2 * reach_m], (count, 3))
    turns = rng.normal(size=(count, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return [Pose.of(p, Rotation.from_wxyz(q)) for p, q in zip(places, turns, strict=True)]


def scattered(robot: SphereRobot, count: int, free: Array, seed: int = 0, reach_m: float = REACH_M) -> World:
    """Return small boxes, none within AWAY_M of the robot at any of the configurations ``free``.

    Args:
        robot: The robot.
        count: Number of boxes.
        free: Configurations, (k, dof), rad.
        seed: Seed of the places.
        reach_m: Half the edge of the cube of the boxes, m.
    """
    rng = np.random.default_rng(seed)
    centres = Referee(robot.robot, robot.world_T_root).spheres(free).reshape(-1, 3)
    radii = np.tile(np.concatenate([s.radii for s in robot.robot.spheres]), len(free))
    chosen: list[Pose] = []
    while len(chosen) < count:
        for pose in random_poses(count, rng, reach_m):
            gap = np.linalg.norm(centres - pose.translation_m, axis=1) - radii
            if gap.min() > AWAY_M + EDGE_M:
                chosen.append(pose)
    return world_of_boxes(chosen[:count], np.full((count, 3), EDGE_M))


def free_pair(robot: SphereRobot, seed: int) -> Array:
    """Return start and goal without self-collision, no joint farther than SPREAD_RAD from rest, (2, dof), rad.

    Beyond that there are configurations that an arm cannot move between without touching itself.

    Args:
        robot: The robot.
        seed: Seed of the configurations.
    """
    referee, arm, rng = (
        Referee(robot.robot, robot.world_T_root),
        robot.robot.arm(""),
        np.random.default_rng(seed),
    )
    joints = [robot.robot.joints[name] for name in arm.joint_names]
    found: list[Array] = []
    while len(found) < 2:
        q = arm.home_q + rng.uniform(-SPREAD_RAD, SPREAD_RAD, len(joints))
        q = np.clip(q, [j.lower for j in joints], [j.upper for j in joints])
        if referee.clearance(q[None], World(0.0))[1] > SELF_M:
            found.append(q)
    return np.array(found)


def problem_among(robot: SphereRobot, bodies: int, seed: int, reach_m: float = REACH_M) -> Problem:
    """Return a problem from one free configuration to another among scattered boxes.

    Args:
        robot: The robot.
        bodies: Number of boxes.
        seed: Seed of the problem.
        reach_m: Half the edge of the cube of the boxes, m.
    """
    pair = free_pair(robot, seed)
    world = scattered(robot, bodies, pair, seed, reach_m)
    return Problem(f"{bodies}/{seed}", str(bodies), world, pair[0], pair[1:], Pose.identity(), {})


def panda_of_spheres(count: int) -> SphereRobot:
    """Return the Panda with some of its spheres, or with copies beside them.

    Args:
        count: Number of spheres.
    """
    content = read_sphere_file("panda")
    spheres = content["spheres"]
    rows = []
    for i in range(count):
        link, x, y, z, r = (
            spheres[(i * len(spheres)) // count] if count < len(spheres) else spheres[i % len(spheres)]
        )
        off = 0.0005 * (i // len(spheres))
        rows.append((link, x + off, y - off, z + off, r))
    order = [frame["name"] for frame in content["frames"]]
    rows.sort(key=lambda row: order.index(row[0]))
    fewer: SphereFile = {**content, "spheres": rows}
    return build_sphere_robot(fewer, MOTION["panda"])


def pandas_in_series() -> SphereRobot:
    """Return a Panda without hand that carries a Panda on its flange: 14 joints."""
    lower, upper = read_sphere_file("panda"), read_sphere_file("panda")
    hand = {"panda_hand", "panda_leftfinger", "panda_rightfinger", "panda_grasptarget"}
    frames: list[Frame] = [frame for frame in lower["frames"] if frame["name"] not in hand]
    frames += [
        {
            **frame,
            "name": f"b_{frame['name']}",
            "parent": f"b_{frame['parent']}" if frame["parent"] else "panda_link8",
            "joint": frame["joint"] + 7 if frame["joint"] >= 0 else -1,
        }
        for frame in upper["frames"]
    ]
    own = [(a, b) for a, b in lower["self_pairs"] if not {a, b} & hand]
    near = {"panda_link5", "panda_link6", "panda_link7"}
    carried = [f"b_{frame['name']}" for frame in upper["frames"]]
    across = [
        (a["name"], b)
        for a, b in product(lower["frames"], carried)
        if a["name"] not in hand and not (a["name"] in near and b in {"b_panda_link0", "b_panda_link1"})
    ]
    content: SphereFile = {
        "name": "panda_on_panda",
        "joint_names": [*lower["joint_names"], *(f"b_{name}" for name in upper["joint_names"])],
        "lower": lower["lower"] * 2,
        "upper": lower["upper"] * 2,
        "frames": frames,
        "spheres": [
            *(s for s in lower["spheres"] if s[0] not in hand),
            *((f"b_{s[0]}", *s[1:]) for s in upper["spheres"]),
        ],
        "self_pairs": [*own, *((f"b_{a}", f"b_{b}") for a, b in upper["self_pairs"]), *across],
    }
    one = MOTION["panda"]
    doubled: Motion = dataclasses.replace(
        one,
        ee_link="b_panda_hand",
        velocity=one.velocity * 2,
        acceleration=one.acceleration * 2,
        jerk=one.jerk * 2,
        home=one.home * 2,
    )
    return build_sphere_robot(content, doubled)
