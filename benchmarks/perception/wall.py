"""Pick and place around a wall that nobody modelled: ``python -m benchmarks.perception.wall [--episodes 50]``.

A wall of 30 x 2 x 26 cm stands between cube and bin. Neither the skills nor the planner have it among their objects:
two simulated depth cameras of 640 x 480 pixels with noise look twice a second, from when cube and can are known, and
``perception_bridge``'s map of occupied cells is all that is known of the wall. Cube and can are what a detector with
faults sees: 5 mm, 3 degrees, 10 % dropouts, 2 % wrong labels, 5 looks per second that come 150 ms late. Every episode
is a seed of its own: scattered scene and wall, Pick, Place, in physics, without ROS. Motions under way are not judged
again: the wall stands where it was seen before.

The judge has the true world. An episode is "round" if the cube ends in the bin and nothing has touched the wall at any
look at the contacts, every 4 ms of physics; "refused" if a skill ended with a sentence before anything touched it;
"touched" if the robot or what it holds did, whatever else came of it. All others are "failed" with their causes. With
``--blind`` the planner has no map, which shows what the wall does to those who do not see it. Intervals are Wilson's,
with 95 % confidence. ``--seed N --episodes 1`` repeats an episode.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from benchmarks.perception.pick_and_place import (  # noqa: E402
    FAULTS,
    run_goals,
    verdict,
)
from handiwork_core.model.joint_kind import JointKind  # noqa: E402
from handiwork_core.model.outcome import Code, Outcome  # noqa: E402
from handiwork_core.model.world import World  # noqa: E402
from handiwork_core.robot.kinematics import joint_position  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_core.scene.loader import load_scene  # noqa: E402
from handiwork_core.voxels.voxel_map import VoxelMap  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from perception_bridge.obstacles.known_bodies import KnownBodies, KnownObjects, robot_spheres  # noqa: E402
from perception_bridge.obstacles.obstacle_map import DepthLook, ObstacleMap  # noqa: E402
from perception_bridge.obstacles.settings import DepthSpec, ObstacleSettings  # noqa: E402
from sim_bridge.cameras.camera_list import all_cameras  # noqa: E402
from sim_bridge.cameras.images import noisy_depth  # noqa: E402
from sim_bridge.cameras.renderer import SceneRenderer, choose_library  # noqa: E402
from sim_bridge.mujoco.simulation import CONTROL_S  # noqa: E402
from support.cells.perceived_cell import PerceivedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

SCENE, WALL = "unmodelled", "wall"
LOOK_S, TOUCH_S = 0.5, 0.004
SPARE = 0.05
"""The share of the edge of a cell by which the node publishes boxes larger."""
ROUND, REFUSED, TOUCHED, FAILED = "round", "refused", "touched", "failed"
REFUSALS = frozenset(
    {
        Code.NO_CANDIDATE,
        Code.PLAN_FAILED,
        Code.PLAN_BUDGET,
        Code.START_IN_COLLISION,
        Code.GOAL_IN_COLLISION,
        Code.NO_IK,
    }
)
"""Codes by which a skill says that it does not move there."""


class WalledCell(PerceivedCell):
    """A perceived cell whose wall only depth cameras see, and a judge that watches the wall.

    Args:
        robot: The robot.
        engine: The planner.
        renderer: Draws what the cameras see.
        seed: Seed of the scene, the detector and the noise of images.
        sees: Whether the cameras look.
    """

    def __init__(
        self, robot: Robot, engine: CpuEngine, renderer: SceneRenderer, seed: int, *, sees: bool
    ) -> None:
        self.touch = ""
        self._looked_s, self._sees = -1.0e9, False
        self._voxels: VoxelMap | None = None
        super().__init__(robot, engine, SCENE, seed, FAULTS)
        self._renderer, self._rng = renderer, np.random.default_rng(seed)
        self._fixed.discard(WALL)
        self._cameras = all_cameras(robot, self.scene)
        cameras = tuple(DepthSpec("depth", camera.name) for camera in self._cameras)
        self._map, self._packer = ObstacleMap(ObstacleSettings(cameras)), KnownObjects()
        renderer.dress(self._cameras, {item.name: item.color for item in self.scene.objects})
        renderer.show(self.objects.values())
        self.wait_seen()
        self._sees = sees
        self.sim.advance(int(2.0 * LOOK_S / CONTROL_S))

    def _advance_and_look(self, steps: int) -> None:
        every = max(1, round(TOUCH_S / CONTROL_S))
        while steps > 0:
            taken = min(steps, every)
            super()._advance_and_look(taken)
            steps -= taken
            self._judge()
            if self._sees and self.now_s() - self._looked_s >= LOOK_S:
                self._looked_s = self.now_s()
                self._look_with_cameras()

    def _judge(self) -> None:
        for contact in self.sim.world.contacts():
            if not self.touch and WALL in (contact.a, contact.b):
                other = contact.b if contact.a == WALL else contact.a
                newton = float(np.linalg.norm(contact.force_on_a_n))
                self.touch = f"{other} touches the wall with {newton:.1f} N at {self.now_s():.2f} s"

    def _look_with_cameras(self) -> None:
        truth, seen = self.truth(), self.snapshot()
        measured = truth.joints.position
        moving = (name for name, joint in self.robot.joints.items() if joint.type is not JointKind.FIXED)
        joints = {name: joint_position(self.robot, name, measured) for name in moving}
        self._renderer.place(joints, {name: state.world_T_object for name, state in truth.states.items()})
        spheres = robot_spheres(self.robot, self.scene.world_T_base, joints)
        known = KnownBodies(spheres, self._packer.shapes(seen.objects, seen.states))
        for camera in self._cameras:
            drawn = self._renderer.draw(camera, color=False, depth=True).depth
            depth = noisy_depth(drawn, camera.noise, self._rng)
            lens = camera.intrinsics
            look = DepthLook(
                depth, lens.focal_px, lens.centre_px, self._renderer.optical_pose(camera), self.now_s()
            )
            self._map.look(camera.name, look, known)
        found, before = self._map.map(known), self._voxels
        if before is None or not before.covers(found):
            self._voxels = found.grown(SPARE)

    def snapshot(self) -> World:
        """Return the world as it is seen, with the map of the cameras."""
        return replace(super().snapshot(), voxels=self._voxels)


def episode(cell: WalledCell, seed: int) -> tuple[str, str, Outcome]:
    """Run Pick, Place and the check.

    Args:
        cell: The cell.
        seed: Seed of the choices.

    Returns:
        What became of it, the part that ended it, and its outcome.
    """
    part, ended = run_goals(cell, seed)
    if ended.ok:
        part, ended = "verdict", verdict(cell.truth())
    if cell.touch:
        return TOUCHED, part, ended
    if ended.ok:
        return ROUND, part, ended
    return (REFUSED if ended.code in REFUSALS else FAILED), part, ended


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no episode begins later")
    parser.add_argument("--blind", action="store_true", help="the planner has no map")
    options = parser.parse_args()
    robot, scene = load_robot(ROBOTS / "fr3"), load_scene(ROOT / f"config/scenes/{SCENE}.yaml")
    engine = CpuEngine(robot, scene.world_T_base, lambda _part, _what: None)
    library = choose_library(os.environ)
    renderer = SceneRenderer(library, robot, scene.world_T_base, all_cameras(robot, scene), {})
    found, end_s = Counter[str](), time.monotonic() + 60.0 * options.minutes
    for seed in range(options.seed, options.seed + options.episodes):
        if time.monotonic() > end_s:
            break
        cell = WalledCell(robot, engine, renderer, seed, sees=not options.blind)
        became, part, ended = episode(cell, seed)
        found[became] += 1
        if became != ROUND:
            print(
                f"seed {seed}: {became}: {cell.touch} {part}: {ended.code.name}: {ended.message}", flush=True
            )
        _print_row(found)
    renderer.close()
    engine.close()
    return 0


def _print_row(found: Counter[str]) -> None:
    count = found.total()
    clean = found[ROUND] + found[REFUSED]
    low, high = binomtest(clean, count).proportion_ci(method="wilson")
    parts = ", ".join(f"{found[name]} {name}" for name in (ROUND, REFUSED, TOUCHED, FAILED))
    print(f"| {clean} of {count} | {100 * low:.1f} to {100 * high:.1f} % | {parts} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
