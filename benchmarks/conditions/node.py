"""Processor time and delay of conditionals_node: ``python -m benchmarks.conditions.node [--seconds 10]``.

It watches 100 predicates over 50 objects. A synthetic world is published at a steady rate; the node is a process of its
own. The delay is the time from the stamp of a world, taken right before it is published, to the arrival of the change
on ``conditions/events`` at this process.
"""

from __future__ import annotations

import argparse
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from benchmarks.processor_time import processor_s
from handiwork_cli.processes.progress import progress
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    WorldObject,
)
from handiwork_core.process.domain import lease_domain

ROOT = Path(__file__).resolve().parents[2]
OBJECTS, BINS, PERIODS = 50, 4, 50
STAMP_AT = 4
"""First byte of the header's stamp in a serialized message."""
CONDITIONS = [
    *[("object_in_container", {"object": f"item_{i}", "container": f"bin_{i % BINS}"}) for i in range(35)],
    *[("object_above", {"object": f"item_{i}", "reference_object": f"bin_{i % BINS}"}) for i in range(20)],
    *[("object_on_top", {"object": f"item_{i}", "reference_object": "table"}) for i in range(15)],
    *[("object_outside_of", {"object": f"item_{i}", "container": f"bin_{i % BINS}"}) for i in range(15)],
    *[("object_grabbed", {"object": f"item_{i}"}) for i in range(10)],
    *[("object_stationary", {"object": f"item_{i}"}) for i in range(5)],
]
assert len(CONDITIONS) == 100


@dataclass(frozen=True)
class Load:
    """How much of the world moves, and the rate of its messages.

    Attributes:
        name: Label of the row.
        moving: Number of items that move.
        rate_hz: Worlds per second, Hz.
    """

    name: str
    moving: int
    rate_hz: float = 100.0


def names() -> list[str]:
    items = OBJECTS - BINS - 1
    return [f"item_{i}" for i in range(items)] + [f"bin_{i}" for i in range(BINS)] + ["table"]


def geometry() -> list[WorldObject]:
    def box(name: str, *size: float) -> WorldObject:
        return WorldObject(name, (Shape(ShapeKind.BOX, frozen(size), Pose.identity()),))

    sizes = {"bin": (0.3, 0.3, 0.1), "table": (2.0, 2.0, 0.05), "item": (0.04, 0.05, 0.06)}
    return [box(name, *sizes[name.split("_")[0]]) for name in names()]


def states(phase: int, moving: int) -> dict[str, ObjectState]:
    """Return the states of a world: items swing in and out of their bins once in ``PERIODS`` worlds.

    Args:
        phase: Index of the world.
        moving: Number of items that move; the others are still.
    """
    found = {}
    for i, name in enumerate(progress(names(), "node")):
        angle = 2.0 * np.pi * (phase / PERIODS + i / 7.0)
        swing = 0.25 * np.sin(angle) if i < moving else 0.0
        place = (
            (0.5 * (i % BINS) + swing, 0.001 * i, 0.05)
            if name.startswith("item")
            else (0.5 * (i % BINS), 0.0, 0.0)
        )
        speed = (0.25 * np.cos(angle) if i < moving else 0.0, 0.0, 0.0)
        found[name] = ObjectState(Pose.of(place), frozen(speed), frozen((0.0, 0.0, 0.0)), 0.0)
    return found


def contacts(phase: int, moving: int) -> list[Contact]:
    """Return the contacts of a world: every item presses on the table, a moving one with a force that changes.

    Args:
        phase: Index of the world.
        moving: Number of items that move.
    """
    rng = np.random.default_rng(phase)
    forces = [
        (0.0, 0.0, 1.0 + (0.1 * rng.random() if i < moving else 0.0)) for i in range(OBJECTS - BINS - 1)
    ]
    return [Contact(f"item_{i}", "table", frozen(f), frozen((0.0, 0.0, 0.0))) for i, f in enumerate(forces)]


