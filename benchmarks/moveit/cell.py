"""planner_node and move_group as processes, beside a robot at rest in an empty world."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import ObjectStates, WorldObjects
from sensor_msgs.msg import JointState as JointStateMsg

from benchmarks.processor_time import processor_s
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import (
    joint_state_to_msg,
    object_states_to_msg,
    transform_to_msg,
    world_objects_to_msg,
)
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF_STATIC
from handiwork_ros.rclpy_support.service_call import on_executor
from tf2_msgs.msg import TFMessage

NODES = {"planner_node": "planner_node", "move_group": "moveit_facade"}
START_S, ANSWER_S = 300.0, 60.0


class Cell:
    """``with Cell(...) as cell``: the nodes are active.

    Args:
        robot: The robot.
        folder: Its folder.
        world_T_root: Pose of its root link.
        domain_id: DDS domain.
    """

    def __init__(self, robot: Robot, folder: Path, world_T_root: Pose, domain_id: int) -> None:
        self._robot, self._root = robot, world_T_root
        environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain_id),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }
        os.environ.update(environment)
        self._background = BackgroundNode("cell", domain_id=domain_id)
        self.node = self._background.node
        self._signs = Heartbeats(self.node)
        self._signs.watch(*NODES)
        self._publish()
        prefix = Path(sys.prefix) / "lib"
        self._processes = [
            subprocess.Popen(
                [str(prefix / package / name), "--ros-args", "-p", f"robot_dir:={folder}"]
                + (["-p", "engine:=cpu"] if name == "planner_node" else ["-p", "start_timeout_s:=0.0"]),
                env=environment,
            )
            for name, package in NODES.items()
        ]

    def _publish(self) -> None:
        node, arm = self.node, self._robot.arm("")
        objects = node.create_publisher(WorldObjects, "world/objects", LATCHED)
        states = node.create_publisher(ObjectStates, "world/object_states", LATEST)
        joints = node.create_publisher(JointStateMsg, "joint_states", LATEST)
        static = node.create_publisher(TFMessage, "/tf_static", TF_STATIC)
        objects.publish(world_objects_to_msg([], 1, 0.0))
        base = TransformStamped(child_frame_id=f"{self._robot.name}/{self._robot.root_link}")
        base.header.frame_id, base.transform = "world", transform_to_msg(self._root)
        static.publish(TFMessage(transforms=[base]))
        position = dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True))

        def beat() -> None:
            now_s = node.get_clock().now().nanoseconds * 1e-9
            states.publish(object_states_to_msg({}, 1, now_s))
            joints.publish(joint_state_to_msg(JointState(now_s, position, dict.fromkeys(position, 0.0))))

        node.create_timer(0.02, beat)

    def __enter__(self) -> Cell:
        self._background.start()
        end_s = time.monotonic() + START_S
        while not all(self._signs.is_active(name) for name in NODES):
            if time.monotonic() > end_s or any(process.poll() is not None for process in self._processes):
                self.__exit__(None, None, None)
                raise RuntimeError("a node did not become active; the lines above say why")
            threading.Event().wait(0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait()
        self._background.stop()
        self._background.destroy()

    def processor_s(self, node: str) -> float:
        """Return the processor time that a node's process has used, s.

        Args:
            node: Name of the node.
        """
        process = self._processes[list(NODES).index(node)]
        return processor_s(process.pid)

    def call(self, client: Any, request: Any) -> tuple[Any, float]:  # noqa: ANN401 - of any service
        """Return the response of a service, and the time from the request to it [s].

        Args:
            client: The client.
            request: The request.
        """
        done, found = threading.Event(), list[Any]()
        times = list[float]()

        def take(future: Any) -> None:  # noqa: ANN401 - rclpy has no types
            times.append(time.perf_counter())
            found.append(future.result())
            done.set()

        def send() -> None:
            times.append(time.perf_counter())
            client.call_async(request).add_done_callback(take)

        act: Callable[[], None] = send
        on_executor(self.node, act)
        if not done.wait(ANSWER_S):
            raise RuntimeError(f"{client.srv_name} did not answer")
        return found[0], times[1] - times[0]
