"""The subscriptions to detectors: each message goes to the tracker, each fault to the log and the diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseArray, PoseStamped

from handiwork_core.model.diagnostics import Diagnosis, Level
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from perception_bridge.ros.camera_frames import CameraFrames
from perception_bridge.ros.reading import SourceReader
from perception_bridge.ros.tag_images import TagImages
from perception_bridge.table.object_table import ObjectTable, SourceKind, SourceSpec
from perception_bridge.tracking.detection import DetectionFrame
from perception_bridge.tracking.stamps import stamp_fault
from perception_bridge.tracking.tracker import Tracker
from vision_msgs.msg import Detection3DArray

LOG_PERIOD_S = 5.0
"""The shortest pause between two log lines about one source, s."""
SILENT_S = 2.0
"""A source without a message for so long is named in the diagnostics, s."""

Read = tuple[DetectionFrame | None, list[str]]


class Source:
    """One source with its subscription and its counts.

    Args:
        node: Hosts the subscription.
        spec: The source.
        table: The table of objects.
        tracker: Takes the detections.
        frames: Finds frames.
        now: Returns the time of the node's clock, s.
        on_seen: Called when the detections of a message have reached the tracker.
    """

    def __init__(
        self,
        node: ManagedNode,
        spec: SourceSpec,
        table: ObjectTable,
        tracker: Tracker,
        frames: CameraFrames,
        now: Callable[[], float],
        on_seen: Callable[[], None],
    ) -> None:
        self._node, self._spec, self._tracker, self._frames, self._now = node, spec, tracker, frames, now
        settings = table.tracking
        self._reader = SourceReader(
            spec, table.labels, settings.max_age, settings.min_score, frames.world_T_frame
        )
        self._heard_s, self._stamp_s, self._count, self._faults, self._fault = -1.0, 0.0, 0, 0, ""
        kinds: dict[SourceKind, tuple[Any, Callable[[Any], Read]]] = {
            SourceKind.DETECTIONS: (Detection3DArray, lambda m: self._reader.detections(m, now())),
            SourceKind.POSE: (PoseStamped, lambda m: self._reader.poses(m.header, [m.pose], now())),
            SourceKind.POSE_ARRAY: (PoseArray, lambda m: self._reader.poses(m.header, m.poses, now())),
        }
        if spec.kind in kinds:
            kind, read = kinds[spec.kind]

            def hear(message: Any) -> None:
                self._take(read(message))
                on_seen()

            node.create_subscription(kind, spec.topic, guard(node, hear), STREAM)
        self._images: TagImages | None = None
        if spec.kind is SourceKind.TAGS:

            def late(stamp_s: float) -> str:
                return stamp_fault(stamp_s, now(), settings.max_age)

            self._images = TagImages(node, spec.topic, spec.info_topic, table.tags(), late)
        self._is_told_silent = False
        node.diagnostics.add(spec.title, self._diagnosis)

    def poll(self) -> None:
        """Read what has no callback: tags of searched images, and the frame of a tf source; name a silent source."""
        for one in self._images.poll() if self._images is not None else ():
            frame, faults = None, list[str]()
            if not one.faults or one.seen:
                frame, faults = self._reader.tags(one.seen, one.frame, one.stamp_s, self._now())
            self._take((frame, [*one.faults, *faults]))
        if not self._node.is_active:
            return
        self._tell_silence()
        if self._spec.kind is SourceKind.TF:
            self._poll_frame()

    def close(self) -> None:
        """End what runs beside the node."""
        if self._images is not None:
            self._images.close()

    def _tell_silence(self) -> None:
        age_s = self._now() - self._heard_s
        is_silent = self._heard_s >= 0.0 and age_s > SILENT_S
        if is_silent and not self._is_told_silent:
            self._node.get_logger().warning(
                f"{self._spec.title}: no message for {age_s:.1f} s; is its camera or detector there? Its objects keep "
                "their poses until tracking.unknown_after, then these are unknown"
            )
        self._is_told_silent = is_silent

    def _poll_frame(self) -> None:
        try:
            pose, stamp_s = self._frames.stamped(self._spec.frame)
        except ValueError as error:
            if self._heard_s >= 0.0:  # before the first, it is only not there yet
                self._complain([str(error)])
            return
        if stamp_s != self._stamp_s:
            self._stamp_s = stamp_s
            self._take(self._reader.transform(pose, stamp_s, self._now()))

    def _take(self, read: Read) -> None:
        if not self._node.is_active:
            return
        frame, faults = read
        self._count, self._heard_s = self._count + 1, self._now()
        if frame is not None:
            faults = [*faults, *self._tracker.take(frame)]
        self._complain(faults)

    def _complain(self, faults: list[str]) -> None:
        if not faults:
            return
        self._faults, self._fault = self._faults + 1, faults[0]
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        self._node.get_logger().warning(
            f"{self._spec.title}: {faults[0]}{more}", throttle_duration_sec=LOG_PERIOD_S
        )

    def _diagnosis(self) -> list[Diagnosis]:
        age_s = self._now() - self._heard_s
        is_silent = self._heard_s < 0.0 or age_s > SILENT_S
        text = "no message came yet" if self._heard_s < 0.0 else f"the newest message is {age_s:.1f} s old"
        values = {"messages": str(self._count), "faults": str(self._faults), "newest fault": self._fault}
        return [Diagnosis(self._spec.title, Level.WARN if is_silent else Level.OK, text, values)]
