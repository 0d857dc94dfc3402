"""Cost of the adapter in front of Isaac Sim's interface, and the demo's success over it and over plain MuJoCo.

``python -m benchmarks.simulation.isaac_adapter [--episodes 50] [--seconds 20]``. Latency: from
``isaac_joint_states`` to the same stamp on ``joint_states``, both received in one other process. Load: processor time
of the adapter's process while joints come at 200 Hz of wall time, the stand-in at twice real time. Both with the
stand-in and the adapter alone, and beside all other nodes.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from scipy.stats import binomtest
from sensor_msgs.msg import JointState

from benchmarks.nodes.processes import process
from benchmarks.processor_time import processor_s
from handiwork_cli.commands.stack.soak import measure, targets_of
from handiwork_cli.stack.demo_cells import robot_of
from handiwork_cli.stack.soak_statistics import Tally
from handiwork_cli.stack.stack import Stack
from handiwork_core.control.rate_limiter import RateLimiter
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import LATEST
from isaac_bridge.adapter.ros.joints import JointInterface

ROOT = Path(__file__).resolve().parents[2]
BACKENDS = ("mujoco", "isaac_stand_in")
FACTOR = 2.0
"""Real time factor: the stand-in then sends joints at 200 Hz."""
SETTLE_S = 5.0
SPEED = 0.01
"""Speed of the joints while work is measured, rad/s: fast enough for a command at each measurement."""


class Stamps:
    """The steady time of arrival of each stamp of a topic."""

    def __init__(self, node: Node, topic: str) -> None:
        self.received: dict[tuple[int, int], float] = {}
        node.create_subscription(JointState, topic, self._take, LATEST)

    def _take(self, message: JointState) -> None:
        stamp = message.header.stamp
        self.received[stamp.sec, stamp.nanosec] = time.monotonic()


def listen(seconds: float) -> tuple[Stamps, Stamps]:
    """Receive both topics in one process.

    Args:
        seconds: Duration, s.

    Returns:
        The stamps before and after the adapter.
    """
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context)
    node, executor = Node("latency", context=context), SingleThreadedExecutor(context=context)
    before, after = Stamps(node, "isaac_joint_states"), Stamps(node, "joint_states")
    executor.add_node(node)
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)
    return before, after


def cost_alone(seconds: float) -> list[str]:
    """Measure latency and load of the adapter with the stand-in and no other node.

    Args:
        seconds: Length of each measurement, s.
    """
    places = ["-p", f"robot_dir:={ROOT}/src/robot_description/robots/fr3"]
    places += ["-p", f"scene_file:={ROOT}/config/scenes/tabletop.yaml"]
    wire = ["-p", "speaks:=isaac", "-p", f"real_time_factor:={FACTOR}"]
    simulator = ("-m", "sim_bridge.node", "--ros-args", *places, *wire)
    with process(*simulator), process("-m", "isaac_bridge.node", "--ros-args", *places) as pid:
        return measured("alone", pid, seconds)


def cost_beside(seconds: float) -> list[str]:
    """Measure latency and load of the adapter in a stack without motion.

    Args:
        seconds: Length of each measurement, s.
    """
    arguments = {"backend": "isaac_stand_in", "engine": "cpu", "real_time_factor": str(FACTOR)}
    with Stack(arguments, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        return measured("beside all nodes", stack.client.signs.pid("isaac_bridge") or 0, seconds)


def measured(where: str, pid: int, seconds: float) -> list[str]:
    """Return table rows about the adapter's process, which has just been started.

    Args:
        where: Label of the rows.
        pid: The process.
        seconds: Length of each measurement, s.
    """
    threading.Event().wait(SETTLE_S)
    used, began = processor_s(pid), time.monotonic()
    threading.Event().wait(seconds)
    share = (processor_s(pid) - used) / (time.monotonic() - began)
    before, after = listen(seconds)
    rate_hz = (len(before.received) - 1) / (max(before.received.values()) - min(before.received.values()))
    both = before.received.keys() & after.received.keys()
    added_ms = 1e3 * np.array([after.received[stamp] - before.received[stamp] for stamp in both])
    p50, p95, p99 = np.percentile(added_ms, (50, 95, 99))
    load = os.getloadavg()[0]
    return [
        f"| {where}: isaac_joint_states received | {rate_hz:.0f} Hz |",
        f"| {where}: joint_states after isaac_joint_states, p50 / p95 / p99 | {p50:.2f} / {p95:.2f} / {p99:.2f} ms"
        f" (n = {len(both)}) |",
        f"| {where}: adapter, share of one core | {100.0 * share:.1f} % |",
        f"| {where}: load average of the machine ({os.cpu_count()} cores) | {load:.1f} |",
    ]


def work(count: int = 3000) -> list[str]:
    """Measure the processor time from the bytes of one measurement to the command and joint state that it causes.

    Args:
        count: Number of measurements.
    """
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context)
    robot = robot_of("fr3")
    node = ManagedNode("work", context=context)
    joints = JointInterface(node, robot, 0.02, SafetyConfig(), Pose.identity())
    joints._pace = RateLimiter(1e6)  # every joint state, though measurements come faster here than over DDS
    begin = home(robot, joints.names)
    message = JointState(name=list(joints.names), position=begin)
    message.velocity = message.effort = [0.0] * len(joints.names)
    took_ms, arm = [], robot.arm("")
    for index in range(count):
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(5_000_000 * (index + 1), 10**9)
        message.position = [*(here + SPEED * 0.005 * index for here in begin[:7]), *begin[7:]]
        data = serialize_message(message)
        began = time.thread_time_ns()
        joints._take(data, {"publication_sequence_number": index + 1})
        took_ms.append(1e-6 * (time.thread_time_ns() - began))
        if index == 0:
            joints.open()
            controller = joints.running().plant.arms[arm.name].controller
            start, t = controller.reference.position, np.linspace(0.0, 60.0, 100)
            path = start + SPEED * np.outer(t, np.ones(len(start)))
            rates = np.full(path.shape, SPEED)
            rates[[0, -1]] = 0.0
            controller.start(TrajectoryGoal(arm.joint_names, t, path, rates), start)
    p50, p99 = np.percentile(took_ms[10:], (50, 99))
    node.destroy_node()
    rclpy.shutdown(context=context)
    text = f"| one measurement to command and joint state, processor time, p50 / p99 | {p50:.2f} / {p99:.2f} ms |"
    return [
        text,
        f"| the same at 200 Hz, share of one core | {100.0 * 0.2 * float(np.mean(took_ms)):.1f} % |",
    ]


def home(robot: Robot, names: Sequence[str]) -> list[float]:
    """Return the joint positions at the start of the world, rad or m.

    Args:
        robot: The robot.
        names: Names of the joints.
    """
    return [joint_position(robot, name, {}) for name in names]


def success(episodes: int, seed: int, factor: float) -> list[str]:
    """Run randomised pick and place over each backend, with equal seeds.

    Args:
        episodes: Number of episodes per backend.
        seed: Seed of the first.
        factor: Simulated seconds per second.
    """
    rows = []
    for backend in BACKENDS:
        words = argparse.Namespace(
            robot="fr3",
            scene="",
            backend=backend,
            episodes=episodes,
            seed=seed,
            real_time_factor=factor,
            cancel_every=0,
        )
        tally: Tally = measure(words, targets_of("fr3", []))
        won = round(tally.rate * tally.episodes)
        low, high = binomtest(won, tally.episodes).proportion_ci(0.95, method="wilson")
        rows.append(f"| {backend} | {won}/{tally.episodes} | {100 * low:.1f} to {100 * high:.1f} % |")
        rows += [f"<!-- {f.episode} {f.stage} {f.code}: {f.message} -->" for f in tally.failures]
        print(rows[-1], flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables.

    Args:
        arguments: The command line; None for that of the process.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=50, help="over each backend; 0: none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--factor", type=float, default=1.0, help="simulated seconds per second of the episodes"
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of each measurement of the cost; 0: none"
    )
    options = parser.parse_args(arguments)
    if options.seconds:
        rows = [*work(), *cost_alone(options.seconds), *cost_beside(options.seconds)]
        print("\n".join(["| what | measured |", "|---|---|", *rows]), flush=True)
    if options.episodes:
        rows = success(options.episodes, options.seed, options.factor)
        print("\n".join(["| backend | episodes | 95 % interval (Wilson) |", "|---|---|---|", *rows]))


if __name__ == "__main__":
    main()
