"""Torques of motions with a load, before and after the effort limits are kept, and what that costs.

``python -m benchmarks.planning.payload [--robot fr3 --mass 3.0] [--runs 100]``.

The arm moves between random free configurations of its whole range, with a cube between its fingers and no obstacle.
Torques are shares of the effort limits of the URDF, the greatest of all joints and samples. Processor time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.planning import Attachment, JointGoals, PlanRequest, SceneQuery
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.dynamics.arm_bodies import ArmMasses
from handiwork_planning.dynamics.inverse_dynamics import joint_torques
from handiwork_planning.dynamics.torque_limit import TorqueLimit

ROBOTS = Path(__file__).parents[2] / "src" / "robot_description" / "robots"
CASES = (("fr3", 0.0), ("fr3", 2.2), ("fr3", 3.0), ("ur10_suction", 9.5), ("lift2", 1.0))
SIZE_M = 0.08


def held_cube(robot: Robot, arm: ArmSpec, mass_kg: float) -> tuple[World, SceneQuery]:
    """Return a world with a cube, and the scene in which the arm holds it at its TCP.

    Args:
        robot: The robot.
        arm: The arm.
        mass_kg: Mass of the cube, kg.
    """
    cube = WorldObject(
        "cube", (Shape(ShapeKind.BOX, frozen([SIZE_M] * 3), Pose.identity()),), mass_kg=mass_kg
    )
    state = ObjectState(Pose.of((5.0, 5.0, 5.0)), np.zeros(3), np.zeros(3), 0.0)
    poses = link_poses(robot, {})
    ee_T_cube = poses[arm.ee_link].inverse() @ poses[arm.tcp_link] @ Pose.of((0.0, 0.0, 0.5 * SIZE_M - 0.02))
    world = World(0.0, 1, {"cube": cube}, {"cube": state})
    return world, SceneQuery(attached=(Attachment("cube", arm.ee_link, ee_T_cube),))


def motions(
    robot: Robot, arm: ArmSpec, world: World, scene: SceneQuery, runs: int
) -> tuple[list[Trajectory], Array]:
    """Return motions, each from the goal of the one before, and the processor time of each plan, (k,), ms.

    Args:
        robot: The robot.
        arm: The arm.
        world: The world.
        scene: The scene.
        runs: Number of motions.
    """
    engine, rng = CpuEngine(robot, Pose.identity(), lambda _share, _text: None), np.random.default_rng(1)
    engine.update_world(world)
    low, high = np.array([(robot.joints[n].lower, robot.joints[n].upper) for n in arm.joint_names]).T
    found, spent, q = list[Trajectory](), list[float](), np.array(arm.home_q)
    for seed in progress(range(10 * runs), "planning"):
        goal = rng.uniform(low, high)
        begun = time.process_time()
        result = engine.plan(
            PlanRequest(arm.name, q, JointGoals(goal[None]), scene, seed=seed), lambda: False
        )
        if result.trajectory is not None:
            spent.append(1e3 * (time.process_time() - begun))
            found.append(result.trajectory)
            q = goal
        if len(found) == runs:
            break
    return found, np.array(spent)


def share(robot: Robot, arm: ArmSpec, world: World, scene: SceneQuery, trajectory: Trajectory) -> float:
    """Return the greatest share of an effort limit along a motion.

    Args:
        robot: The robot.
        arm: The arm.
        world: The world.
        scene: The scene with the held object.
        trajectory: The motion.
    """
    masses = ArmMasses(robot, arm, {}, Pose.identity())
    bodies = masses.bodies([(scene.attached[0], world.objects["cube"])])
    rows = (np.array(values, order="C") for values in (trajectory.q, trajectory.qd, trajectory.qdd))
    torque = joint_torques(bodies, masses.gravity, *rows)
    return float((np.abs(torque) / [robot.joints[name].effort for name in arm.joint_names]).max())


def measure(name: str, mass_kg: float, runs: int) -> None:
    """Print the row of one robot and mass.

    Args:
        name: Name of the robot.
        mass_kg: Mass of the cube, kg.
        runs: Number of motions.
    """
    robot = load_robot(ROBOTS / name)
    arm, limit = next(iter(robot.arms.values())), TorqueLimit(robot, Pose.identity())
    world, scene = held_cube(robot, arm, mass_kg)
    found, planning_ms = motions(robot, arm, world, scene, runs)
    before, after, stretch, spent, refused = [], [], [], [], 0
    for one in found:
        begun = time.process_time()
        kept, outcome = limit.kept(arm.name, one, scene, world)
        spent.append(1e3 * (time.process_time() - begun))
        before.append(share(robot, arm, world, scene, one))
        if not outcome.ok:
            refused += 1
            continue
        after.append(share(robot, arm, world, scene, kept))
        stretch.append(kept.duration_s / one.duration_s)
    shares, kept_shares = np.array(before), np.array(after)
    print(
        f"| {name}, {mass_kg:g} kg | {np.median(shares):.2f}, {shares.max():.2f} | {(shares > 1.0).sum()} "
        f"| {np.median(kept_shares):.2f}, {kept_shares.max():.2f} | {(kept_shares > 1.0).sum()} | {refused} "
        f"| {', '.join(f'{x:.2f}' for x in np.percentile(stretch, [50, 95, 100]))} "
        f"| {', '.join(f'{x:.1f}' for x in np.percentile(planning_ms, [50, 95]))} "
        f"| {', '.join(f'{x:.2f}' for x in np.percentile(spent, [50, 95]))} |",
        flush=True,
    )


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="", help="only this one")
    parser.add_argument("--mass", type=float, default=0.0, help="mass of the cube with --robot [kg]")
    parser.add_argument("--runs", type=int, default=100, help="motions of each row")
    given = parser.parse_args()
    print("| robot, cube | torque before: p50, max | above 1 | after: p50, max | above 1 | refused", end="")
    print(" | times as long: p50, p95, max | plan [ms]: p50, p95 | limit [ms]: p50, p95 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, mass_kg in [(given.robot, given.mass)] if given.robot else CASES:
        measure(name, mass_kg, given.runs)


if __name__ == "__main__":
    main()
