"""Poses of frames in ``world`` at the time of an image, also of cameras that an arm carries."""

from __future__ import annotations

from rclpy.node import Node

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.joint_history import JointHistory
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import BadMessage
from handiwork_ros.ports.frames import FRESH_S, FrameBuffer, StaleFrame, UnknownFrame

WORLD = "world"


class CameraFrames:
    """Looks frames up: those on the robot by its joints at the time of the image, all others by tf.

    Args:
        node: Hosts the subscriptions to ``/tf`` and ``/tf_static``.
        robot: The robot.
        history: The joints of the last seconds.
    """

    def __init__(self, node: Node, robot: Robot, history: JointHistory) -> None:
        self._robot, self._history = robot, history
        self._static = FrameBuffer(node, dynamic=False)
        self._all = FrameBuffer(node, max_age_s=FRESH_S)
        self._mounts: dict[str, tuple[str, Pose]] = {}

    def world_T_frame(self, frame: str, stamp_s: float) -> Pose:
        """Return the pose of a frame.

        Args:
            frame: Its name.
            stamp_s: Time of the image, s.

        Raises:
            ValueError: The frame is not known, its frames form a loop, its transform is too old, or there were no
                joints at that time; the message says which, as a sentence.
        """
        name = frame.lstrip("/")
        if not name:
            raise ValueError("header.frame_id is empty; set it to the optical frame of the camera")
        if name == WORLD:
            return Pose.identity()
        try:
            if (fixed := self._fixed(WORLD, name)) is not None:
                return fixed
            if (mount := self._mount(name)) is not None:
                return self._on_robot(*mount, stamp_s)
            return self._all.lookup(WORLD, name, "header.frame_id")
        except (UnknownFrame, StaleFrame, BadMessage) as error:
            raise ValueError(str(error)) from error

    def base(self) -> Pose:
        """Return the pose of the robot's root link.

        Raises:
            ValueError: It is not published yet.
        """
        try:
            return self._static.lookup(WORLD, f"{self._robot.name}/{self._robot.root_link}")
        except (UnknownFrame, BadMessage) as error:
            raise ValueError(str(error)) from error

    def stamped(self, frame: str) -> tuple[Pose, float]:
        """Return the newest pose of an object's frame, and the time of its transform.

        Args:
            frame: Its name.

        Raises:
            ValueError: See ``world_T_frame``.
        """
        try:
            parent, pose, stamp_s = self._all.newest(frame)
        except (UnknownFrame, BadMessage) as error:
            raise ValueError(str(error)) from error
        return self.world_T_frame(parent, stamp_s) @ pose, stamp_s

    def _fixed(self, target: str, frame: str) -> Pose | None:
        """Return the pose of a frame in another one by static transforms alone; None if they do not connect them."""
        try:
            return self._static.lookup(target, frame)
        except UnknownFrame:
            return None

    def _mount(self, frame: str) -> tuple[str, Pose] | None:
        """Return the link that carries a frame, and the frame's pose there."""
        if frame not in self._mounts:
            for link in self._robot.links:
                if (pose := self._fixed(f"{self._robot.name}/{link}", frame)) is not None:
                    self._mounts[frame] = (link, pose)
                    break
        return self._mounts.get(frame)

    def _on_robot(self, link: str, link_T_frame: Pose, stamp_s: float) -> Pose:
        joints = self._history.at(stamp_s)
        if joints is None:
            text = f"joint_states has no joints of the time {stamp_s:.3f} s, which {link!r} needs"
            raise ValueError(f"{text}; send images with the stamp of their exposure")
        return self.base() @ link_poses(self._robot, joints, (link,))[link] @ link_T_frame
