"""One step of a task with events in many worlds: ``python -m benchmarks.conditions.batch [--worlds 1024]``.

Processor time of one thread with the garbage collector on, and wall time beside it: arrays in; expressions, progress,
events and verdicts out. In each world a hand moves three objects into a bin, each world at another moment of it, and
begins again at the end; other objects are pushed now and then. The inputs are made before the clock starts. RoboLab's
own subtasks and events took 138 ms and 35 ms for 1,024 environments on another machine.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from conditionals_node.batch import BatchJudge, Poses, Worlds
from conditionals_node.events.happened import Flags
from handiwork_cli.processes.progress import progress
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot_files.loader import load_robot

ROOT = Path(__file__).resolve().parents[2]
MOVED, OTHERS = ("a", "b", "c"), ("d", "e", "f", "g", "h")
THINGS = (*MOVED, *OTHERS)
FINGERS = ("fr3/fr3_leftfinger", "fr3/fr3_rightfinger")
TASK = f"""
name: tidy
subtasks:
- {{name: put, pick_and_place: {{object: [{", ".join(MOVED)}], container: bin}}}}
- name: look
  groups:
    rest: [{{expression: "object_stationary(object=[{", ".join(MOVED)}]) and not object_grabbed(object=a)"}}]
events: {{upright: [d, e]}}
success: {{settle_s: 0.2}}
"""
ARM = tuple(f"fr3_joint{i}" for i in range(1, 8))
PERIOD_S = 1.0 / 15.0
PER_OBJECT, REST = 12, 10
"""Steps of the way of one object, and of rest at the end."""
CYCLE = PER_OBJECT * len(MOVED) + REST


@dataclass
class Inputs:
    """The arrays of one step, as a simulator has them."""

    positions: dict[str, Array]
    velocities: dict[str, Array]
    wxyz: Array
    forces: dict[tuple[str, str], Array]
    points: dict[tuple[str, str], Array]
    joint: Array
    stamps: Array
    begins: Array
    root: Array


def solids() -> dict[str, WorldObject]:
    sizes = {name: (0.04, 0.04, 0.06) for name in THINGS}
    sizes |= {"bin": (0.4, 0.4, 0.1), "table": (2.0, 2.0, 0.05)}
    return {
        name: WorldObject(
            name,
            (Shape(ShapeKind.BOX, frozen(size), Pose.identity()),),
            is_static=name == "table",
            mass_kg=0.2,
        )
        for name, size in sizes.items()
    }


def way(start: Array, goal: Array, phase: Array) -> tuple[Array, Flags]:
    """Return where an object is at a moment of its way, and whether the hand holds it.

    Args:
        start: Where it lay, (n, 3), m.
        goal: Where it shall lie, (n, 3), m.
        phase: Moment, (n,); 0 begins, ``PER_OBJECT`` ends.
    """
    share = np.clip((phase - 2.0) / (PER_OBJECT - 4.0), 0.0, 1.0)[:, None]
    place = start + share * (goal - start)
    place[:, 2] += 0.8 * (share * (1.0 - share))[:, 0]
    return place, (phase >= 1.0) & (phase < PER_OBJECT - 2.0)


def inputs_of(n: int, steps: int, seed: int) -> list[Inputs]:
    """Return the inputs of consecutive steps.

    Args:
        n: Number of worlds.
        steps: Number of steps.
        seed: Seed of places and moments.
    """
    rng = np.random.default_rng(seed)
    first = rng.integers(0, CYCLE, n)
    lying = {
        name: np.stack([rng.uniform(-0.4, 0.2, n), np.full(n, 0.2 * i - 0.7), np.full(n, 0.03)], 1)
        for i, name in enumerate(THINGS)
    }
    goals = {
        name: np.stack([np.full(n, 0.5 + 0.1 * i), np.zeros(n), np.full(n, 0.04)], 1)
        for i, name in enumerate(MOVED)
    }
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    found, before = [], lying
    for step in range(steps):
        moment = (first + step) % CYCLE
        places, held = {}, {}
        for i, name in enumerate(MOVED):
            places[name], held[name] = way(lying[name], goals[name], moment - float(PER_OBJECT * i))
        for name in OTHERS:
            pushed = rng.random(n) < 0.02
            places[name] = before[name] + pushed[:, None] * rng.normal(0.0, 0.1, (n, 3)) * (1.0, 1.0, 0.0)
        places |= {"bin": np.tile([0.6, 0.0, 0.05], (n, 1)), "table": np.tile([0.0, 0.0, -0.025], (n, 1))}
        velocities = {name: (places[name] - before.get(name, places[name])) / PERIOD_S for name in places}
        forces, points = {}, {}
        for name in THINGS:
            for side, finger in zip((-1.0, 1.0), FINGERS, strict=True):
                pressed = held.get(name, np.zeros(n, dtype=bool)) | (rng.random(n) < 0.002)
                forces[name, finger] = pressed[:, None] * np.array([0.0, -5.0 * side, 0.0])
                points[name, finger] = places[name] + np.array([0.0, 0.02 * side, 0.0])
            resting = ~held.get(name, np.zeros(n, dtype=bool))
            forces[name, "table"] = resting[:, None] * np.array([0.0, 0.0, 2.0])
            forces[name, "bin"] = np.zeros((n, 3))
        for finger in FINGERS:
            forces["table", finger] = (rng.random(n) < 0.005)[:, None] * np.array([0.0, 0.0, -3.0])
        closed = np.any([held[name] for name in MOVED], axis=0)
        # The robot's root goes where the held object is, and its arm stays: the object keeps its place in the hand.
        root = np.sum([held[name][:, None] * places[name] for name in MOVED], axis=0)
        stamps = PERIOD_S * (1.0 + step) + np.zeros(n)
        found.append(
            Inputs(
                places,
                velocities,
                wxyz,
                forces,
                points,
                np.where(closed, 0.02, 0.04),
                stamps,
                moment == 0,
                root,
            )
        )
        before = places
    return found


def worlds_of(objects: dict[str, WorldObject], given: Inputs) -> Worlds:
    return Worlds(
        objects,
        {name: Poses(place, given.wxyz) for name, place in given.positions.items()},
        velocities=given.velocities,
        turn_rates=given.velocities,
        forces=given.forces,
        contact_points=given.points,
        joints={"fr3_finger_joint1": given.joint, **{name: np.zeros(len(given.joint)) for name in ARM}},
        frames={"robot": Poses(given.root, given.wxyz)},
        stamps=given.stamps,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, nargs="*", default=[64, 1024, 4096])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    robot, objects = load_robot(ROOT / "src/robot_description/robots/fr3"), solids()
    assert gc.isenabled()
    heads = f"{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'wall p50':>10}{'us/world':>10}"
    print(f"{'worlds':>8}{heads}{'events/step':>13}{'peak':>7}")
    for n in progress(options.worlds, "batch"):
        judge, spent, wall, events = BatchJudge.of_text(TASK, robot, n), list[float](), list[float](), 0
        for step, given in enumerate(inputs_of(n, options.steps + 10, options.seed)):
            begin, begin_wall = time.process_time(), time.perf_counter()
            judge.reset(given.begins)
            found = judge.step(worlds_of(objects, given))
            worlds, codes, _ = found.events.columns()
            if step >= 10:
                spent.append(1e3 * (time.process_time() - begin))
                wall.append(1e3 * (time.perf_counter() - begin_wall))
                events += len(codes)
        median, p99 = np.percentile(spent, (50, 99))
        row = f"{n:>8}{median:>9.2f}{p99:>9.2f}{max(spent):>9.2f}{np.median(wall):>10.2f}"
        print(
            f"{row}{1e3 * median / n:>10.2f}{events / options.steps:>13.1f}{found.peak_success.mean():>7.0%}",
            flush=True,
        )
        assert len(worlds) == len(codes)


if __name__ == "__main__":
    main()
