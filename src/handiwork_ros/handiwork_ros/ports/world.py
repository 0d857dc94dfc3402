"""The world as it arrives in messages: snapshots of the newest good messages, and their ages."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node

from handiwork_core.intake.counters import IntakeStatistics
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import (
    JointState,
    World,
    with_parts,
)
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_ros.cdr.codec import stamp_from_bytes
from handiwork_ros.conversions import BadMessage, time_from_msg
from handiwork_ros.intake.world_intake import START_ROBOT, START_WORLD, WorldIntake
from handiwork_ros.rclpy_support.safe_callbacks import guard

from .frames import FRESH_S, FrameBuffer, UnknownFrame
from .world_topics import Subscriptions, WorldTopics, needed_joints


def stamp_of(message: Any) -> float:
    """Return the time of a message with a header, s.

    Args:
        message: The message, serialized or not.
    """
    return stamp_from_bytes(message) if isinstance(message, bytes) else time_from_msg(message.header.stamp)


RECENT_S = 1.0
"""The steady time in which any joint message counts as recent, s."""


class RosWorldSource:
    """WorldSource over the topics of the contract. Queries are safe from any thread and never wait.

    Args:
        node: Hosts the subscriptions.
        robot: Description of the robot.
        wanted: The streams to subscribe to; None: the defaults.
    """

    def __init__(self, node: Node, robot: Robot, wanted: Subscriptions | None = None) -> None:
        self._robot = robot
        self._lock = threading.Lock()
        wanted = wanted or Subscriptions()
        self.frames = FrameBuffer(node, dynamic=wanted.moving_frames, max_age_s=FRESH_S)
        self._cached: tuple[tuple[Any, ...], World] | None = None
        self._base: Pose | None = None
        self._topics = WorldTopics(node, robot, wanted, self._lock)
        self.intake = WorldIntake(node, self._topics.joints, self._topics.others())
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = node.get_clock().create_jump_callback(
            back, post_callback=guard(node, lambda _jump: self.drop())
        )

    def snapshot(self) -> World:
        """Return the newest known world, made of good messages only. It never raises."""
        with self._lock:
            self._topics.fetch()
            streams = (*self._topics.others(), self._topics.planners, self._topics.attached)
            newest = (*(intake.message for intake in streams), self._topics.joints.value())
            # By identity, not by id(): a message that was dropped may leave its id to the next one.
            if self._cached is None or any(a is not b for a, b in zip(self._cached[0], newest, strict=True)):
                self._cached = (newest, self._world())
            return self._cached[1]

    def conflict(self) -> Outcome | None:
        """Return the conflict of two publishers that send what only one may send; see ``WorldIntake.conflict``."""
        with self._lock:
            self._topics.fetch()
            return self.intake.conflict()

    def joint_silence(self) -> str:
        """Return the reason why there are no newer joints of the arms, in one sentence."""
        with self._lock:
            known, good_s = self._topics.joints.value().position, self._topics.joints.counter.good_s
        missing = [name for name in needed_joints(self._robot) if name not in known]
        if missing and time.monotonic() - good_s < RECENT_S:
            return f"joint_states comes without {missing[0]!r}, one of {len(missing)} that are missing; publish all"
        return self.intake.silence("joint_states", START_ROBOT)

    def state_silence(self) -> str:
        """Return the reason why there are no newer poses of objects, in one sentence."""
        return self.intake.silence("world/object_states", START_WORLD)

    def statistics(self) -> tuple[IntakeStatistics, ...]:
        """Return the counts of the messages of each topic."""
        with self._lock:
            self._topics.fetch()
            counters, now_s = self.frames.counters.values(), time.monotonic()
            return (*self.intake.statistics(), *(one.statistics(now_s) for one in counters))

    def world_T_base(self) -> Pose:
        """Return the pose of the robot's root link in ``world``, from ``/tf_static``.

        Raises:
            UnknownFrame: It is not published yet, or the published frames are no tree.
        """
        try:
            return self.frames.lookup("world", f"{self._robot.name}/{self._robot.root_link}")
        except BadMessage as error:
            raise UnknownFrame(str(error)) from error

    def joint_age_s(self) -> float:
        """Return the steady time since the last good joint_states, s; infinite before the first."""
        with self._lock:
            self._topics.fetch()
            return time.monotonic() - self._topics.joints.heard_s()

    def joint_feedback(self) -> tuple[float, float]:
        """Return the arrival and the stamp of the newest joint_states.

        Returns:
            The steady time of arrival, -inf before the first, and the stamp, both s.
        """
        with self._lock:
            self._topics.fetch()
            heard_s = self._topics.joints.heard_s()
            return heard_s, self._topics.joints.value().stamp_s

    def state_age_s(self) -> float:
        """Return the steady time since the last good world/object_states, s; infinite before the first."""
        with self._lock:
            self._topics.fetch()
            return time.monotonic() - self._topics.states.heard_s()

    def silences_s(self) -> tuple[float, float, float]:
        """Return the steady time since the last good message of each stream that moves.

        Returns:
            Those of world/object_states, world/contacts and joint_states, s; infinite before the first.
        """
        with self._lock:
            self._topics.fetch()
            topics, now_s = self._topics, time.monotonic()
            joints_s = topics.joints.heard_s()
            if joints_s == -math.inf:  # No message has the joints of the arms, but others are known.
                joints_s = topics.joints.counter.good_s
            return now_s - topics.states.heard_s(), now_s - topics.contacts.heard_s(), now_s - joints_s

    def has_geometry(self) -> bool:
        """Check whether a good message of world/objects has come."""
        return self._topics.geometry.message is not None

    def drop(self) -> None:
        """Remove what moves: the time has jumped back, so it belongs to another run. Latched geometry is kept."""
        with self._lock:
            self._topics.fetch()  # also the unread messages of before the jump
            for intake in (self._topics.joints, *self._topics.others()):
                if intake is not self._topics.geometry:
                    intake.drop()
            self._base = None

    def _world(self) -> World:
        topics = self._topics
        states, contacts, joints = topics.states.value(), topics.contacts.value(), topics.joints.value()
        version, objects = topics.geometry.value()
        planner_version, obstacles = topics.planners.value()
        states_msg, contacts_msg = topics.states.message, topics.contacts.message
        return World(
            stamp_s=stamp_of(states_msg) if states_msg is not None else joints.stamp_s,
            version=version,
            objects=objects,
            states=states,
            contacts=contacts,
            contacts_stamp_s=stamp_of(contacts_msg) if contacts_msg is not None else 0.0,
            joints=with_parts(joints, objects, states),
            frames=self._known_frames(joints),
            suction={
                name: cup for name, intake in topics.cups.items() if (cup := intake.value()) is not None
            },
            planner_version=planner_version,
            planner_objects=obstacles,
            planner_attached=topics.attached.value(),
        )

    def _known_frames(self, joints: JointState) -> dict[str, Pose]:
        """Return the robot's frame: its root is static and looked up once, measured joints move a mobile base."""
        if self._base is None:
            try:
                self._base = self.world_T_base()
            except UnknownFrame:
                return {}
        base = self._robot.base
        if base is None:
            return {"robot": self._base}
        return {"robot": self._base @ link_poses(self._robot, joints.position)[base.link]}
