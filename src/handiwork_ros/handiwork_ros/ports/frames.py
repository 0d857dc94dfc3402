"""Provides transforms without tf2, which the wheels lack: the newest of each frame, looked up without waiting."""

from __future__ import annotations

import math
import threading
import time
from functools import partial

from geometry_msgs.msg import TransformStamped
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.node import Node

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.intake.counters import IntakeCounter
from handiwork_core.intake.limits import FRAMES, NAME_CHARACTERS
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import UNIT_TOLERANCE, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.conversions import BadMessage, time_from_msg, transform_from_msg
from handiwork_ros.intake.bounded_intake import LOG_PERIOD_S, bounded
from handiwork_ros.rclpy_support.qos import TF, TF_STATIC
from handiwork_ros.rclpy_support.safe_callbacks import guard
from tf2_msgs.msg import TFMessage

from .frame_table import FrameTable


class UnknownFrame(HandiworkError, LookupError):
    """A frame is not known, or two frames are not connected. ``outcome`` names it and lists similar names.

    Args:
        message: Sentence for a person.
        field: Name of the goal's field that names the frame.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(Outcome(Code.UNKNOWN_FRAME, message, field_name=field))


FRESH_S = 1.0
"""Oldest transform of a moving frame that a goal may be planned with, s of the robot's world."""


