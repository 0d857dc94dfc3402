"""Time from a request over ROS to the first command of the controlled stop and to rest.

Run by ``python -m benchmarks.safety.stops_over_ros [--trials 100]``. The simulation runs in real time in a process of
its own, which writes the steady time of the first command of each stop and of its end; another process sends the
motions, presses the emergency stop, and holds the lease. At rest means 0.05 s below 0.01 rad/s, as in the safety layer.
"""

# ruff: noqa: ANN401 messages of ROS

from __future__ import annotations

import argparse
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.contracts.planning import Report
from handiwork_core.control.joint_groups import JointArrays
from handiwork_core.model.geometry import Array
from handiwork_core.process.domain import DOMAIN, lease_domain
from handiwork_core.robot_files.loader import load_robot

ROOT = Path(__file__).parents[2]
ROBOT, SCENE = ROOT / "src/robot_description/robots/fr3", ROOT / "config/scenes/tabletop.yaml"
SAFETY = ROOT / "config/safety.yaml"
ARM = "fr3_arm"
TARGET_RAD, MOTION_S = 1.0, 4.0
"""Target of the first joint to either side, rad, and the duration of a motion, s."""
MOVING, LONGEST_WAIT_S = 0.2, 0.8
"""Speed from which the arm moves, rad/s, and the longest random wait from then to the request, s."""
LIMIT_S = 30.0


def serve() -> None:
    """Run ``sim_bridge`` with a writer of the two times around the safety layer's control period."""
    from handiwork_ros.node.main import run
    from sim_bridge.node import SimBridge

    class StampedBridge(SimBridge):
        """The node of the product, whose control periods are watched."""

        def on_load(self, report: Report) -> None:
            super().on_load(report)
            assert self._simulation is not None
            safety = self._simulation.safety
            control = safety.control

            def stamped(joints: JointArrays, force: Array | None, step_s: float) -> None:
                was_stopping = stopping[0]
                control(joints, force, step_s)
                stopping[0] = safety.commands_all
                if stopping[0] != was_stopping:
                    word = "braking" if stopping[0] else "rest"
                    sys.stdout.write(f"{word} {time.monotonic():.6f}\n")
                    sys.stdout.flush()

            stopping = [False]
            safety.control = stamped  # type: ignore[method-assign]

    parameters = {"robot_dir": ROBOT, "scene_file": SCENE, "safety_file": SAFETY}
    words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    sys.exit(run(StampedBridge, ["sim_bridge", "--ros-args", *words]))


@contextmanager
def bridge() -> Iterator[queue.Queue[list[str]]]:
    """Run the simulation in a process of its own within the block.

    Yields:
        The words of the lines that it writes.
    """
    lines: queue.Queue[list[str]] = queue.Queue()
    words = [sys.executable, "-m", "benchmarks.safety.stops_over_ros", "--be-bridge"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line.split())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield lines
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(LIMIT_S)
        reader.join(LIMIT_S)


