"""What simulated cameras cost the control loop: ``python -m benchmarks.nodes.cameras``.

Simulation and cameras run as processes; a third one, this, notes when each ``joint_states`` comes, first without a
subscriber of images, then with one of all colour and depth images. ``--picture FOLDER`` keeps the last colour images.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import Image, JointState

from benchmarks.processor_time import processor_s
from handiwork_core.process.domain import lease_free_domain
from handiwork_core.scene.loader import load_scene
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.rclpy_support.qos import LATEST

ROOT = Path(__file__).parents[2]
SCENE = ROOT / "config" / "scenes" / "cameras.yaml"
ROBOT = ROOT / "src" / "robot_description" / "robots" / "fr3"
SETTLE_S = 3.0
"""Time before a measurement in which publishers and subscribers find each other, s."""
KINDS = ("color", "depth")


class Receiver(Node):
    """Notes when joints come, and counts images."""

    def __init__(self) -> None:
        super().__init__("receiver")
        self.joints: list[tuple[float, float]] = []
        self.images: dict[str, list[float]] = {}
        self.newest: dict[str, Image] = {}
        self.create_subscription(JointState, "joint_states", self._on_joints, LATEST)

    def _on_joints(self, message: JointState) -> None:
        self.joints.append((time.monotonic(), time_from_msg(message.header.stamp)))

    def look(self, camera: str) -> None:
        """Subscribe to the images of a camera.

        Args:
            camera: Its name.
        """
        for kind in KINDS:
            topic = f"cameras/{camera}/{kind}/image_raw"

            def keep(message: Image, topic: str = topic) -> None:
                late_s = self.joints[-1][1] - time_from_msg(message.header.stamp)
                self.images.setdefault(topic, []).append(late_s)
                self.newest[topic] = message

            self.create_subscription(Image, topic, keep, LATEST)


def measure(receiver: Receiver, processes: dict[str, subprocess.Popen[bytes]], seconds: float) -> None:
    """Measure for a time, and print one line for each figure.

    Args:
        receiver: Receives.
        processes: The processes by name.
        seconds: How long, s.
    """
    threading.Event().wait(SETTLE_S)
    receiver.joints.clear()
    receiver.images.clear()
    begin = {name: processor_s(process.pid) for name, process in processes.items()}
    threading.Event().wait(seconds)
    wall, stamps = np.array(receiver.joints).T
    gaps = np.diff(wall) * 1e3
    speed = (stamps[-1] - stamps[0]) / (wall[-1] - wall[0])
    p50, p99 = np.percentile(gaps, (50, 99))
    print(
        f"  joint_states: {speed:.3f} simulated s per s, gaps p50 {p50:.1f} p99 {p99:.1f} max {gaps.max():.1f} ms"
    )
    for name, process in processes.items():
        print(f"  {name}: {100.0 * (processor_s(process.pid) - begin[name]) / seconds:.0f} % of a core")
    for topic, late in sorted(receiver.images.items()):
        print(
            f"  {topic}: {len(late) / seconds:.1f} Hz, {1e3 * np.median(late):.0f} ms old at its arrival (median)"
        )


def write_ppm(message: Image, path: Path) -> None:
    """Write a colour image as a file that any viewer reads.

    Args:
        message: The image.
        path: The file.
    """
    head = f"P6 {message.width} {message.height} 255\n".encode("ascii")
    path.write_bytes(head + bytes(message.data))


def main(words: Sequence[str] | None = None) -> None:
    """Run the measurement.

    Args:
        words: Arguments; None: those of the process.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--picture", type=Path, default=None)
    arguments = parser.parse_args(words)
    lease = lease_free_domain()
    os.environ["ROS_DOMAIN_ID"] = str(lease.domain_id)
    options = [f"robot_dir:={ROBOT}", f"scene_file:={SCENE}"]
    ros = ["--ros-args", *(word for option in options for word in ("-p", option))]
    modules = {"sim_bridge": "sim_bridge.node", "sim_cameras": "sim_bridge.cameras.node"}
    processes = {
        name: subprocess.Popen([sys.executable, "-m", module, *ros], stderr=subprocess.DEVNULL)
        for name, module in modules.items()
    }
    rclpy.init()
    receiver = Receiver()
    spinning = threading.Thread(target=rclpy.spin, args=(receiver,), daemon=True)
    spinning.start()
    try:
        while not receiver.joints or not receiver.count_publishers("cameras/overview/color/image_raw"):
            threading.Event().wait(0.1)
        print("nobody looks:")
        measure(receiver, processes, arguments.seconds)
        for camera in load_scene(SCENE).cameras:
            receiver.look(camera.name)
        print("all images:")
        measure(receiver, processes, arguments.seconds)
        for topic, message in receiver.newest.items():
            if arguments.picture is not None and message.encoding == "rgb8":
                write_ppm(message, arguments.picture / f"{topic.split('/')[1]}.ppm")
    finally:
        for process in processes.values():
            process.terminate()
            process.wait(20.0)
        rclpy.try_shutdown()
        spinning.join(5.0)
        lease.close()


if __name__ == "__main__":
    main()
