"""Speed of the simulation on one core: the world alone, with controllers, and with every message published."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import rclpy
from rclpy.node import Node

from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.loop.sim_loop import CONTROLS_PER_TICK, TICK_S
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation
from sim_bridge.mujoco.world_model import STEP_S
from sim_bridge.ros.publishers import ContractPublishers

ROOT = Path(__file__).parents[2]


def swing(simulation: Simulation, arm: str, seconds: float) -> None:
    """Give the arm a motion of the first joint.

    Args:
        simulation: The simulation.
        arm: Name of the arm.
        seconds: Duration, s.
    """
    start = simulation.measured(arm)
    t = np.arange(0.0, seconds, 0.02)
    turn = 0.25 * (1.0 - np.cos(2.0 * np.pi * t))[:, None] * np.eye(len(start))[0]
    rate = 0.5 * np.pi * np.sin(2.0 * np.pi * t)[:, None] * np.eye(len(start))[0]
    rate[[0, -1]] = 0.0
    goal = TrajectoryGoal(simulation.robot.arms[arm].joint_names, t, start + turn, rate)
    simulation.arms[arm].controller.start(goal, start)


def main() -> None:
    """Print one line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", type=Path, default=ROOT / "config/scenes/tabletop.yaml")
    parser.add_argument("--robot", type=Path, default=ROOT / "src/robot_description/robots/fr3")
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated time of each measurement")
    options = parser.parse_args()
    simulation = Simulation(load_robot(options.robot), load_scene(options.scene))
    arm = next(iter(simulation.arms))

    def report(what: str, began: float) -> None:  # processor time: other work on the machine does not count
        used = time.process_time() - began
        print(
            f"{what}: {options.seconds / used:.1f} x real time, {options.seconds / STEP_S / used:.0f} steps/s"
        )

    began = time.process_time()
    simulation.world.step(round(options.seconds / STEP_S))
    report("world alone", began)
    swing(simulation, arm, options.seconds)
    began = time.process_time()
    simulation.advance(round(options.seconds / CONTROL_S))
    report("world and a moving arm's controller", began)
    rclpy.init()
    publishers = ContractPublishers(Node("benchmark"))
    swing(simulation, arm, options.seconds)
    began = time.process_time()
    for tick in range(round(options.seconds / TICK_S)):
        simulation.advance(CONTROLS_PER_TICK)
        publishers.publish(simulation, tick)
    report("the same, all topics published", began)
    rclpy.shutdown()


if __name__ == "__main__":
    main()
