"""Time of one collision check: 59 spheres against 20 boxes, in blocks of 16 configurations.

A block ends early when one of its configurations touches something. ``50 m away`` leaves the robot itself, and ``at
rest``, around a free pose, shows blocks that are tested to their end.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable

import numpy as np

from benchmarks.mbm.engine_adapter import checker
from benchmarks.mbm.measure import make_engine
from benchmarks.mbm.problems import load_problems
from benchmarks.mbm.rows import markdown
from benchmarks.mbm.sphere_robot import load_sphere_robot
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ShapeKind, World, WorldObject
from handiwork_core.robot.robot import Robot

REPEATS, BLOCK = 5, 16


def twenty_boxes() -> World:
    """Return boxes of published problems, mixed: about as many near as far ones."""
    boxes = [
        (WorldObject(f"box_{i}_{name}", item.shapes), problem.world.states[name])
        for i, problem in enumerate(load_problems("panda", per_scene=2))
        for name, item in problem.world.objects.items()
        if item.shapes[0].kind is ShapeKind.BOX
    ][:20]
    return World(0.0, 1, {body.name: body for body, _ in boxes}, {body.name: state for body, state in boxes})


def lifted(world: World, height_m: float) -> World:
    """Return the same world far above: nothing touches, and every box is still tested.

    Args:
        world: The world.
        height_m: The height, m.
    """
    up = Pose.of((0.0, 0.0, height_m))
    states = {
        name: dataclasses.replace(state, world_T_object=up @ state.world_T_object)
        for name, state in world.states.items()
    }
    return World(0.0, world.version + 1, world.objects, states)


def samples(robot: Robot, count: int) -> dict[str, Array]:
    """Return configurations (count, dof): random, on straight motions of 0.5 rad with BLOCK samples each, and at rest.

    Args:
        robot: The robot.
        count: Number of configurations of each kind.
    """
    joints = [robot.joints[name] for name in robot.arm("").joint_names]
    low, high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])
    rng = np.random.default_rng(0)
    starts = rng.uniform(low, high, (count // BLOCK, len(low)))
    ways = rng.normal(size=starts.shape)
    ways *= 0.5 / np.linalg.norm(ways, axis=1, keepdims=True)
    along = starts[:, None] + np.linspace(0.0, 1.0, BLOCK)[:, None] * ways[:, None]
    return {
        "random": rng.uniform(low, high, (count, len(low))),
        "along motions": along.reshape(-1, len(low)),
        "at rest": robot.arm("").home_q + rng.normal(scale=0.05, size=(count, len(low))),
    }


def best_us(check: Callable[[Array], int], q: Array) -> float:
    """Return the time per configuration, the best of several runs, us.

    Args:
        check: The check.
        q: Configurations, (m, dof), rad.
    """
    spent = []
    for _ in range(REPEATS):
        began = time.process_time()
        check(q)
        spent.append(time.process_time() - began)
    return 1e6 * min(spent) / len(q)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="configurations")
    options = parser.parse_args()
    robot = load_sphere_robot("panda")
    engine = make_engine(robot)
    world, lines = twenty_boxes(), []
    for where, here in (("near", world), ("50 m away", lifted(world, 50.0))):
        engine.update_world(here)
        check = checker(engine)
        for kind, q in samples(robot.robot, options.count).items():
            free = 100.0 * check(q) / (len(q) // BLOCK)
            lines.append(
                [f"{len(here.objects)} boxes {where}, {kind}", f"{free:.1f}", f"{best_us(check, q):.3f}"]
            )
    print(markdown(("collision check, 59 spheres", "free blocks %", "us per configuration"), lines))


if __name__ == "__main__":
    main()
