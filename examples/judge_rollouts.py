"""Judge many MuJoCo rollouts at once: ``python examples/judge_rollouts.py [--worlds 64]``.

In each world a hand on a gantry, with the fingers of the FR3, puts a cube into a bin. In a quarter of the worlds it
lets go too early, and in another quarter it keeps its fingers closed and pushes instead. ``mujoco.rollout`` simulates
all worlds on all cores; then one call for each step judges them, as ``conditionals_node`` would judge one.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from handiwork import (
    Array,
    BatchJudge,
    BatchVerdicts,
    Pose,
    Poses,
    Shape,
    ShapeKind,
    WorldObject,
    Worlds,
    load_robot,
)
from handiwork_core.model.geometry import frozen

TASK = """
name: tidy
subtasks:
- {name: put, pick_and_place: {object: [cube], container: bin}}
"""
FR3 = Path(__file__).parents[1] / "src" / "robot_description" / "robots" / "fr3"
FINGERS = ("fr3/fr3_leftfinger", "fr3/fr3_rightfinger")
BODIES = ("cube", "can", "bin", "table")
Indices = NDArray[np.int64]
STEP_S, EVERY, END_S = 0.002, 20, 9.0
"""Step of the physics, s; steps between two verdicts; length of an episode, s."""
BIN = np.array([0.4, 0.0, 0.0])
WALLS = [((0.1, 0.1, 0.005), (0.0, 0.0, 0.005))] + [
    ((0.005, 0.1, 0.03), (x, 0.0, 0.03)) if x else ((0.1, 0.005, 0.03), (0.0, y, 0.03))
    for x, y in ((0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1))
]
"""Half edges and centres of the floor and the walls of the bin, m."""


def model_xml() -> str:
    """Return the MuJoCo model; a contact sensor for each pair whose force a condition may ask for."""

    def box(half: object, place: object, more: str = "") -> str:
        return f'<geom type="box" size="{words(half)}" pos="{words(place)}" {more}/>'

    def words(numbers: object) -> str:
        return " ".join(f"{x:g}" for x in numbers)  # type: ignore[attr-defined]

    pairs = [(a, b) for i, a in enumerate(BODIES) for b in (*BODIES[i + 1 :], *FINGERS)]
    sensors = "".join(
        f'<contact name="{a}|{b}" body1="{a}" body2="{b}" num="1" reduce="netforce" data="force pos"/>'
        for a, b in pairs
    )
    fingers = "".join(
        f'<body name="{name}" pos="0 0 -0.1"><joint name="finger{i}" type="slide" axis="0 {side} 0" range="0 0.04"/>'
        + box((0.01, 0.005, 0.02), (0.0, 0.005 * side, 0.0), 'mass="0.05" friction="1.5"')
        + "</body>"
        for i, (name, side) in enumerate(zip(FINGERS, (1, -1), strict=True))
    )
    slides = "".join(
        f'<joint name="{axis}" type="slide" axis="{way}"/>'
        for axis, way in (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1"))
    )
    drives = "".join(f'<position joint="{axis}" kp="2000" dampratio="1"/>' for axis in "xyz")
    drives += "".join(f'<position joint="finger{i}" kp="400" dampratio="1"/>' for i in (0, 1))
    table, walls = box((1.0, 1.0, 0.025), (0.0, 0.0, -0.025)), "".join(box(*wall) for wall in WALLS)
    cube, can = (
        box((0.02, 0.02, 0.02), (0, 0, 0), 'mass="0.1"'),
        box((0.02, 0.02, 0.04), (0, 0, 0), 'mass="0.2"'),
    )
    palm = box((0.03, 0.06, 0.03), (0, 0, -0.03), 'mass="0.5"')
    return f"""
<mujoco>
  <option timestep="{STEP_S}" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody>
    <body name="table">{table}</body>
    <body name="bin" pos="{words(BIN)}">{walls}</body>
    <body name="cube" pos="0 0 0.02"><freejoint name="cube"/>{cube}</body>
    <body name="can" pos="0 0.3 0.04"><freejoint name="can"/>{can}</body>
    <body name="fr3/fr3_hand" pos="0 0 0.4" gravcomp="1">{slides}{palm}{fingers}</body>
  </worldbody>
  <actuator>{drives}</actuator>
  <sensor>{sensors}</sensor>
