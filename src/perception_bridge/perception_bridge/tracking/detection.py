"""What a detector has seen, in ``world``."""

from __future__ import annotations

from dataclasses import dataclass

from perception_bridge.tracking.estimate import Measurement


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """One detection.

    Attributes:
        label: The label, as the table names it.
        seen: The measured pose of the object.
    """

    label: str
    seen: Measurement


@dataclass(frozen=True, slots=True, eq=False)
class DetectionFrame:
    """All that one message has: what one look has found.

    Attributes:
        source: The source in sentences.
        stamp_s: Time of the look, s.
        detections: The detections.
    """

    source: str
    stamp_s: float
    detections: tuple[Detection, ...]
