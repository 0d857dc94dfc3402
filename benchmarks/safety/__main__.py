"""Cost of the safety layer in each control period, and its time of reaction: ``python -m benchmarks.safety``.

Cost is processor time of the thread, as other work on the machine does not count. Reaction is simulated time from the
first period that exceeds a limit, found by other code, to the end of the period whose command brakes.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.safety.plants import PLANTS, ZONE, run
from handiwork_core.control.joint_groups import JointArrays
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Array
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig, ZoneFrame
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation

ROOT = Path(__file__).parents[2]
ROBOTS = {"fr3": "tabletop", "genie1": "genie1_table"}
FAR = replace(ZONE, frame=ZoneFrame.ROBOT, center=(0.0, 0.0, 30.0))


def costs(name: str, scene: str, zones: int, seconds: float) -> np.ndarray:
    """Measure the processor time of each control period in which all arms swing, us.

    Args:
        name: Name of the robot.
        scene: Name of the scene.
        zones: Number of zones.
        seconds: Simulated time, s.
    """
    robot = load_robot(ROOT / f"src/robot_description/robots/{name}")
    config = SafetyConfig(zones=tuple(replace(FAR, name=f"zone {i}") for i in range(zones)))
    simulation = Simulation(robot, load_scene(ROOT / f"config/scenes/{scene}.yaml"), config)
    used: list[int] = []
    control, forces = simulation.safety.control, simulation.world.arm_forces

    def timed(joints: JointArrays, _force: Array | None, step_s: float) -> None:
        began = time.thread_time_ns()
        control(joints, forces(), step_s)
        used.append(time.thread_time_ns() - began)

    simulation.world.arm_forces = lambda: simulation.safety.monitor.force  # type: ignore[method-assign]
    simulation.safety.control = timed  # type: ignore[assignment, method-assign]
    for arm_name, spec in robot.arms.items():
        start = simulation.measured(arm_name)
        t = np.linspace(0.0, round(seconds), 50 * round(seconds) + 1)
        shape = np.eye(len(start))[0] * 0.1
        turn = (1.0 - np.cos(2.0 * np.pi * t))[:, None] * shape
        rate = 2.0 * np.pi * np.sin(2.0 * np.pi * t)[:, None] * shape
        rate[[0, -1]] = 0.0
        simulation.arms[arm_name].controller.start(
            TrajectoryGoal(spec.joint_names, t, start + turn, rate), start
        )
    simulation.advance(round(seconds / CONTROL_S))
    assert simulation.safety.status.protective_stops == 0, simulation.safety.status.reason
    return np.array(used[50:]) / 1e3


def shares(values: list[float] | np.ndarray) -> str:
    """Return p50, p95 and p99 as cells of a table.

    Args:
        values: Numbers, (n,).
    """
    return " | ".join(f"{value:.1f}" for value in np.percentile(values, [50, 95, 99]))


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated time of each cost measurement")
    parser.add_argument("--seeds", type=int, default=20, help="of each planted fault")
    options = parser.parse_args()
    print("| robot | joints | spheres | zones | p50 us | p95 us | p99 us | share of a core at 500 Hz |")
    print("|---|---|---|---|---|---|---|---|")
    for name, scene in ROBOTS.items():
        robot = load_robot(ROOT / f"src/robot_description/robots/{name}")
        joints = sum(len(arm.joint_names) for arm in robot.arms.values())
        spheres = sum(len(item.radii) for item in robot.spheres)
        for zones in (0, 4):
            used = costs(name, scene, zones, options.seconds)
            share = float(used.mean()) * 1e-6 / CONTROL_S
            print(f"| {name} | {joints} | {spheres} | {zones} | {shares(used)} | {100.0 * share:.2f} % |")
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    print(
        "\n| planted fault | runs | stopped | reaction p50 / p95 / p99 [ms] | standstill p50 / p95 / p99 [ms] |"
    )
    print("|---|---|---|---|---|")
    for name, plant in PLANTS.items():
        found = [run(robot, plant, seed) for seed in range(options.seeds)]
        stopped = [one for one in found if one.status.violation is not None]
        right = sum(one.status.violation.cause is plant.cause for one in stopped if one.status.violation)
        reaction = [1e3 * one.reaction_s for one in stopped if np.isfinite(one.reaction_s)]
        rest = [1e3 * one.stop_s for one in stopped]
        first = shares(reaction) if reaction else "before the zone"
        print(
            f"| {name} | {len(found)} | {right} | {first.replace('|', '/')} | {shares(rest).replace('|', '/')} |"
        )
        if name == "zone":
            print(
                f"  closest {min(one.closest_m for one in found):.4f} m, margin {plant.config.zone_margin} m"
            )


if __name__ == "__main__":
    main()
