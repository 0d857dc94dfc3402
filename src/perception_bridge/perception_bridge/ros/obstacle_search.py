"""The search for obstacles that nobody modelled: depth cameras in, ``world/unmodelled`` out.

Images are worked on in a thread, so that the node goes on meanwhile; of each camera the newest counts.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import Point
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from sensor_msgs.msg import CameraInfo, Image, PointCloud2
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker

from handiwork_core.model.diagnostics import Diagnosis, Level
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ObjectState, WorldObject
from handiwork_core.robot.joint_history import JointHistory
from handiwork_core.robot.robot import Robot
from handiwork_core.voxels.voxel_map import VoxelMap
from handiwork_ros.conversions import time_from_msg, voxel_map_to_msg
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import LATEST, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from perception_bridge.obstacles.known_bodies import KnownBodies, KnownObjects, robot_spheres
from perception_bridge.obstacles.obstacle_map import CloudLook, DepthLook, ObstacleMap
from perception_bridge.obstacles.settings import DepthKind, DepthSpec, ObstacleSettings
from perception_bridge.ros.camera_frames import CameraFrames
from perception_bridge.ros.depth_messages import depth_of, lens_of, points_of
from perception_bridge.tracking.stamps import stamp_fault

LOG_PERIOD_S = 5.0
KEPT_S = 3.0
"""The time for which states of objects are kept, s."""
SILENT_S = 3.0
"""A camera without an image for so long is named in the diagnostics, s."""
SPARE = 0.05
"""The share of the edge of a cell by which boxes are published larger on each side."""
MOST_MARKED = 50_000
"""Cells of one marker."""


class Seen(NamedTuple):
    """The objects of the world at one time, s."""

    stamp_s: float
    objects: Mapping[str, WorldObject]
    states: Mapping[str, ObjectState]


class Job(NamedTuple):
    """One look, with what was known at its time; ``look`` reads the message, and raises ValueError if it is bad."""

    title: str
    look: Callable[[], DepthLook | CloudLook]
    spheres: Array
    seen: Seen


@dataclass
class Eye:
    """One camera."""

    spec: DepthSpec
    info: CameraInfo | None = None
    waiting: Any = None
    is_wanted: bool = False
    received_s: float = -1.0
    looked_s: float = -1.0e9
    looks: int = 0
    faults: int = 0
    fault: str = ""
    is_told_silent: bool = field(default=False)


class ObstacleSearch:
    """Subscribes to the depth cameras of a table, and publishes the cells that are occupied.

    Args:
        node: Hosts subscriptions, publishers and services.
        settings: Where obstacles are looked for, and by what.
        robot: The robot.
        history: The joints of the last seconds.
        frames: Finds frames.
        now: Returns the time of the node's clock, s.
        max_age_s: Older images are not believed, s.
    """

    def __init__(
        self,
        node: ManagedNode,
        settings: ObstacleSettings,
        robot: Robot,
        history: JointHistory,
        frames: CameraFrames,
        now: Callable[[], float],
        max_age_s: float,
    ) -> None:
        self._node, self._settings, self._robot, self._now = node, settings, robot, now
        self._history, self._frames, self._max_age_s = history, frames, max_age_s
        self._eyes = {spec.topic: Eye(spec) for spec in settings.cameras}
        self._seen: deque[Seen] = deque()
        self._map, self._objects = ObstacleMap(settings), KnownObjects()
        self._wake, self._jobs = threading.Condition(), dict[str, Job]()
        self._done, self._closed, self._is_cleared = list[tuple[str, VoxelMap | None, str]](), False, False
        self._published: VoxelMap | None = None
        self._told = ""
        self._voxels = LatchedPublisher(node, VoxelMapMsg, "world/unmodelled")
        self._markers = node.create_publisher(Marker, "world/unmodelled/markers", LATEST)
        node.create_service(Trigger, "perception/look", self._on_look)
        node.create_service(Trigger, "perception/forget_obstacles", self._on_forget)
        for eye in self._eyes.values():
            self._subscribe(eye)
        self._thread = threading.Thread(target=self._run, name="obstacles", daemon=True)
        self._thread.start()

    def start_over(self) -> None:
        """Forget all looks, as the node begins or its clock went back."""
        self._seen.clear()
        with self._wake:
            self._jobs.clear()
            self._is_cleared = True
            self._wake.notify()

    def stop(self) -> None:
        """Stop repeating the latched map."""
        self._voxels.forget()

    def close(self) -> None:
        """End the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(5.0)

    def poll(self, objects: Mapping[str, WorldObject], states: Mapping[str, ObjectState]) -> None:
        """Publish what was found since the last call, and begin the looks that are due.

        Args:
            objects: All objects of the world, by name.
            states: Their poses now.
        """
        now_s = self._now()
        self._seen.append(Seen(now_s, objects, states))
        while now_s - self._seen[0].stamp_s > KEPT_S:
            self._seen.popleft()
        with self._wake:
            done, self._done = self._done, []
        for title, voxels, fault in done:
            if fault:
                self._complain(title, fault)
            if voxels is not None:
                self._publish(voxels)
        self._tell_silence(now_s)
        for title, eye in self._eyes.items():
            if eye.waiting is not None and self._is_due(eye, now_s):
                message, eye.waiting = eye.waiting, None
                self._begin(title, eye, message, now_s)

    def _subscribe(self, eye: Eye) -> None:
        title, is_depth = eye.spec.topic, eye.spec.kind is DepthKind.DEPTH

        def on_info(message: CameraInfo) -> None:
            eye.info = message

        def on_message(message: Any) -> None:
            eye.waiting, eye.received_s = message, self._now()

        if is_depth:
            self._node.create_subscription(
                CameraInfo, eye.spec.info_topic, guard(self._node, on_info), STREAM
            )
        kind: Any = Image if is_depth else PointCloud2
        self._node.create_subscription(kind, title, guard(self._node, on_message), STREAM)
        self._node.diagnostics.add(title, lambda: self._diagnosis(title, eye))

    def _is_due(self, eye: Eye, now_s: float) -> bool:
        rate = self._settings.rate
        return eye.is_wanted or (rate > 0.0 and abs(now_s - eye.looked_s) >= 1.0 / rate)

    def _begin(self, title: str, eye: Eye, message: Any, now_s: float) -> None:
        """Hand a look to the thread, with the robot and the objects at its time."""
        stamp_s = time_from_msg(message.header.stamp)
        fault = stamp_fault(stamp_s, now_s, self._max_age_s)
        if not fault and eye.spec.kind is DepthKind.DEPTH and eye.info is None:
            fault = f"no CameraInfo came on {eye.spec.info_topic} yet; start the camera's driver with its calibration"
        joints = self._history.at(stamp_s)
        if not fault and joints is None:
            fault = (
                f"joint_states has no joints of the time {stamp_s:.3f} s, and the arm would be an obstacle"
            )
        if fault or joints is None:
            self._complain(title, fault)
            return
        try:
            pose = self._frames.world_T_frame(message.header.frame_id, stamp_s)
            spheres = robot_spheres(self._robot, self._frames.base(), joints)
        except ValueError as error:
            self._complain(title, str(error))
            return
        seen = min(self._seen, key=lambda one: abs(one.stamp_s - stamp_s))
        read = self._reading(eye, message, pose, stamp_s)
        eye.is_wanted, eye.looked_s, eye.looks = False, now_s, eye.looks + 1
        with self._wake:
            self._jobs[title] = Job(title, read, spheres, seen)
            self._wake.notify()

    def _reading(
        self, eye: Eye, message: Any, pose: Pose, stamp_s: float
    ) -> Callable[[], DepthLook | CloudLook]:
        info = eye.info

        def read() -> DepthLook | CloudLook:
            if info is None:
                return CloudLook(points_of(message), pose, stamp_s)
            depth = depth_of(message)
            rows, columns = depth.shape
            return DepthLook(depth, *lens_of(info, (rows, columns)), pose, stamp_s)

        return read

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._jobs and not self._closed and not self._is_cleared:
                    self._wake.wait()
                if self._closed:
                    return
                is_cleared, self._is_cleared = self._is_cleared, False
                jobs, self._jobs = list(self._jobs.values()), {}
            if is_cleared:
                self._map.clear()
            done = [self._work(job) for job in jobs]
            with self._wake:
                self._done += done

    def _work(self, job: Job) -> tuple[str, VoxelMap | None, str]:
        try:
            known = KnownBodies(job.spheres, self._objects.shapes(job.seen.objects, job.seen.states))
            self._map.look(job.title, job.look(), known)
            return job.title, self._map.map(known), ""
        except ValueError as error:
            return job.title, None, str(error)
        except Exception as error:  # noqa: BLE001 - no content of a message may end the thread
            return job.title, None, f"{type(error).__name__}: {error}"

    def _publish(self, voxels: VoxelMap) -> None:
        """Publish a map, unless the one before covers it: planners judge motions again for each.

        Boxes are published a little larger than they were seen, so that noise seldom makes another map.
        """
        before = self._published
        if before is None or not before.covers(voxels):
            self._published = voxels = voxels.grown(SPARE)
            self._voxels.publish(voxel_map_to_msg(voxels))
        if self._markers.get_subscription_count() > 0:
            self._markers.publish(marker_of(voxels))

    def _on_look(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        for eye in self._eyes.values():
            eye.is_wanted, eye.waiting = True, None
        response.success = self._node.is_active
        count = len(self._eyes)
        response.message = f"the next images of {count} cameras count; world/unmodelled follows if it changes"
        if not self._node.is_active:
            response.message = "perception_bridge is not active; activate it first"
        return response

    def _on_forget(self, _request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.start_over()
        response.success, response.message = True, "all looks are forgotten; the next one counts alone"
        return response

    def _tell_silence(self, now_s: float) -> None:
        """Name cameras that have become silent in the log, and all silent ones in the node's status."""
        silent = []
        for title, eye in self._eyes.items():
            is_silent = eye.received_s >= 0.0 and now_s - eye.received_s > SILENT_S
            if is_silent:
                silent.append(f"{title}: {silence(now_s - eye.received_s)}")
                if not eye.is_told_silent:
                    self._node.get_logger().warning(silent[-1])
            eye.is_told_silent = is_silent
        if self._node.status_text in ("", self._told):
            self._node.status_text = self._told = "; ".join(silent)

    def _complain(self, title: str, fault: str) -> None:
        eye = self._eyes[title]
        eye.faults, eye.fault = eye.faults + 1, fault
        self._node.get_logger().warning(f"{title}: {fault}", throttle_duration_sec=LOG_PERIOD_S)

    def _diagnosis(self, title: str, eye: Eye) -> list[Diagnosis]:
        age_s = self._now() - eye.received_s
        is_silent = eye.received_s < 0.0 or age_s > SILENT_S
        text = "no image came yet" if eye.received_s < 0.0 else f"the newest image is {age_s:.1f} s old"
        if is_silent and eye.received_s >= 0.0:
            text = silence(age_s)
        cells = 0 if self._published is None else int(np.count_nonzero(self._published.occupied))
        values = {"looks": str(eye.looks), "faults": str(eye.faults), "newest fault": eye.fault}
        level = Level.WARN if is_silent else Level.OK
        return [Diagnosis(title, level, text, {**values, "occupied cells": str(cells)})]


def silence(age_s: float) -> str:
    """Return what is said of a camera that sends no more.

    Args:
        age_s: Time since its newest image, s.
    """
    return f"no image for {age_s:.0f} s, and what it saw last stays an obstacle; see whether the camera is plugged in"


def marker_of(voxels: VoxelMap) -> Marker:
    """Return the occupied cells as cubes for RViz and Foxglove, at most MOST_MARKED of them.

    Args:
        voxels: The map.
    """
    message = voxel_map_to_msg(voxels)
    marker = Marker(header=message.header, ns="unmodelled", type=Marker.CUBE_LIST, action=Marker.ADD)
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.y = marker.scale.z = voxels.grid.cell_m
    marker.color.r, marker.color.g, marker.color.b, marker.color.a = 0.85, 0.35, 0.1, 0.7
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in voxels.centres()[:MOST_MARKED].tolist()]
    if not marker.points:
        marker.action = Marker.DELETE
    return marker
