"""Cost and losses of ``handiwork record`` at 1,000 messages a second: ``python -m benchmarks.recording.recorder``.

This process publishes joint states with nine joints on five topics. The recorder is a process of its own. Its processor
time includes that of the threads of DDS. The recording is read back, and missing messages are counted.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.processor_time import processor_s

TOPICS, JOINTS = 5, 9


def publish(
    rate_hz: float, seconds: float, started: threading.Event, program: subprocess.Popen[str]
) -> float:
    """Publish at a rate, and return the share of a core that the recorder used meanwhile.

    Args:
        rate_hz: Messages a second, on all topics together.
        seconds: Duration, s.
        started: Is set once the recorder has found all topics.
        program: The recorder.
    """
    import rclpy
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node("load")
    publishers = [node.create_publisher(JointState, f"load_{i}", 50) for i in range(TOPICS)]
    while any(one.get_subscription_count() == 0 for one in publishers):
        started.wait(0.1)
    started.wait(2.0)
    message = JointState(name=[f"joint_{i}" for i in range(JOINTS)])
    message.position = message.velocity = message.effort = [0.0] * JOINTS
    before_s, begun_s = processor_s(program.pid), time.monotonic()
    for number in range(int(rate_hz * seconds)):
        message.position[0] = float(number)
        publishers[number % TOPICS].publish(message)
        started.wait(max(0.0, begun_s + (number + 1) / rate_hz - time.monotonic()))
    started.wait(1.0)
    used = (processor_s(program.pid) - before_s) / (time.monotonic() - begun_s)
    node.destroy_node()
    rclpy.shutdown()
    return used


def main() -> int:
    """Print the figures.

    Returns:
        Exit code, 0 exactly when no message is missing.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    from handiwork_cli.processes.ros_environment import with_ros_defaults
    from handiwork_core.process.domain import lease_free_domain

    os.environ.update(with_ros_defaults(os.environ))
    with lease_free_domain() as lease, tempfile.TemporaryDirectory() as folder:
        os.environ["ROS_DOMAIN_ID"] = str(lease.domain_id)
        bag = Path(folder) / "bag"
        command = [str(Path(sys.executable).parent / "handiwork"), "record", str(bag), "--keep-free-mb", "0"]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        used = publish(options.rate, options.seconds, threading.Event(), program)
        program.send_signal(signal.SIGINT)
        print(program.communicate()[0].strip())
        found = numbers(bag)
    wanted = int(options.rate * options.seconds)
    print(f"{100 * used:.1f} % of a core at {options.rate:.0f} messages a second")
    print(f"{wanted - len(found)} of {wanted} messages are missing")
    return 0 if len(found) == wanted else 1


def numbers(bag: Path) -> set[int]:
    """Return the numbers of the messages that were recorded.

    Args:
        bag: Folder of the recording.
    """
    from handiwork_viz.recording.bag_reader import read_messages

    topics = [f"/load_{i}" for i in range(TOPICS)]
    return {int(one.message.position[0]) for one in read_messages(bag, topics)}


if __name__ == "__main__":
    sys.exit(main())
