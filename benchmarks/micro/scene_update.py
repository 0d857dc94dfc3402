"""Time until the engine has taken a new snapshot of 50 bodies."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.mbm.measure import make_engine
from benchmarks.mbm.rows import markdown
from benchmarks.mbm.sphere_robot import load_sphere_robot
from handiwork_core.model.world import World

from .clocked import HEADS, clocked, words
from .synthetic import random_poses, world_of_boxes


def moved(world: World, seed: int) -> World:
    """Return the same bodies at other places.

    Args:
        world: The world.
        seed: Seed of the places.
    """
    poses = random_poses(len(world.objects), np.random.default_rng(seed))
    fresh = world_of_boxes(poses, np.full((len(poses), 3), 0.05))
    return World(0.1 * seed, world.version, world.objects, fresh.states)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    engine, lines = make_engine(load_sphere_robot("panda")), []
    for count in (50, 500):
        rng = np.random.default_rng(0)
        first = world_of_boxes(random_poses(count, rng), np.full((count, 3), 0.05))
        engine.update_world(first)
        worlds = [moved(first, seed) for seed in range(1, options.runs)]
        _, spent = clocked(engine.update_world, worlds)
        lines.append([f"{count} bodies moved", *words(spent, 1e-6)])
        others = [
            world_of_boxes(random_poses(count, rng), rng.uniform(0.02, 0.1, (count, 3)), version)
            for version in range(2, 22)
        ]
        _, spent = clocked(engine.update_world, others)
        lines.append([f"{count} bodies exchanged", *words(spent, 1e-6)])
    print(markdown(("scene update", *(f"us {head}" for head in HEADS)), lines))


if __name__ == "__main__":
    main()
