"""Messages of detectors as values. Every fault is one sentence; one bad detection does not cost the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handiwork_core.model.geometry import Pose
from handiwork_core.scene.covariance import deviation_of, read_covariance
from handiwork_ros.conversions import BadMessage, pose_from_msg, time_from_msg
from perception_bridge.table.object_table import Label, SourceSpec
from perception_bridge.tags.tag_finder import SeenObject
from perception_bridge.tracking.detection import Detection, DetectionFrame
from perception_bridge.tracking.estimate import Measurement
from perception_bridge.tracking.stamps import stamp_fault

MOST_DETECTIONS = 1_000
"""The largest number of detections of one message."""

FrameLookup = Callable[[str, float], Pose]
"""world_T_frame of a frame at a time [s]; raises ValueError with a sentence."""


class SourceReader:
    """Reads the messages of one source.

    Args:
        source: The source.
        labels: Labels by class id.
        max_age_s: Greatest age of a message, s.
        min_score: Least score of a detection that counts.
        look_up: Finds frames.
    """

    def __init__(
        self,
        source: SourceSpec,
        labels: Mapping[str, Label],
        max_age_s: float,
        min_score: float,
        look_up: FrameLookup,
    ) -> None:
        self._source, self._labels, self._look_up = source, labels, look_up
        self._max_age_s, self._min_score = max_age_s, min_score

    def detections(self, message: Any, now_s: float) -> tuple[DetectionFrame | None, list[str]]:
        """Read a Detection3DArray.

        Args:
            message: The message.
            now_s: The time of this node's clock, s.

        Returns:
            The detections, None if the message counts as a whole for nothing; and a sentence for each fault.
        """
        if len(message.detections) > MOST_DETECTIONS:
            text = (
                f"has {len(message.detections)} detections; at most {MOST_DETECTIONS} are taken, send fewer"
            )
            return None, [text]
        items = []
        for i, one in enumerate(message.detections):
            frame = one.header.frame_id or message.header.frame_id
            items.append((f"detections[{i}]", frame, one))
        return self._read(time_from_msg(message.header.stamp), items, self._detected, now_s)

    def poses(
        self, header: Any, poses: Sequence[Any], now_s: float
    ) -> tuple[DetectionFrame | None, list[str]]:
        """Read poses of the source's label.

        Args:
            header: Header of the message.
            poses: Its poses.
            now_s: The time of this node's clock, s.

        Returns:
            See ``detections``.
        """
        if len(poses) > MOST_DETECTIONS:
            return None, [f"has {len(poses)} poses; at most {MOST_DETECTIONS} are taken, send fewer"]
        items = [(f"poses[{i}]", header.frame_id, pose) for i, pose in enumerate(poses)]
        return self._read(time_from_msg(header.stamp), items, self._posed, now_s)

    def transform(self, pose: Pose, stamp_s: float, now_s: float) -> tuple[DetectionFrame | None, list[str]]:
        """Read the frame of an object.

        Args:
            pose: Its pose in ``world``.
            stamp_s: Time of the transform, s.
            now_s: The time of this node's clock, s.

        Returns:
            See ``detections``.
        """
        if fault := stamp_fault(stamp_s, now_s, self._max_age_s):
            return None, [fault]
        label = self._labels[self._source.label]
        one = self._measured(label, pose, None, stamp_s)
        return DetectionFrame(self._source.title, stamp_s, (one,)), []

    def tags(
        self, seen: Sequence[SeenObject], frame: str, stamp_s: float, now_s: float
    ) -> tuple[DetectionFrame | None, list[str]]:
        """Read the objects that were found by their tags.

        Args:
            seen: The objects.
            frame: The optical frame of the image.
            stamp_s: Time of the image, s.
            now_s: The time of this node's clock, s.

        Returns:
            See ``detections``.
        """
        if fault := stamp_fault(stamp_s, now_s, self._max_age_s):
            return None, [fault]
        try:
            world_T_camera = self._look_up(frame, stamp_s)
        except ValueError as error:
            return None, [str(error)]
        found = []
        for one in seen:
            pose, source = one.pose, self._source
            # Neither calibration nor print is perfect, whatever the corners say.
            position_std = math.hypot(pose.position_std, source.position_std)
            rotation_std = math.hypot(pose.rotation_std, source.rotation_std)
            measured = Measurement(world_T_camera @ pose.camera_T_object, position_std, rotation_std, stamp_s)
            found.append(Detection(one.label, measured))
        return DetectionFrame(self._source.title, stamp_s, tuple(found)), []

    def _read(
        self,
        stamp_s: float,
        items: Sequence[tuple[str, str, Any]],
        read: Callable[[str, Any, Pose, float], Detection | str],
        now_s: float,
    ) -> tuple[DetectionFrame | None, list[str]]:
        if fault := stamp_fault(stamp_s, now_s, self._max_age_s):
            return None, [fault]
        found, faults = list[Detection](), list[str]()
        frames: dict[str, Pose] = {}
        for field, frame, one in items:
            try:
                if frame not in frames:
                    frames[frame] = self._look_up(frame, stamp_s)
                made = read(field, one, frames[frame], stamp_s)
            except ValueError as error:  # of the frame, or of the numbers
                made = str(error)
            if isinstance(made, str):
                faults.append(made)
            else:
                found.append(made)
        return DetectionFrame(self._source.title, stamp_s, tuple(found)), list(dict.fromkeys(faults))

    def _detected(self, field: str, one: Any, world_T_frame: Pose, stamp_s: float) -> Detection | str:
        if not one.results:
            return f"{field}.results is empty; send a class_id and a score"
        best = max(one.results, key=lambda result: result.hypothesis.score)
        name, score = best.hypothesis.class_id, best.hypothesis.score
        if name not in self._labels:
            known = ", ".join(sorted(self._labels))
            return (
                f"{field}: class_id {name[:80]!r} is not in the table, which has {known}; add it under labels"
            )
        if not score >= self._min_score:  # also for one that is not a number
            return f"{field}: score {score:g} of {name!r} is below tracking.min_score {self._min_score:g}"
        has_box = best.pose.pose == type(best.pose.pose)()  # the detector has filled the box only
        pose = pose_from_msg(one.bbox.center if has_box else best.pose.pose, f"{field}.pose")
        try:
            covariance = read_covariance(best.pose.covariance)
        except ValueError as error:
            raise BadMessage(f"{field}.pose.covariance", str(error)) from error
        return self._measured(self._labels[name], world_T_frame @ pose, covariance, stamp_s)

    def _posed(self, field: str, one: Any, world_T_frame: Pose, stamp_s: float) -> Detection:
        label = self._labels[self._source.label]
        return self._measured(label, world_T_frame @ pose_from_msg(one, field), None, stamp_s)

    def _measured(self, label: Label, world_T_detected: Pose, covariance: Any, stamp_s: float) -> Detection:
        position_std, rotation_std = self._source.position_std, self._source.rotation_std
        if covariance is not None:
            found = deviation_of(covariance)
            # A detector that reports no deviation of one of both means that it does not know it.
            position_std = found.position_m or position_std
            rotation_std = found.rotation_rad or rotation_std
        pose = world_T_detected @ label.detected_T_object
        return Detection(label.name, Measurement(pose, position_std, rotation_std, stamp_s))
