"""What the tracker keeps of one object, and of places where an object may be."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import WorldObject
from perception_bridge.tracking.estimate import Estimate, Measurement
from perception_bridge.tracking.settings import TrackingSettings


@dataclass(slots=True, eq=False)
class Slot:
    """One object of the table.

    Attributes:
        body: The object.
        label: Its label.
        estimate: Its pose; None as long as it was not seen.
        is_held: Whether its pose comes from the hand that holds it.
        other_label: The label with which it was seen last, if that is not its own.
        mismatches: How often in a row it was seen with that label.
    """

    body: WorldObject
    label: str
    estimate: Estimate | None = None
    is_held: bool = False
    other_label: str = ""
    mismatches: int = 0

    def take(self, label: str, seen: Measurement, settings: TrackingSettings) -> None:
        """Take a detection that continues the object. In a hand it only confirms the pose.

        Args:
            label: Its label.
            seen: The measured pose.
            settings: Settings of the tracker.
        """
        assert self.estimate is not None
        if seen.stamp_s > self.estimate.stamp_s and not self.is_held:
            before = self.estimate.predicted(seen.stamp_s, settings.drift, settings.drift_rotation)
            self.estimate = before.corrected(seen)
        if label == self.label:
            self.other_label, self.mismatches = "", 0
        else:
            self.mismatches = self.mismatches + 1 if label == self.other_label else 1
            self.other_label = label

    def place(self, seen: Measurement) -> None:
        """Put the object at a measured pose.

        Args:
            seen: The pose.
        """
        self.estimate, self.is_held = Estimate.of(seen), False
        self.other_label, self.mismatches = "", 0

    def clear(self) -> None:
        """Forget the pose."""
        self.estimate, self.is_held, self.other_label, self.mismatches = None, False, "", 0

    def carry(self, pose: Pose, stamp_s: float) -> None:
        """Take the pose that the hand gives the object; its deviations stay those of the moment of the grasp.

        Args:
            pose: The pose.
            stamp_s: Time of the joints, s.
        """
        if self.estimate is None:
            return
        old = self.estimate
        self.is_held = True
        self.estimate = Estimate(pose, old.position_var, old.rotation_var, max(stamp_s, old.stamp_s))


@dataclass(slots=True, eq=False)
class Candidate:
    """A place where an object of a label was seen that belongs to no object yet.

    Attributes:
        label: The label.
        seen: The newest detection.
        count: Detections in a row.
    """

    label: str
    seen: Measurement
    count: int = 1
