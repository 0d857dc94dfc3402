"""Records joints and objects while something else runs; messages are kept as bytes and read afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.robot import Robot

PERIOD_S = 1.0 / 15.0


@dataclass(frozen=True, slots=True, eq=False)
class Instant:
    """One sample of a recording.

    Attributes:
        joints: Positions by name, rad or m.
        objects: Poses in ``world`` by name.
    """

    joints: dict[str, float]
    objects: dict[str, Pose]


@dataclass(frozen=True, slots=True, eq=False)
class FilmRecording:
    """Instants ``PERIOD_S`` apart in steady time.

    Attributes:
        objects: Shapes of the objects by name.
        world_T_root: Pose of the robot's root link.
        instants: The samples.
    """

    objects: dict[str, WorldObject]
    world_T_root: Pose
    instants: tuple[Instant, ...]


class Recorder:
    """Records with a node, context and thread of its own, from its creation until ``stop``."""

    def __init__(self, robot: Robot, node_name: str = "handiwork_film") -> None:
        import rclpy
        from handiwork_msgs.msg import ObjectStates, WorldObjects
        from rclpy.clock import Clock, ClockType
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions
        from sensor_msgs.msg import JointState

        from handiwork_ros.ports.frames import FrameBuffer
        from handiwork_ros.rclpy_support.qos import LATCHED, LATEST

        self._robot = robot
        self._newest: dict[str, bytes] = {}
        self._kept: list[tuple[bytes, bytes]] = []
        self._geometry: Any = None
        self._ended = threading.Event()
        self._context = rclpy.Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node(node_name, context=self._context)
        self._frames = FrameBuffer(self._node, dynamic=False)
        self._streams = {"joint_states": JointState, "world/object_states": ObjectStates}
        for topic, kind in self._streams.items():
            self._node.create_subscription(kind, topic, self._noting(topic), LATEST, raw=True)
        self._node.create_subscription(WorldObjects, "world/objects", self._on_geometry, LATCHED)
        self._node.create_timer(PERIOD_S, self._keep, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name=node_name, daemon=True)
        self._thread.start()

    def stop(self) -> FilmRecording:
        """End the recording and read it; a second call is not allowed.

        Raises:
            BadMessage: a message that was recorded is malformed.
            ValueError: too little was received for a picture.
            LookupError: no transform gives the pose of the robot.
        """
        import rclpy

        self._ended.set()
        self._thread.join()
        try:
            return self._read()
        finally:
            self._executor.shutdown()
            self._node.destroy_node()
            rclpy.shutdown(context=self._context)

    def _noting(self, topic: str) -> Callable[[bytes], None]:
        def note(message: bytes) -> None:
            self._newest[topic] = message

        return note

    def _on_geometry(self, message: object) -> None:
        self._geometry = message

    def _keep(self) -> None:
        if len(self._newest) == len(self._streams):
            joints, objects = (self._newest[topic] for topic in self._streams)
            self._kept.append((joints, objects))

    def _spin(self) -> None:
        while not self._ended.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def _read(self) -> FilmRecording:
        from rclpy.serialization import deserialize_message

        from handiwork_ros.conversions import (
            joint_state_from_msg,
            object_states_from_msg,
            world_objects_from_msg,
        )

        if self._geometry is None or not self._kept:
            missing = [topic for topic in self._streams if topic not in self._newest]
            raise ValueError(
                f"nothing was received on {', '.join(missing) or 'world/objects'}; start the stack first"
            )
        kinds = tuple(self._streams.values())
        instants = []
        for joints, objects in self._kept:
            joint_state = joint_state_from_msg(deserialize_message(joints, kinds[0]))
            states = object_states_from_msg(deserialize_message(objects, kinds[1]))
            poses = {name: state.world_T_object for name, state in states.items()}
            instants.append(Instant(dict(joint_state.position), poses))
        world_T_root = self._frames.lookup("world", f"{self._robot.name}/{self._robot.root_link}")
        return FilmRecording(world_objects_from_msg(self._geometry), world_T_root, tuple(instants))
