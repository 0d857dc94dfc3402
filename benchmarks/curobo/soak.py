"""Growth of memory over many plans, with the scene changed and an object attached or detached between."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np

from benchmarks.planning.demo import demo_world, down
from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import (
    Attachment,
    PlanRequest,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from planner_node.engines import CuroboEngine

from .machine import engine, fr3

FIRST = 0.1
"""Share of the plans before memory is read first: by then every shape has been used."""
FLAT = 0.02


def main(options: argparse.Namespace) -> int:
    ours, robot = engine(CuroboEngine), fr3()
    assert isinstance(ours, CuroboEngine)
    home, rng = np.array(robot.arm("").home_q), np.random.default_rng(1)
    failed, wrong, first = 0, 0, (0, 0)
    for i in progress(range(options.plans), "soak"):
        ours.update_world(changed(demo_world(), i, rng))
        held = (Attachment("cube", robot.arm("").ee_link, Pose.of((0.0, 0.0, 0.11))),) if i % 2 else ()
        goals = tuple(
            down(
                robot,
                0.45 + rng.uniform(-0.05, 0.05),
                0.2 + rng.uniform(-0.05, 0.05),
                rng.uniform(0.2, 0.3),
                yaw,
            )
            for yaw in rng.uniform(-3, 3, 1 + i % 5)
        )
        scene = SceneQuery(attached=held, gripper_m=(("fr3_finger_joint1", 0.025 if held else 0.04),))
        result = ours.plan(PlanRequest("", home, PoseGoals(goals), scene, seed=i), lambda: False)
        failed += result.code is not Code.OK
        if result.trajectory is not None:
            wrong += ours.validate("", result.trajectory, scene, home).code is not Code.OK
        if i == int(FIRST * options.plans):
            first = (ours._gpu.memory_bytes(), resident_bytes())
    last = (ours._gpu.memory_bytes(), resident_bytes())
    grown = [b / a - 1.0 for a, b in zip(first, last, strict=True)]
    print(
        f"{options.plans} plans, each in a changed scene, every other with the cube in hand: {failed} found no motion, "
        f"{wrong} motions were refused by the referee.\n\nFrom plan {int(FIRST * options.plans)} on: GPU memory "
        f"{first[0] / 2**20:.0f} to {last[0] / 2**20:.0f} MiB ({100 * grown[0]:+.2f} %), process "
        f"{first[1] / 2**20:.0f} to {last[1] / 2**20:.0f} MiB ({100 * grown[1]:+.2f} %)."
    )
    return wrong + sum(g > FLAT for g in grown)


def changed(world: World, i: int, rng: np.random.Generator) -> World:
    """Return the demo world with a new can, ball or box beside the goals.

    Args:
        world: The demo world.
        i: Version of the world; selects the shape.
        rng: Random numbers.
    """
    kind = (ShapeKind.CYLINDER, ShapeKind.SPHERE, ShapeKind.BOX)[i % 3]
    size = {
        ShapeKind.CYLINDER: rng.uniform(0.03, 0.05, 2),
        ShapeKind.SPHERE: rng.uniform(0.03, 0.05, 1),
        ShapeKind.BOX: rng.uniform(0.04, 0.08, 3),
    }[kind]
    item = WorldObject("thing", (Shape(kind, size, Pose.identity()),))
    still = np.zeros(3)
    states = {
        **world.states,
        "thing": ObjectState(Pose.of((0.3, 0.45 + rng.uniform(-0.05, 0.05), 0.05)), still, still, 0.0),
    }
    return dataclasses.replace(world, version=i, objects={**world.objects, "thing": item}, states=states)


def resident_bytes() -> int:
    """Return the memory of this process, bytes."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return 1024 * int(line.split()[1])
    return 0