</mujoco>"""


def geometry() -> dict[str, WorldObject]:
    """Return the shapes of the objects for the conditions, in metres."""
    boxes = {
        "cube": [((0.02, 0.02, 0.02), (0.0, 0.0, 0.0))],
        "can": [((0.02, 0.02, 0.04), (0.0, 0.0, 0.0))],
        "bin": WALLS,
        "table": [((1.0, 1.0, 0.025), (0.0, 0.0, -0.025))],
    }
    return {
        name: WorldObject(
            name,
            tuple(
                Shape(ShapeKind.BOX, frozen(2.0 * np.array(half)), Pose.of(place)) for half, place in parts
            ),
            is_static=name in ("bin", "table"),
        )
        for name, parts in boxes.items()
    }


def commands(cubes: Array, kinds: Indices, steps: int) -> Array:
    """Return the positions of the gantry and the fingers over time.

    Args:
        cubes: Places of the cubes, (n, 2), m.
        kinds: 0 puts the cube away, 1 lets go half-way, 2 pushes with closed fingers, (n,).
        steps: Number of steps.

    Returns:
        (n, steps, 5): x, y, z of the gantry, m, then both fingers, m.
    """
    n = len(cubes)
    at, over = cubes, np.tile(BIN[:2], (n, 1))
    half = np.where(kinds[:, None] == 1, 0.5 * (at + over), over)
    behind = at - np.where(kinds[:, None] == 2, 1.0, 0.0) * (0.08, 0.0)
    low, high, wide, shut = -0.275, -0.1, 0.04, 0.0
    closed = np.where(kinds == 2, shut, wide)
    keys: list[tuple[float, Array, Any, Array]] = [  # time [s], place, height, fingers
        (0.0, behind, high, closed),
        (1.2, behind, high, closed),
        (2.2, behind, low, closed),
        (2.8, behind, low, np.full(n, shut)),
        (3.8, np.where(kinds[:, None] == 2, behind, at), np.where(kinds == 2, low, high), np.full(n, shut)),
        (5.3, half, np.where(kinds == 2, low, high), np.full(n, shut)),
        (6.0, half, np.where(kinds == 2, low, -0.25), np.full(n, shut)),
        (6.3, half, np.where(kinds == 2, low, -0.25), np.full(n, wide)),
        (7.0, half, high, np.full(n, wide)),
    ]
    times = np.array([key[0] for key in keys])
    rows = np.stack([np.column_stack([p, np.broadcast_to(z, n), f, f]) for _, p, z, f in keys], axis=1)
    now = STEP_S * np.arange(steps)
    right = np.clip(np.searchsorted(times, now, side="right"), 1, len(times) - 1)
    share = np.clip((now - times[right - 1]) / (times[right] - times[right - 1]), 0.0, 1.0)[:, None]
    return np.asarray(rows[:, right - 1] + share * (rows[:, right] - rows[:, right - 1]))


def simulate(model: mujoco.MjModel, controls: Array, cubes: Array) -> tuple[Array, Array]:
    """Return states and sensor data of all worlds, (n, steps, ...)."""
    data = mujoco.MjData(model)
    state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    first = np.tile(state, (len(cubes), 1))
    first[:, 1:3] = cubes  # time, then qpos, which begins with the cube
    workers = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    states, sensors = rollout.rollout(model, workers, first, controls)
    return states, sensors


def worlds_of(model: mujoco.MjModel, objects: dict[str, WorldObject], state: Array, sensors: Array) -> Worlds:
    """Return one instant of all worlds as ``Worlds``.

    Args:
        model: The model.
        objects: The shapes.
        state: Full physics states, (n, size).
        sensors: Sensor data, (n, size).
    """
    n, nq = len(state), model.nq
    qpos, qvel = state[:, 1 : 1 + nq], state[:, 1 + nq : 1 + nq + model.nv]
    poses, velocities, turn_rates = {}, {}, {}
    for name in objects:
        body = model.body(name)
        if body.dofnum[0] == 6:
            q, v = model.jnt_qposadr[body.jntadr[0]], body.dofadr[0]
            poses[name] = Poses(qpos[:, q : q + 3], qpos[:, q + 3 : q + 7])
            # The angular velocity is in the axes of the body; only its size counts.
            velocities[name], turn_rates[name] = qvel[:, v : v + 3], qvel[:, v + 3 : v + 6]
        else:
            poses[name] = Poses(np.tile(body.pos, (n, 1)), np.tile(body.quat, (n, 1)))
            velocities[name] = turn_rates[name] = np.zeros((n, 3))
    forces, points = {}, {}
    for i in range(model.nsensor):
        a, b = model.sensor(i).name.split("|")
        at = int(model.sensor_adr[i])
        forces[b, a] = sensors[:, at : at + 3]  # the sensor has the force of its first body on its second
        points[b, a] = sensors[:, at + 3 : at + 6]
    finger = model.jnt_qposadr[model.joint("finger0").id]
    return Worlds(
        objects,
        poses,
        velocities=velocities,
        turn_rates=turn_rates,
        forces=forces,
        contact_points=points,
        joints={"fr3_finger_joint1": qpos[:, finger]},
        stamps=state[:, 0],
    )


def judge(n: int, seed: int) -> tuple[Indices, BatchVerdicts, Counter[str]]:
    """Simulate and judge.

    Args:
        n: Number of worlds.
        seed: Seed of the places of the cubes.

    Returns:
        What each hand did, (n,), the last verdicts, and how often each event happened.
    """
    rng = np.random.default_rng(seed)
    kinds: Indices = np.arange(n) % 4 % 3
    cubes = rng.uniform((-0.1, -0.05), (0.1, 0.05), (n, 2))
    model, objects, steps = mujoco.MjModel.from_xml_string(model_xml()), geometry(), int(END_S / STEP_S)
    states, sensors = simulate(model, commands(cubes, kinds, steps), cubes)
    judged, events = BatchJudge.of_text(TASK, load_robot(FR3), n), Counter[str]()
    for step in range(0, steps, EVERY):
        found = judged.step(worlds_of(model, objects, states[:, step], sensors[:, step]))
        events.update(raised.code.name for raised in found.events.raised for _ in raised.world)
    return kinds, found, events


def main() -> None:
    """Print what became of the worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds, found, events = judge(options.worlds, options.seed)
    print(f"{'the hand':<24}{'worlds':>8}{'success':>9}{'mean score':>12}")
    for kind, name in enumerate(("puts the cube away", "lets go too early", "pushes")):
        these = kinds == kind
        print(
            f"{name:<24}{these.sum():>8}{found.success[these].mean():>9.0%}{found.end_score[these].mean():>12.2f}"
        )
    print(", ".join(f"{name.lower()} {count}" for name, count in events.most_common()))


if __name__ == "__main__":
    main()
