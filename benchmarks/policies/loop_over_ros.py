"""The loop of a policy in the running stack, with two cameras: ``python -m benchmarks.policies.loop_over_ros``.

The nodes, the server of the policy and the cameras are processes of their own; the images have the size that the policy
wants, and come at the rate of the loop. The stub computes nothing, so that the latency of an answer is the way alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import threading
import time

import numpy as np
import rclpy
from sensor_msgs.msg import Image

from benchmarks.mbm.rows import markdown
from handiwork_cli.stack.stack import Stack
from handiwork_policy.verdicts import result as ends
from handiwork_policy.verdicts.result import policy_result
from handiwork_ros.rclpy_support.qos import LATEST

from .loop_time import CHUNK, KEYS, SIDE, serve

UNTIL = "object_grabbed"
TOPIC = "benchmark/{}"
GOAL_MS = 15.0
"""Wanted at p99 from an observation to its command, beside the policy's own time."""


def show(rate_hz: float) -> None:
    """Publish images of all cameras until the process is ended.

    Args:
        rate_hz: Images of each camera a second.
    """
    rclpy.init()
    node = rclpy.create_node("benchmark_cameras")
    senders = [node.create_publisher(Image, TOPIC.format(key), LATEST) for key in KEYS]
    rng, due_s, pause = np.random.default_rng(0), time.monotonic(), threading.Event()
    data = [rng.integers(0, 256, 3 * SIDE * SIDE, dtype=np.uint8).tobytes() for _ in KEYS]
    while not pause.wait(max(0.0, due_s - time.monotonic())) and node.context.ok():
        due_s += 1.0 / rate_hz
        for sender, pixels in zip(senders, data, strict=True):
            image = Image(width=SIDE, height=SIDE, encoding="rgb8", step=3 * SIDE)
            image.data.frombytes(pixels)
            sender.publish(image)


def run(address: str, rate_hz: float, seconds: float) -> dict[str, object]:
    """Run the stub on the arm for a time, and return the result of the goal.

    Args:
        address: Address of the server.
        rate_hz: Steps a second.
        seconds: How long, s.

    Raises:
        RuntimeError: The run did not end with its time.
    """
    cameras = [{"key": k, "topic": TOPIC.format(k), "width": SIDE, "height": SIDE} for k in KEYS]
    goal = {
        "server": address, "until": UNTIL, "gripper": "none", "time_limit": seconds, "rate_hz": rate_hz,
        "cameras": cameras, "chunk": CHUNK, "execute_steps": 1, "guard": {"velocity_scaling": 0.3},
    }  # fmt: skip
    arguments = {"engine": "cpu", "real_time_factor": "1"}
    with Stack(arguments, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        context = multiprocessing.get_context("spawn")
        shown = context.Process(target=show, args=(rate_hz,), daemon=True)
        shown.start()
        try:
            report = stack.client.run("run_policy", goal, timeout_s=seconds + 120.0)
        finally:
            shown.terminate()
    found = policy_result(report.message)
    if found is None or found["end"] != ends.TIME_OVER:
        raise RuntimeError(f"run_policy ended with {report.outcome.code.name}: {report.outcome.message}")
    return found


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=30.0, help="steps, and images of each camera, a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        found = run(here.recv(), options.rate, options.seconds)
    finally:
        server.terminate()
    steps, chunks, late = found["steps"], found["chunks"], found["late_steps"]
    print(f"{steps} steps at {options.rate:g} Hz, {chunks} chunks, {late} steps late\n")
    rows = [
        [name, *(f"{value:.2f}" for value in found[key])]  # type: ignore[attr-defined]
        for name, key in (
            ("a step, from its look at the world to its command", "step_ms"),
            ("the way to the server and back (the last figure is the greatest)", "inference_ms"),
        )
    ]
    print(markdown(("ms", "p50", "p95", "p99"), rows))
    print(f"\nwanted at p99: {GOAL_MS:g}; load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
