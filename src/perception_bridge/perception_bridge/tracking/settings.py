"""Settings of the tracker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrackingSettings:
    """When a detection is which object, and how long an object is believed.

    Attributes:
        gate: Greatest distance of a detection from the object that it continues, m.
        gate_speed: Growth of that with the time since the object was seen, m/s.
        confirm: Detections in a row that agree, before a new object, a jump or another label is believed.
        min_score: Least score of a detection that counts.
        max_age: Greatest age of a detection at its arrival, s.
        unknown_after: Time without a detection after which the pose of an object counts as unknown, s.
        forget_after: Time without a detection after which the object is taken out of the world, s; 0: never.
        drift: Growth of the deviation of a position without a detection, m/s.
        drift_rotation: The same of a rotation, rad/s.
    """

    gate: float = 0.05
    gate_speed: float = 0.1
    confirm: int = 3
    min_score: float = 0.5
    max_age: float = 1.0
    unknown_after: float = 5.0
    forget_after: float = 60.0
    drift: float = 0.002
    drift_rotation: float = 0.02

    def __post_init__(self) -> None:
        for key in ("gate", "max_age", "unknown_after", "drift", "drift_rotation"):
            if getattr(self, key) <= 0.0:
                raise ValueError(f"{key}: is {getattr(self, key):g}; make it more than 0")
        if self.gate_speed < 0.0:
            raise ValueError(f"gate_speed: is {self.gate_speed:g}; make it 0 or more")
        if not 1 <= self.confirm <= 100:
            raise ValueError(f"confirm: is {self.confirm}; give 1 to 100")
        if not 0.0 <= self.min_score <= 1.0:
            raise ValueError(f"min_score: is {self.min_score:g}; give 0 to 1")
        if self.forget_after != 0.0 and self.forget_after <= self.unknown_after:
            raise ValueError(f"forget_after: is {self.forget_after:g}; make it more than unknown_after, or 0")
