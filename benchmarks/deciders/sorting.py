"""Sort coloured cubes from a running belt into two bins with an FR3.

``python -m benchmarks.deciders.sorting --seeds 3``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from decider_node.motion.command import MotionCommand
from decider_node.motion.controller import ReactiveController, Settings
from decider_node.sorting.application import OPEN_M, SortingContext, sorting_network
from handiwork_cli.processes.progress import progress
from handiwork_core.control.finger_drives import finger_drives
from handiwork_core.model.conveyor import BeltSpec
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
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, SceneObject
from sim_bridge.mujoco.world import MujocoWorld

ROOT = Path(__file__).resolve().parents[2]
CUBES, EDGE_M, BELT_MPS, CYCLE_S = 6, 0.045, 0.04, 0.01
BINS = {"red": (0.1, -0.5), "blue": (0.1, 0.5)}
BIN_M, BIN_HIGH_M, LET_GO_M = 0.24, 0.1, 0.2
COLORS = {"red": (0.85, 0.2, 0.2, 1.0), "blue": (0.2, 0.3, 0.85, 1.0)}
GREY = (0.4, 0.4, 0.4, 1.0)
DOWN = Rotation.from_rpy(np.pi, 0.0, 0.0)


def box(size: ArrayLike, at: ArrayLike = (0.0, 0.0, 0.0)) -> Shape:
    """Return a solid box.

    Args:
        size: Edges, (3,), m.
        at: Its middle in the object's frame, (3,), m.
    """
    return Shape(ShapeKind.BOX, np.asarray(size, dtype=np.float64), Pose.of(at))


def fixtures() -> tuple[SceneObject, ...]:
    """Return floor, belt, and two open bins."""
    half = 0.5 * BIN_M
    walls = [box((0.01, BIN_M, BIN_HIGH_M), (s * half, 0, 0.5 * BIN_HIGH_M)) for s in (-1, 1)]
    walls += [box((BIN_M, 0.01, BIN_HIGH_M), (0, s * half, 0.5 * BIN_HIGH_M)) for s in (-1, 1)]
    shapes = (box((BIN_M, BIN_M, 0.01)), *walls)
    made = [
        SceneObject(WorldObject("floor", (box((8, 8, 0.1)),), True), Pose.of((0, 0, -0.8)), 0.8, GREY),
        SceneObject(
            WorldObject("belt", (box((0.25, 6.0, 0.05)),), True), Pose.of((0.5, -1.8, -0.025)), 0.8, GREY,
            belt=BeltSpec((0.0, BELT_MPS, 0.0)),
        ),
    ]  # fmt: skip
    for colour, (x, y) in BINS.items():
        body = WorldObject(f"bin_of_{colour}", shapes, True)
        made.append(SceneObject(body, Pose.of((x, y, -0.2)), 0.8, COLORS[colour]))
    return tuple(made)


def scene(seed: int) -> Scene:
    """Return a scene of cubes with random colours, places across the belt and headings.

    Args:
        seed: Seed of the choices.
    """
    rng, items = np.random.default_rng(seed), []
    for k in range(CUBES):
        colour = str(rng.choice(list(BINS)))
        at = (0.5 + rng.uniform(-0.06, 0.06), -0.35 - 0.4 * k, 0.5 * EDGE_M)
        turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), rng.uniform(-np.pi, np.pi))
        body = WorldObject(f"{colour}_{k}", (box((EDGE_M, EDGE_M, EDGE_M)),), mass_kg=0.1)
        items.append(SceneObject(body, Pose.of(at, turn), 0.8, COLORS[colour]))
    return Scene("sorting", "sorting", Pose.identity(), (*fixtures(), *items))


class SortingCell:
    """FR3, belt and cubes in MuJoCo."""

    def __init__(self, seed: int) -> None:
        robot = load_robot(ROOT / "src/robot_description/robots/fr3")
        self.arm, given = robot.arm(""), scene(seed)
        assert self.arm.gripper is not None
        self.gripper, self.world = self.arm.gripper, MujocoWorld(robot, given)
        self._names = [item.name for item in given.objects if not item.body.is_static]
        self._arm = self.world.indices(self.arm.joint_names)
        drives = finger_drives(robot, self.gripper)
        self._fingers = self.world.indices([drive.joint for drive in drives])
        self.world.limit_force(self._fingers, np.array([drive.force_per_grip * 40.0 for drive in drives]))
        self._ee = f"{robot.name}/{self.arm.ee_link}"
        self._ee_T_tip = Pose.of((0.0, 0.0, self.gripper.tcp_offset_m))
        self.controller = ReactiveController(robot, self.arm, Pose.identity(), Settings(clearance_m=0.001))
        still, fixed = frozen(np.zeros(3)), fixtures()
        states = {item.name: ObjectState(item.world_T_object, still, still, 0.0) for item in fixed}
        self.controller.set_world(World(0.0, objects={i.name: i.body for i in fixed}, states=states))
        self._command: MotionCommand | None = None
        self._width_m = OPEN_M

    def cubes(self) -> dict[str, ObjectState]:
        """Return the states of all cubes."""
        return {name: state for name, state in self.world.object_states().items() if name in self._names}

    def tip(self) -> Pose:
        """Return the pose between the fingertips in the world."""
        return self.world.body_pose(self._ee) @ self._ee_T_tip

    def tip_at(self, _stamp_s: float) -> Pose:
        """Return the pose of now: cubes and joints are of the same moment here."""
        return self.tip()

    def joints(self) -> Array:
        """Return the measured joints, (7,), rad."""
        return self.world.joints().position[self._arm]

    def width(self) -> float:
        """Return the measured opening, m."""
        return self.gripper.width(float(self.world.joints().position[self._fingers[0]]))

    def grip(self, width_m: float) -> None:
        """Move the fingers at the speed of their limit.

        Args:
            width_m: Wanted opening, m.
        """
        self._width_m = width_m

    def go(self, command: MotionCommand) -> None:
        """Send a command to the controller, whose target is the hand.

        Args:
            command: The command, for the tip.
        """
        hand = command.world_T_target @ self._ee_T_tip.inverse()
        self._command = MotionCommand(hand, command.approach, self.arm.home_q, command.world_v_target)

    def stop(self) -> None:
        """Brake."""
        self._command = None

    def advance(self) -> None:
        """Run one cycle of the controller and its physics."""
        q = self.joints()
        if self._command is None:
            reference = self.controller.stop(q, CYCLE_S)
        else:
            reference = self.controller.step(self._command, q, CYCLE_S)
        self.world.command(self._arm, reference.q, reference.rate)
        position = self.gripper.position(self._width_m)
        self.world.command(self._fingers, np.full(2, position), np.zeros(2))
        self.world.step(10)


def run(seed: int) -> tuple[int, int, float]:
    """Sort one belt.

    Args:
        seed: Seed of the scene.

    Returns:
        Number of cubes in the right bin, number of cubes, and simulated time, s.
    """
    cell = SortingCell(seed)
    bins = {colour: Pose.of((x, y, LET_GO_M - 0.1), DOWN) for colour, (x, y) in BINS.items()}
    context = SortingContext(cell, bins, np.array([0.0, BELT_MPS, 0.0]))
    network = sorting_network(context)
    while cell.world.time_s < 20.0 * CUBES and context.sorted_count < CUBES:
        network.tick(cell.world.time_s)
        cell.advance()
    for _ in range(100):
        cell.advance()
    right = 0
    for name, state in cell.cubes().items():
        x, y = BINS[name.split("_")[0]]
        away = np.abs(state.world_T_object.translation_m[:2] - (x, y)).max()
        right += bool(away < 0.5 * BIN_M and state.world_T_object.translation_m[2] > -0.3)
    return right, CUBES, cell.world.time_s


def main() -> int:
    """Run all seeds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deciders.sorting", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    total = good = 0
    for seed in progress(range(parser.parse_args().seeds), "sorting"):
        right, cubes, time_s = run(seed)
        total, good = total + cubes, good + right
        print(
            f"seed {seed}: {right} of {cubes} cubes in their bin after {time_s:.0f} s simulated", flush=True
        )
    print(f"{good} of {total} cubes")
    return 0 if good == total else 1


if __name__ == "__main__":
    raise SystemExit(main())
