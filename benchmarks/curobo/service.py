"""The round trip over ROS: a planner process with cuRobo, asked by a client in this one."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import WorldObjects
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg

from benchmarks.mbm.rows import markdown
from benchmarks.planning import demo_world, down
from handiwork_core.outcome import Code
from handiwork_core.planning import PlanRequest, PoseGoals
from handiwork_core.world import JointState
from handiwork_ros import conversions as to
from handiwork_ros.clients import PlannerClient
from handiwork_ros.liveness import LifeSigns
from handiwork_ros.qos import LATCHED, LATEST, TF_STATIC
from tf2_msgs.msg import TFMessage

from .machine import FR3, fr3

RUNS = 60
READY_S = 60.0
HEADS = ("ms", "engine", "round trip p50", "p95", "in the engine p50", "added by ROS p50", "p95", "solved")


def main(_options: argparse.Namespace) -> int:
    lines = []
    for engine in ("curobo", "cpu"):
        with planner(engine), client() as node:
            signs = LifeSigns(node)
            wait_until(lambda s=signs: s.is_active("planner_node"), READY_S)  # type: ignore[misc]
            for what, count in (("one pose", 1), ("set of 100 poses", 100)):
                lines.append([what, engine, *measured(PlannerClient(node, fr3(), signs), count)])
    print(markdown(HEADS, lines))
    return 0


def measured(service: PlannerClient, count: int) -> list[str]:
    """Round trips of RUNS plans to sets of ``count`` poses."""
    rng, home = np.random.default_rng(0), np.array(fr3().arm("").home_q)
    whole, inside, solved = [], [], 0
    for i in range(RUNS + 3):
        poses = tuple(
            down(fr3(), 0.45 + x, 0.2 + y, rng.uniform(0.15, 0.3), rng.uniform(-3, 3))
            for x, y in rng.uniform(-0.05, 0.05, (count, 2))
        )
        request = PlanRequest("", home, PoseGoals(poses), seed=i)
        before = time.perf_counter()
        result = service.plan(request, should_stop=lambda: False)
        whole.append(1e3 * (time.perf_counter() - before))
        inside.append(1e3 * result.planning_time_s)
        solved += result.code is Code.OK
    all_ms, engine_ms = np.array(whole[3:]), np.array(inside[3:])
    added = all_ms - engine_ms
    numbers = [*np.percentile(all_ms, (50, 95)), np.median(engine_ms), *np.percentile(added, (50, 95))]
    return [*(f"{n:.2f}" for n in numbers), f"{solved} of {RUNS + 3}"]


@contextmanager
def planner(engine: str) -> Iterator[None]:
    """The planner's process."""
    given = ["-p", f"robot_dir:={FR3}", "-p", f"engine:={engine}", "-p", "fall_back_to_cpu:=false"]
    process = subprocess.Popen(
        [sys.executable, "-m", "planner_node.node", "--ros-args", *given], start_new_session=True
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(15.0)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def client() -> Iterator[Node]:
    """A node that shows the demo world and the arm at home, spun by a thread."""
    context, over = Context(), threading.Event()
    context.init()
    executor = SingleThreadedExecutor(context=context)
    node = Node("service_benchmark", context=context)
    show_world(node)
    executor.add_node(node)

    def spin() -> None:
        while not over.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield node
    finally:
        over.set()
        thread.join()
        executor.shutdown()
        node.destroy_node()
        context.shutdown()


def show_world(node: Node) -> None:
    """Publish the robot's place, the demo world and the joints, as a robot or simulation does."""
    world, arm = demo_world(), fr3().arm("")
    link = TransformStamped(child_frame_id=f"{fr3().name}/{fr3().root_link}")
    link.header.frame_id = "world"
    node.create_publisher(TFMessage, "/tf_static", TF_STATIC).publish(TFMessage(transforms=[link]))
    node.create_publisher(WorldObjects, "world/objects", LATCHED).publish(
        to.world_objects_to_msg(list(world.objects.values()), 1, 0.0)
    )
    states = to.object_states_to_msg(dict(world.states), 1, 1.0)
    joints = to.joint_state_to_msg(
        JointState(1.0, dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True)))
    )
    state_pub = node.create_publisher(type(states), "world/object_states", LATEST)
    joint_pub = node.create_publisher(JointStateMsg, "joint_states", LATEST)

    def show() -> None:
        state_pub.publish(states)
        joint_pub.publish(joints)

    node.create_timer(0.02, show)


def wait_until(condition: Callable[[], bool], limit_s: float) -> None:
    """Return when the condition holds."""
    end_s = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end_s:
            raise TimeoutError(f"the planner was not active after {limit_s:g} s; its log is above")
        threading.Event().wait(0.02)