class StaleFrame(HandiworkError):
    """The newest transform of a moving frame is too old. ``outcome`` names the frame and its age.

    Args:
        message: Sentence for a person.
        field: Name of the goal's field that names the frame.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(Outcome(Code.STALE_WORLD, message, field_name=field))


class FrameBuffer:
    """The newest transform to each frame from its parent: ``world``, ``<robot>/<link>`` and object names.

    It is safe from any thread; transforms are decoded when they are looked up. The number of frames is bounded, and
    moving ones that are not published any more are removed; see ``FrameTable``.

    Args:
        node: Hosts the subscriptions.
        dynamic: False: read ``/tf_static`` only.
        max_age_s: Oldest transform of a moving frame that a lookup uses, s by the node's clock; None: any.
    """

    def __init__(self, node: Node, *, dynamic: bool = True, max_age_s: float | None = None) -> None:
        self._max_age_s = max_age_s
        self._lock = threading.Lock()
        self._node = node
        self._moving = FrameTable[TransformStamped](forgets=True)
        self._static = FrameTable[TransformStamped](forgets=False)
        self.refused = 0
        """The number of transforms for which there was no space."""
        self.counters = {"/tf": IntakeCounter("/tf"), "/tf_static": IntakeCounter("/tf_static")}
        """Counts of messages; one with any bad transform counts as dropped, but its good transforms are kept."""
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = node.get_clock().create_jump_callback(
            back, post_callback=guard(node, lambda _jump: self.forget_dynamic())
        )
        self._subs = [
            node.create_subscription(
                TFMessage, topic.lstrip("/"), bounded(node, TFMessage, topic, take), qos, raw=True
            )
            for topic, take, qos in (
                ("/tf_static", partial(self._take, self._static, "/tf_static"), TF_STATIC),
                ("/tf", partial(self._take, self._moving, "/tf"), TF),
            )[: 2 if dynamic else 1]
        ]

    def lookup(self, target: str, source: str, field: str = "") -> Pose:
        """Return the pose of a frame in another one.

        Args:
            target: Name of the frame in which the pose is expressed.
            source: Name of the frame whose pose is returned.
            field: Name of the goal's field for the outcome of an error.

        Returns:
            target_T_source.

        Raises:
            UnknownFrame: One of them is unknown, or they have no common ancestor.
            StaleFrame: A transform between them is older than ``max_age_s``.
            BadMessage: A transform between them is malformed, or the frames form a loop.
        """
        target, source = target.lstrip("/"), source.lstrip("/")
        known = self.known()
        for name in (target, source):
            if name not in known:
                raise UnknownFrame(f"frame {name!r} is not known; {nearest(name, known)}", field)
        up_target, up_source = self._to_root(target), self._to_root(source)
        for name, source_pose in up_source.items():
            if name in up_target:
                self._check_ages((up_target, up_source), name, field)
                return up_target[name].inverse() @ source_pose
        text = f"frames {target!r} and {source!r} are not connected; publish a transform between"
        raise UnknownFrame(f"{text} {list(up_target)[-1]!r} and {list(up_source)[-1]!r}", field)

    def newest(self, frame: str) -> tuple[str, Pose, float]:
        """Return the newest transform of a frame as it was published.

        Args:
            frame: Name of the frame.

        Returns:
            Its parent, parent_T_frame, and the time of the transform, s.

        Raises:
            UnknownFrame: No transform of the frame has come.
            BadMessage: The transform is malformed.
        """
        name = frame.lstrip("/")
        with self._lock:
            found = self._moving.links.get(name) or self._static.links.get(name)
        if found is None:
            raise UnknownFrame(f"frame {name!r} is not known; {nearest(name, self.known())}")
        pose = transform_from_msg(found.transform, f"transform of frame {name!r}")
        return found.header.frame_id.lstrip("/"), pose, time_from_msg(found.header.stamp)

    def known(self) -> list[str]:
        """Return the names of all frames, sorted."""
        with self._lock:
            links = {**self._static.links, **self._moving.links}
        return sorted(set(links) | {t.header.frame_id.lstrip("/") for t in links.values()})

    def forget_dynamic(self) -> None:
        """Remove the moving frames, which belong to another run once the time has jumped back."""
        with self._lock:
            self._moving.clear()

    def _check_ages(self, ways: tuple[dict[str, Pose], ...], top: str, field: str) -> None:
        """Refuse a moving transform on one of the ways to their common frame that is too old."""
        if self._max_age_s is None:
            return
        now_s = self._node.get_clock().now().nanoseconds * 1e-9
        with self._lock:
            moving = dict(self._moving.links)
        for way in ways:
            for name in way:
                if name == top:
                    break
                if (
                    name in moving
                    and (age_s := now_s - time_from_msg(moving[name].header.stamp)) > self._max_age_s
                ):
                    text = f"the newest transform of frame {name!r} is {age_s:.1f} s old"
                    raise StaleFrame(
                        f"{text}, more than {self._max_age_s:g} s; check its publisher and send the goal again",
                        field,
                    )

    def _to_root(self, name: str) -> dict[str, Pose]:
        """Return the pose of ``name`` in each of its ancestors, the nearest first."""
        with self._lock:
            links = {**self._static.links, **self._moving.links}
        found = {name: Pose.identity()}
        pose = found[name]
        while name in links:
            link = links[name]
            pose = transform_from_msg(link.transform, f"transform of frame {name!r}") @ pose
            name = link.header.frame_id.lstrip("/")
            if name in found:
                raise BadMessage(
                    "tf", f"has a loop through frame {name!r}; correct its publisher", Code.UNKNOWN_FRAME
                )
            found[name] = pose
        return found

    def _take(self, table: FrameTable[TransformStamped], topic: str, msg: TFMessage) -> None:
        good = self._good(topic, msg)
        with self._lock:
            refused = table.keep(good.items(), time.monotonic())
        if refused:
            self.refused += refused
            text = (
                f"{topic}: {refused} of {len(msg.transforms)} transforms were refused, {self.refused} so far; at most "
                f"{FRAMES} frames are kept, with names of at most {NAME_CHARACTERS} characters"
            )
            self._node.get_logger().error(text, throttle_duration_sec=LOG_PERIOD_S)

    def _good(self, topic: str, msg: TFMessage) -> dict[str, TransformStamped]:
        """Return the valid transforms by child; bad ones are counted, and the last good ones are kept."""
        counter, fault, good = self.counters[topic], "", {}
        for item in msg.transforms:
            child = item.child_frame_id.lstrip("/")
            if why := _fault(item, child):
                fault = why
            else:
                good[child] = item
        if not fault:
            counter.take_good(time.monotonic())
            return good
        counter.take_bad(fault)
        if counter.dropped_since_good == 1:
            self._node.get_logger().warning(
                f"{topic}: a transform was dropped, number {counter.dropped}: {fault}"
            )
        return good


def _fault(item: TransformStamped, child: str) -> str:
    """Return the fault of a transform; empty if it is valid."""
    parent, place, turn = (
        item.header.frame_id.lstrip("/"),
        item.transform.translation,
        item.transform.rotation,
    )
    if not child or not parent or child == parent:
        return f"it leads from {parent!r} to {child!r}; name two different frames"
    norm = math.sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z + turn.w * turn.w)
    if math.isfinite(place.x + place.y + place.z) and abs(norm - 1.0) <= UNIT_TOLERANCE:
        return ""
    try:
        transform_from_msg(item.transform, f"transform of frame {child!r}")
    except BadMessage as error:
        return str(error)
    return ""
