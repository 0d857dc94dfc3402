"""Cost of the page in the browser, and when it is ready: ``python -m benchmarks.nodes.page [--stack]``.

A robot whose arm moves and objects that all move are published without a simulation, and a real browser looks at them.
With ``--stack`` the time is measured between the last node of a stack that is active and the page that accepts goals.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from handiwork_msgs.msg import ObjectStates, WorldObjects
from sensor_msgs.msg import JointState

from benchmarks.processor_time import processor_s
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_cli.stack.stack import Stack
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, WorldObject
from handiwork_core.process.domain import DOMAIN, lease_domain
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.clients.skill_goals import skill_goal
from handiwork_ros.conversions import object_states_to_msg, time_to_msg, world_objects_to_msg
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST

if TYPE_CHECKING:
    from support.stack.browser import Tab

ROOT = Path(__file__).parents[2]
STATES_HZ, JOINTS_HZ = 50.0, 125.0
EDGE_M, APART_M, SWING_M = 0.03, 0.06, 0.02
SETTLE_S = 6.0


class MovingWorld:
    """Publishes an arm that swings and objects that all circle.

    Args:
        count: Number of objects.
    """

    def __init__(self, count: int) -> None:
        self._robot = load_robot(share_of("robot_description") / "robots/fr3")
        self._count, self._begun_s = count, time.monotonic()
        self._background = BackgroundNode("moving_world")
        node = self._background.node
        box = Shape(ShapeKind.BOX, frozen([EDGE_M] * 3), Pose.identity())
        names = [f"object_{i}" for i in range(count)]
        self._geometry = world_objects_to_msg(
            [WorldObject(name, (box,), mass_kg=0.1) for name in names], 1, 0.0
        )
        self._objects = node.create_publisher(WorldObjects, "world/objects", LATCHED)
        self._states = node.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._joints = node.create_publisher(JointState, "joint_states", LATEST)
        node.create_timer(1.0 / STATES_HZ, self._move_objects)
        node.create_timer(1.0 / JOINTS_HZ, self._move_arm)
        node.create_timer(2.0, lambda: self._objects.publish(self._geometry))
        self._objects.publish(self._geometry)
        self._background.start()

    def _move_objects(self) -> None:
        at_s, zero = time.monotonic() - self._begun_s, np.zeros(3)
        states = {}
        for i in range(self._count):
            x, y = 0.3 + APART_M * (i % 10), -0.3 + APART_M * (i // 10)
            place = (x + SWING_M * np.cos(at_s + i), y + SWING_M * np.sin(at_s + i), EDGE_M)
            states[f"object_{i}"] = ObjectState(Pose.of(place), zero, zero, at_s)
        self._states.publish(object_states_to_msg(states, 1, at_s))

    def _move_arm(self) -> None:
        at_s, arm = time.monotonic() - self._begun_s, self._robot.arm("")
        q = arm.home_q + 0.3 * np.sin(at_s)
        names = [*arm.joint_names, "fr3_finger_joint1"]
        message = JointState(name=names, position=[*q.tolist(), 0.04], velocity=[0.0] * len(names))
        message.header.stamp = time_to_msg(at_s)
        self._joints.publish(message)

    def close(self) -> None:
        """End the node."""
        self._background.stop()
        self._background.destroy()


@contextmanager
def page() -> Iterator[tuple[str, int]]:
    """Run the page in a process of its own.

    Yields:
        Its address and its process id.
    """
    command = [str(Path(sys.executable).with_name("handiwork")), "view", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = next(line for line in process.stdout if line.startswith("page: "))
    try:
        yield line.split()[1], process.pid
    finally:
        process.terminate()
        process.wait()


def share_of_core(pid: int, seconds: float) -> float:
    """Return the processor time of a process, percent of one core.

    Args:
        pid: The process.
        seconds: Length of the measurement, s.
    """
    before, begun = processor_s(pid), time.monotonic()
    threading.Event().wait(seconds)
    return 100.0 * (processor_s(pid) - before) / (time.monotonic() - begun)


def _share_while_pumped(tab: Tab, pid: int, seconds: float) -> float:
    """Return the share of a core while the browser's events are taken, which playwright does only within its calls."""
    before, begun = processor_s(pid), time.monotonic()
    tab.page.wait_for_timeout(1e3 * seconds)
    return 100.0 * (processor_s(pid) - before) / (time.monotonic() - begun)