class Bench:
    """Publishes worlds, receives events, and reads the processor time of the node."""

    def __init__(self, pid: int) -> None:
        import rclpy
        from geometry_msgs.msg import TransformStamped
        from handiwork_msgs.msg import Condition, Conditions, Contacts, ObjectStates, WorldObjects
        from rclpy.executors import SingleThreadedExecutor
        from sensor_msgs.msg import JointState as JointStateMsg

        from handiwork_ros.conversions import world_objects_to_msg
        from handiwork_ros.rclpy_support.qos import (
            EVENTS,
            LATCHED,
            LATEST,
            TF_STATIC,
        )
        from tf2_msgs.msg import TFMessage

        self.pid = pid
        rclpy.init()
        self.node = rclpy.create_node("bench")
        self.table_seen = threading.Event()
        self.delays_s: list[float] = []
        base = TransformStamped(child_frame_id="fr3/fr3_link0")
        base.header.frame_id, base.transform.rotation.w = "world", 1.0
        self.frames = self.node.create_publisher(TFMessage, "/tf_static", TF_STATIC)
        self.frames.publish(TFMessage(transforms=[base]))
        latched = self.node.create_publisher(WorldObjects, "world/objects", LATCHED)
        latched.publish(world_objects_to_msg(geometry(), 1, 0.0))
        self.pubs = [
            self.node.create_publisher(kind, topic, LATEST)
            for kind, topic in (
                (Contacts, "world/contacts"),
                (JointStateMsg, "joint_states"),
                (ObjectStates, "world/object_states"),
            )
        ]
        self.node.create_subscription(Condition, "conditions/events", self._on_event, EVENTS)
        self.node.create_subscription(Conditions, "conditions", lambda _: self.table_seen.set(), LATCHED)
        executor = SingleThreadedExecutor()
        executor.add_node(self.node)
        threading.Thread(target=executor.spin, daemon=True).start()

    def _on_event(self, message: object) -> None:
        stamp = message.stamp  # type: ignore[attr-defined]
        self.delays_s.append(time.time() - stamp.sec - 1e-9 * stamp.nanosec)

    def messages(self, load: Load) -> list[list[bytearray]]:
        """Return the serialized worlds of one period; only the stamps are written later.

        Args:
            load: How much moves.
        """
        from rclpy.serialization import serialize_message

        from handiwork_ros.conversions import contacts_to_msg, joint_state_to_msg, object_states_to_msg

        joints = joint_state_to_msg(
            JointState(0.0, {f"fr3_joint{i}": 0.1 * i for i in range(1, 8)} | {"fr3_finger_joint1": 0.04})
        )
        return [
            [
                bytearray(serialize_message(contacts_to_msg(contacts(phase, load.moving), 0.0))),
                bytearray(serialize_message(joints)),
                bytearray(serialize_message(object_states_to_msg(states(phase, load.moving), 1, 0.0))),
            ]
            for phase in range(PERIODS)
        ]

    def play(self, load: Load, seconds: float) -> tuple[float, float]:
        """Publish worlds for some time.

        Args:
            load: How much moves, and the rate.
            seconds: The time, s.

        Returns:
            The node's share of a core, %, and the rate that was reached, Hz.
        """
        worlds, period = self.messages(load), 1.0 / load.rate_hz
        begin, used, sent = time.monotonic(), processor_s(self.pid), 0
        while (now := time.monotonic()) - begin < seconds:
            due = begin + sent * period
            if now < due:
                time.sleep(due - now)  # noqa: TID251 - a steady rate
            for message, publisher in zip(worlds[sent % PERIODS], self.pubs, strict=True):
                stamp = time.time_ns()
                struct.pack_into("<iI", message, STAMP_AT, stamp // 1_000_000_000, stamp % 1_000_000_000)
                publisher.publish(bytes(message))
            sent += 1
        wall = time.monotonic() - begin
        return 100.0 * (processor_s(self.pid) - used) / wall, sent / wall


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Start the node with the hundred conditions.

    Args:
        folder: Folder for its configuration file.
    """
    file = folder / "conditions.yaml"
    file.write_text(
        yaml.safe_dump({"conditions": [{"name": name, "args": args} for name, args in CONDITIONS]})
    )
    robot = ROOT / "src" / "robot_description" / "robots" / "fr3"
    options = ["--ros-args", "-p", f"robot_dir:={robot}", "-p", f"conditions_file:={file}"]
    return subprocess.Popen([Path(sys.executable).with_name("conditionals_node"), *options])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each measurement")
    options = parser.parse_args()
    lease = lease_domain()
    os.environ.update(with_ros_defaults({**os.environ, "ROS_DOMAIN_ID": str(lease.domain_id)}))
    loads = [Load("nothing moves", 0), Load("10 of 50 objects move", 10), Load("all 45 items move", 45)]
    with tempfile.TemporaryDirectory() as folder:
        process = start(Path(folder))
        try:
            bench = Bench(process.pid)
            if not bench.table_seen.wait(30.0):
                raise RuntimeError("conditionals_node does not publish; see its output above")
            heads = f"{'% of a core':>12}{'rate Hz':>9}{'events/s':>10}{'p50 ms':>8}{'p99 ms':>8}"
            print(f"{'100 Hz, 100 predicates':<26}{heads}")
            for load in loads:
                bench.play(load, 2.0)
                bench.delays_s.clear()
                share, rate = bench.play(load, options.seconds)
                delays = 1e3 * np.array(bench.delays_s or [np.nan])
                p50, p99 = np.percentile(delays, (50, 99))
                events = len(bench.delays_s) / options.seconds
                row = f"{share:>12.1f}{rate:>9.1f}{events:>10.1f}{p50:>8.2f}{p99:>8.2f}"
                print(f"{load.name:<26}{row}", flush=True)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(10.0)
            if lease is not None:
                lease.close()


if __name__ == "__main__":
    main()
