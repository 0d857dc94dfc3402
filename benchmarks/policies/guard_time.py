"""How long the guard takes for a step, and for a chunk of 16, while the arm of the tabletop moves at random."""

from __future__ import annotations

import argparse
import time

import numpy as np

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_policy.guard.guard import Guard
from handiwork_policy.guard.joint_filter import Motion
from handiwork_policy.guard.settings import GuardSettings

CHUNK = 16
STEP_S = 0.04


def main() -> None:
    """Time the steps, and print the percentiles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    robot, scene = load_robot(robot_folder("fr3")), load_scene(scene_file("tabletop"))
    arm, rng = next(iter(robot.arms.values())), np.random.default_rng(options.seed)
    world = LockStepCell(robot, scene, 10.0).snapshot()
    base = scene.world_T_base @ link_poses(robot, {}, (arm.base_link,))[arm.base_link]
    guard = Guard(robot, arm, scene.world_T_base, STEP_S, GuardSettings())
    motion = Motion.at_rest(np.array([world.joints.position[name] for name in arm.joint_names]))
    guard.update(world, base, (), motion)
    guard.step(motion, motion.q)  # loads the kernels
    steps, chunks = list[float](), list[float]()
    for _ in range(options.chunks):
        target = rng.uniform(guard.limits.low, guard.limits.high)
        begun_s = time.perf_counter()
        for _ in range(CHUNK):
            step_s = time.perf_counter()
            guard.update(world, base, (), motion)
            motion = guard.step(motion, target).motion
            steps.append(1e3 * (time.perf_counter() - step_s))
        chunks.append(1e3 * (time.perf_counter() - begun_s))
    for name, times in (("step", steps), (f"chunk of {CHUNK} steps", chunks)):
        p50, p95, p99 = np.percentile(times, [50, 95, 99])
        print(f"{name}: p50 {p50:.3f} ms, p95 {p95:.3f} ms, p99 {p99:.3f} ms, greatest {max(times):.3f} ms")
    print(f"{guard.counts.steps} steps, {guard.counts.changed} changed: {guard.counts.shown()}")


if __name__ == "__main__":
    main()