class Client:
    """Sends motions, presses the emergency stop, and renews the lease; its node is spun by a thread of its own."""

    def __init__(self) -> None:
        import rclpy
        from handiwork_msgs.msg import SafetyHeartbeat, SafetyState
        from rclpy.action import ActionClient
        from rclpy.executors import SingleThreadedExecutor
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Bool
        from std_srvs.srv import Trigger

        from control_msgs.action import FollowJointTrajectory
        from handiwork_ros.rclpy_support.qos import LATCHED, LATEST
        from handiwork_ros.safety import names

        rclpy.init()
        self.node, self.executor = rclpy.create_node("safety_benchmark"), SingleThreadedExecutor()
        self.joint_names = load_robot(ROBOT).arm(ARM).joint_names
        self.state: Any = None
        self.joints: Any = None
        self.last_beat_s, self.beating = float("nan"), False
        self._beat_of, self._bool_of, self._trigger = SafetyHeartbeat, Bool, Trigger
        self.node.create_subscription(SafetyState, names.STATE, lambda m: setattr(self, "state", m), LATCHED)
        self.node.create_subscription(
            JointState, "joint_states", lambda m: setattr(self, "joints", m), LATEST
        )
        self.button = self.node.create_publisher(Bool, names.EMERGENCY_STOP, names.REQUESTS)
        self.heart = self.node.create_publisher(SafetyHeartbeat, names.HEARTBEAT, names.HEARTBEATS)
        self.node.create_timer(names.HEARTBEAT_PERIOD_S, self._beat)
        self.services = [self.node.create_client(Trigger, name) for name in (names.RESET, names.RECOVER)]
        self.action = ActionClient(
            self.node, FollowJointTrajectory, f"{ARM}_controller/follow_joint_trajectory"
        )
        self.executor.add_node(self.node)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        while not self._over.is_set():
            self.executor.spin_once(timeout_sec=0.1)

    def close(self) -> None:
        """End the thread and the context."""
        import rclpy

        self._over.set()
        self._thread.join()
        rclpy.shutdown()

    def _beat(self) -> None:
        if self.beating:
            self.heart.publish(self._beat_of(node="/safety_benchmark", arms=[ARM]))
            self.last_beat_s = time.monotonic()

    def press(self, *, down: bool) -> float:
        """Publish the state of the button, and return the steady time just before, s.

        Args:
            down: Whether it is pressed.
        """
        now_s = time.monotonic()
        self.button.publish(self._bool_of(data=down))
        return now_s

    def is_ready(self) -> bool:
        """Check whether all topics, services and the action have their other side."""
        found = self.action.server_is_ready() and all(each.service_is_ready() for each in self.services)
        received = self.state is not None and self.joints is not None
        sides = self.button.get_subscription_count() and self.heart.get_subscription_count()
        return bool(found and received and sides)

    def speed(self) -> float:
        """Return the speed of the first joint, rad/s."""
        return abs(self.joints.velocity[list(self.joints.name).index(self.joint_names[0])])

    def start_motion(self) -> None:
        """Send the first joint to its other side."""
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        from control_msgs.action import FollowJointTrajectory

        measured = dict(zip(self.joints.name, self.joints.position, strict=True))
        end = [measured[name] for name in self.joint_names]
        end[0] = -TARGET_RAD if end[0] > 0.0 else TARGET_RAD
        point = JointTrajectoryPoint(positions=end, velocities=[0.0] * len(end))
        point.time_from_start.sec = int(MOTION_S)
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = JointTrajectory(joint_names=self.joint_names, points=[point])
        handle = self._answer(lambda: self.action.send_goal_async(goal))
        assert handle.accepted

    def clear(self) -> None:
        """Release the button, and leave the stop."""
        until(lambda: self.state.emergency_stop_pressed)
        self.press(down=False)
        until(lambda: not self.state.emergency_stop_pressed)
        for service in self.services:
            answer = self._answer(lambda service=service: service.call_async(self._trigger.Request()))  # type: ignore[misc]
            assert answer.success, answer.message

    def _answer(self, call: Callable[[], Any]) -> Any:
        done: queue.Queue[Any] = queue.Queue()
        # A client is called on the executor's thread: calls from other threads have lost their answers.
        self.executor.create_task(
            lambda: call().add_done_callback(lambda future: done.put(future.result())) and None
        )
        return done.get(timeout=LIMIT_S)


def until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds.

    Args:
        is_so: The condition.

    Raises:
        RuntimeError: It did not hold in time.
    """
    end_s, pause = time.monotonic() + LIMIT_S, threading.Event()
    while not is_so():
        if time.monotonic() > end_s:
            raise RuntimeError(f"nothing happened in {LIMIT_S:.0f} s")
        pause.wait(0.002)


def trial(client: Client, lines: queue.Queue[list[str]], by: str, wait_s: float) -> tuple[float, float]:
    """Stop one motion, and return the times from the request to the first command of the stop and to rest, s.

    Args:
        client: Sends motion and request.
        lines: Times of the simulation's process.
        by: "button" or "lease"; a lease is lost at its last heartbeat.
        wait_s: Time from the moment the arm moves to the request, s.
    """
    client.beating = by == "lease"
    client.start_motion()
    until(lambda: client.speed() > MOVING)
    threading.Event().wait(wait_s)
    if by == "button":
        begun_s = client.press(down=True)
    else:
        client.beating = False
    (first, braking_s), (second, rest_s) = lines.get(timeout=LIMIT_S), lines.get(timeout=LIMIT_S)
    assert (first, second) == ("braking", "rest")
    if by == "button":
        client.clear()
    else:
        begun_s = client.last_beat_s
    until(lambda: client.state.state == client.state.NORMAL)
    return float(braking_s) - begun_s, float(rest_s) - begun_s


def main() -> None:
    """Print one row for each way to stop, or run the simulation's process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the requests")
    parser.add_argument("--be-bridge", action="store_true", help="internal")
    options = parser.parse_args()
    if options.be_bridge:
        serve()
    rng = np.random.default_rng(options.seed)
    with lease_domain() as lease:
        os.environ.update(with_ros_defaults({**os.environ, DOMAIN: str(lease.domain_id)}))
        with bridge() as lines:
            client = Client()
            try:
                until(client.is_ready)
                print(
                    "| request | trials | load | first command p50 / p95 / p99 [ms] | rest p50 / p95 / p99 [ms] |"
                )
                print("|---|---|---|---|---|")
                for by, name in (("button", "emergency stop, topic"), ("lease", "last heartbeat")):
                    waits = rng.uniform(0.0, LONGEST_WAIT_S, options.trials)
                    found = 1e3 * np.array([trial(client, lines, by, float(wait_s)) for wait_s in waits])
                    cells = [
                        " / ".join(f"{value:.0f}" for value in np.percentile(column, [50, 95, 99]))
                        for column in found.T
                    ]
                    print(
                        f"| {name} | {len(found)} | {os.getloadavg()[0]:.1f} | {' | '.join(cells)} |",
                        flush=True,
                    )
            finally:
                client.close()


if __name__ == "__main__":
    main()