def measure_cost(count: int, seconds: float) -> None:
    """Print what the page costs without and with an open browser.

    Args:
        count: Number of objects.
        seconds: Length of each measurement, s.
    """
    sys.path.insert(0, str(ROOT / "test"))
    from support.stack.browser import browser

    lease = lease_domain()
    os.environ.update(with_ros_defaults({**os.environ, DOMAIN: str(lease.domain_id)}))
    folder = share_of("robot_description") / "robots/fr3"
    node = [
        str(Path(sys.executable).with_name("robot_description")),
        "--ros-args",
        "-p",
        f"robot_dir:={folder}",
    ]
    robot = subprocess.Popen(node, stderr=subprocess.DEVNULL)
    world = MovingWorld(count)
    try:
        with page() as (address, pid), browser() as open_tab:
            threading.Event().wait(SETTLE_S)
            print(f"nobody looks: {share_of_core(pid, seconds):.1f} % of a core")
            tab = open_tab(address)
            threading.Event().wait(SETTLE_S)
            tab.count_updates("/world/object_0")
            share = _share_while_pumped(tab, pid, seconds)
            rate = tab.count_updates("/world/object_0") / seconds
            print(
                f"one looks at {count} objects that move: {share:.1f} % of a core, {rate:.0f} updates a second"
            )
            tab.page.close()
            threading.Event().wait(SETTLE_S)
            print(f"nobody looks any more: {share_of_core(pid, seconds):.1f} % of a core")
    finally:
        world.close()
        robot.terminate()
        robot.wait()
        lease.close()


def take_picture(path: Path) -> None:
    """Take the picture of the documentation: the page while an FR3 picks the cube.

    Args:
        path: The file.
    """
    sys.path.insert(0, str(ROOT / "test"))
    from support.stack.browser import browser

    # Slowly, as a browser without a graphics card draws a picture in seconds.
    arguments = {"engine": "cpu", "real_time_factor": "0.15"}
    with Stack(arguments, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        with page() as (address, _pid), browser(is_sharp=True) as open_tab:
            tab = open_tab(address)
            tab.wait_text("FALSE object_grabbed")
            stack.client.send(skill_goal("pick", {"object": "cube"}))
            tab.wait_text("EXECUTING")
            tab.page.evaluate(
                "document.querySelectorAll('.mantine-Notification-root').forEach((n) => n.remove())"
            )
            tab.page.screenshot(path=str(path), timeout=300_000)


def measure_ready() -> None:
    """Print how long after the stack the page shows the robot; both begin together, as by ``make view``."""
    with Stack({"engine": "cpu"}, write=lambda line: print(line, file=sys.stderr)) as stack:
        begun = time.monotonic()
        command = [str(Path(sys.executable).with_name("handiwork")), "view", "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        ready: list[float] = []
        out = process.stdout
        assert out is not None
        reader = threading.Thread(
            target=lambda: ready.extend(time.monotonic() - begun for line in out if "shows" in line)
        )
        reader.start()
        active_s = stack.wait_active()
        while not ready and time.monotonic() - begun < 120.0:
            threading.Event().wait(0.05)
        process.terminate()
        process.wait()
        reader.join()
        after_s = ready[0] - active_s
        print(f"stack active after {active_s:.1f} s, page ready after {ready[0]:.1f} s: {after_s:+.1f} s")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=50, help="number of objects")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each measurement")
    parser.add_argument("--stack", action="store_true", help="measure when the page is ready instead")
    parser.add_argument("--picture", type=Path, help="take the picture of the documentation instead")
    options = parser.parse_args()
    if options.picture is not None:
        take_picture(options.picture)
    elif options.stack:
        measure_ready()
    else:
        measure_cost(options.objects, options.seconds)


if __name__ == "__main__":
    main()
