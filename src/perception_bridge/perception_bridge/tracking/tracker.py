"""Detections over time become objects: gates, flips and swaps of labels, jumps, dropouts, and what a hand holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState, WorldObject
from perception_bridge.tracking.association import Expected, associate
from perception_bridge.tracking.detection import Detection, DetectionFrame
from perception_bridge.tracking.settings import TrackingSettings
from perception_bridge.tracking.slots import Candidate, Slot

CANDIDATE_S = 1.5
"""A candidate that was not seen for so long is dropped, s."""
STILL = frozen((0.0, 0.0, 0.0))


class Tracker:
    """The objects of a table, as they were seen.

    Args:
        objects: Objects by their labels, in the order in which names are given away.
        settings: The settings.
    """

    def __init__(self, objects: Mapping[str, Sequence[WorldObject]], settings: TrackingSettings) -> None:
        self._settings = settings
        self.slots = {item.name: Slot(item, label) for label, items in objects.items() for item in items}
        self._candidates: list[Candidate] = []

    def take(self, frame: DetectionFrame) -> list[str]:
        """Take the detections of one look.

        Args:
            frame: The look.

        Returns:
            Sentences about what was not believed, and about changes of labels and jumps.
        """
        detections, remarks = frame.detections, list[str]()
        matched = associate(self._expected(frame.stamp_s), detections)
        for index, name in matched.items():
            one = detections[index]
            self.slots[name].take(one.label, one.seen, self._settings)
        left = [one for i, one in enumerate(detections) if i not in matched]
        self._relabel(remarks)
        self._take_left(frame, left, set(matched.values()), remarks)
        return remarks

    def carry(self, name: str, world_T_object: Pose, stamp_s: float) -> None:
        """Take the pose of an object from the hand that holds it.

        Args:
            name: Name of the object.
            world_T_object: Its pose.
            stamp_s: Time of the robot's joints, s.
        """
        self.slots[name].carry(world_T_object, stamp_s)

    def release(self, name: str) -> None:
        """Take the pose of an object from detections again.

        Args:
            name: Name of the object.
        """
        self.slots[name].is_held = False

    def is_held(self, name: str) -> bool:
        """Check whether the pose of an object comes from a hand; sight may have refuted that.

        Args:
            name: Name of the object.
        """
        return self.slots[name].is_held

    def clear(self) -> None:
        """Forget all poses, as after a reset of the clock."""
        self._candidates.clear()
        for slot in self.slots.values():
            slot.clear()

    def forget_old(self, now_s: float) -> list[str]:
        """Take objects out of the world that were not seen for ``forget_after``.

        Args:
            now_s: The time, s.

        Returns:
            Their names.
        """
        limit_s, gone = self._settings.forget_after, []
        for name, slot in self.slots.items():
            if limit_s and slot.estimate is not None and now_s - slot.estimate.stamp_s > limit_s:
                slot.clear()
                gone.append(name)
        return gone

    def objects(self) -> tuple[WorldObject, ...]:
        """Return the objects that were seen, and not forgotten."""
        return tuple(slot.body for slot in self.slots.values() if slot.estimate is not None)

    def states(self, now_s: float) -> dict[str, ObjectState]:
        """Return the objects whose poses are known.

        Args:
            now_s: The time, s.

        Returns:
            States by name: the pose, its covariance for this time, and the time of the newest measurement.
        """
        found, settings = {}, self._settings
        for name, slot in self.slots.items():
            if slot.estimate is None or now_s - slot.estimate.stamp_s > settings.unknown_after:
                continue
            now = slot.estimate.predicted(now_s, settings.drift, settings.drift_rotation)
            stamp_s = min(now_s, slot.estimate.stamp_s)
            found[name] = ObjectState(now.world_T_object, STILL, STILL, stamp_s, now.covariance())
        return found

    def _expected(self, stamp_s: float) -> list[Expected]:
        found = []
        for name, slot in self.slots.items():
            if slot.estimate is not None:
                gate_m = self._settings.gate
                gate_m += self._settings.gate_speed * max(0.0, stamp_s - slot.estimate.stamp_s)
                place = slot.estimate.world_T_object.translation_m
                found.append(Expected(name, slot.label, place, gate_m))
        return found

    def _relabel(self, remarks: list[str]) -> None:
        """Give objects that were seen with another label often enough to that label, where it has one left."""
        wrong = [s for s in self.slots.values() if s.mismatches >= self._settings.confirm and s.estimate]
        poses = [(slot, slot.estimate, slot.other_label) for slot in wrong]
        for slot in wrong:
            slot.clear()
        for slot, estimate, label in poses:
            free = [s for s in self.slots.values() if s.label == label and s.estimate is None]
            if free:
                free[0].estimate = estimate
                remarks.append(
                    f"what was {slot.body.name!r} was seen as {label!r} again and again; it is that now"
                )
            else:
                slot.estimate = estimate
                text = f"{slot.body.name!r} is seen as {label!r}, but all of that label are elsewhere"
                remarks.append(f"{text}; it stays {slot.body.name!r}")

    def _take_left(
        self, frame: DetectionFrame, left: Sequence[Detection], matched: set[str], remarks: list[str]
    ) -> None:
        # What was seen beside an object that is seen itself proves nothing about that one.
        free = {slot.label for name, slot in self.slots.items() if name not in matched}
        self._candidates = [
            one
            for one in self._candidates
            if frame.stamp_s - one.seen.stamp_s < CANDIDATE_S and one.label in free
        ]
        for label in dict.fromkeys(one.label for one in left):
            here = [one for one in left if one.label == label]
            slots = [slot for slot in self.slots.values() if slot.label == label]
            unseen = [slot for slot in slots if slot.body.name not in matched]
            if not unseen:
                count = len(here) + len(slots)
                remarks.append(
                    f"{count} detections of {label!r} at once, and the table has {len(slots)}; "
                    "those that continue no object are left out; set count, or take a second tag away"
                )
                continue
            self._promote(label, [self._candidate(one) for one in here], unseen, remarks)

    def _candidate(self, one: Detection) -> Candidate:
        """Return the candidate that a detection continues or begins."""
        place = one.seen.world_T_object.translation_m
        for candidate in self._candidates:
            there = candidate.seen.world_T_object.translation_m
            if candidate.label == one.label and np.linalg.norm(place - there) <= self._settings.gate:
                if one.seen.stamp_s > candidate.seen.stamp_s:
                    candidate.seen, candidate.count = one.seen, candidate.count + 1
                return candidate
        self._candidates.append(Candidate(one.label, one.seen))
        return self._candidates[-1]

    def _promote(
        self,
        label: str,
        seen: Sequence[Candidate],
        free: Sequence[Slot],
        remarks: list[str],
    ) -> None:
        """Give candidates that were confirmed to free objects of their label: those never seen, then the oldest."""
        sure = [one for one in dict.fromkeys(seen) if one.count >= self._settings.confirm]
        if len(sure) > len(free):
            text = f"{label!r} is seen at {len(sure)} places, and {len(free)} of it may be there"
            remarks.append(f"{text}; none is believed; set count, or take a second tag away")
            return
        order = sorted(free, key=lambda slot: -np.inf if slot.estimate is None else slot.estimate.stamp_s)
        for one, slot in zip(sure, order, strict=False):
            if slot.estimate is not None:
                distance, _ = slot.estimate.world_T_object.distance_to(one.seen.world_T_object)
                where = "it is not in the hand" if slot.is_held else "it was moved"
                remarks.append(f"{slot.body.name!r} is {distance:.2f} m elsewhere; {where}")
            slot.place(one.seen)
            self._candidates.remove(one)
