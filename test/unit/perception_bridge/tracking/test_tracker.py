"""Objects over time: gates, flips and swaps of labels, jumps, two of one tag, dropouts, and hands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from perception_bridge.tracking.detection import Detection, DetectionFrame
from perception_bridge.tracking.estimate import Measurement
from perception_bridge.tracking.settings import TrackingSettings
from perception_bridge.tracking.tracker import Tracker

BOX = (Shape(ShapeKind.BOX, frozen((0.04, 0.04, 0.04)), Pose.identity()),)
A, B, C = (0.5, 0.0, 0.02), (0.5, 0.3, 0.02), (0.2, 0.3, 0.02)
PERIOD_S = 0.2


def body(name: str) -> WorldObject:
    return WorldObject(name, BOX, mass_kg=0.1)


class Look:
    """A tracker of a cube, a can and two cups, and a detector at 5 Hz."""

    def __init__(self, settings: TrackingSettings | None = None) -> None:
        objects = {"cube": [body("cube")], "can": [body("can")], "cup": [body("cup_1"), body("cup_2")]}
        self.tracker = Tracker(objects, settings or TrackingSettings())
        self.now_s = 10.0

    def see(self, *found: tuple[str, tuple[float, float, float]], times: int = 1) -> list[str]:
        remarks = list[str]()
        for _ in range(times):
            self.now_s += PERIOD_S
            detections = tuple(
                Detection(label, Measurement(Pose.of(place), 0.005, 0.05, self.now_s))
                for label, place in found
            )
            remarks += self.tracker.take(DetectionFrame("camera", self.now_s, detections))
        return remarks

    def places(self) -> Mapping[str, tuple[float, ...]]:
        states = self.tracker.states(self.now_s)
        return {name: tuple(s.world_T_object.translation_m.round(3).tolist()) for name, s in states.items()}


def test_an_object_is_there_after_it_was_confirmed() -> None:
    look = Look()
    look.see(("cube", A), times=2)
    assert not look.places()
    assert look.see(("cube", A)) == []
    assert look.places() == {"cube": A}
    assert [item.name for item in look.tracker.objects()] == ["cube"]


def test_one_false_detection_is_no_object() -> None:
    look = Look()
    for _ in range(10):
        look.see(("cube", A))
        look.see(times=8)
    assert not look.places()


def test_noise_is_averaged_and_the_covariance_shrinks() -> None:
    look, rng = Look(), np.random.default_rng(0)
    look.see(("cube", A), times=3)
    first = look.tracker.states(look.now_s)["cube"].pose_covariance
    for _ in range(40):
        look.see(("cube", tuple(np.add(A, rng.normal(0.0, 0.005, 3)).tolist())))
    state = look.tracker.states(look.now_s)["cube"]
    assert np.linalg.norm(state.world_T_object.translation_m - A) < 0.006
    assert first is not None
    assert state.pose_covariance is not None
    assert state.pose_covariance[0, 0] < first[0, 0]


def test_a_dropout_is_held_with_growing_covariance_then_unknown_then_gone() -> None:
    look = Look(TrackingSettings(unknown_after=2.0, forget_after=10.0))
    look.see(("cube", A), times=5)
    seen_s, tracker = look.now_s, look.tracker
    before = tracker.states(seen_s)["cube"]
    held = tracker.states(seen_s + 1.5)["cube"]
    assert held.stamp_s == pytest.approx(seen_s)
    assert held.pose_covariance is not None
    assert before.pose_covariance is not None
    assert held.pose_covariance[0, 0] > before.pose_covariance[0, 0]
    assert tracker.states(seen_s + 2.5) == {}
    assert [item.name for item in tracker.objects()] == ["cube"]
    assert tracker.forget_old(seen_s + 9.0) == []
    assert tracker.forget_old(seen_s + 10.5) == ["cube"]
    assert tracker.objects() == ()


def test_a_flip_of_a_label_moves_nothing() -> None:
    look = Look()
    look.see(("cube", A), ("can", B), times=4)
    assert look.see(("can", A), ("can", B), times=2) == []
    assert look.places() == {"cube": A, "can": B}


def test_labels_that_are_swapped_for_a_moment_swap_no_objects() -> None:
    look = Look()
    look.see(("cube", A), ("can", B), times=4)
    assert look.see(("can", A), ("cube", B), times=2) == []
    look.see(("cube", A), ("can", B))
    assert look.places() == {"cube": A, "can": B}


def test_labels_that_stay_swapped_are_believed_and_named() -> None:
    look = Look()
    look.see(("cube", A), ("can", B), times=4)
    remarks = look.see(("can", A), ("cube", B), times=3)
    assert any("'cube' was seen as 'can'" in text for text in remarks)
    assert look.places() == {"can": A, "cube": B}


def test_a_label_that_is_taken_elsewhere_stays_as_it_was() -> None:
    look = Look()
    look.see(("cube", A), ("can", B), times=4)
    remarks = look.see(("can", A), ("can", B), times=4)
    assert any("it stays 'cube'" in text for text in remarks)
    assert look.places() == {"cube": A, "can": B}


def test_a_jump_is_believed_when_it_was_confirmed_and_is_named() -> None:
    look = Look()
    look.see(("cube", A), times=4)
    assert look.see(("cube", C), times=2) == []
    assert look.places() == {"cube": A}
    (remark,) = look.see(("cube", C))
    assert "'cube' is 0.42 m elsewhere; it was moved" in remark
    assert look.places() == {"cube": C}


def test_a_detector_that_jumps_to_and_fro_moves_nothing() -> None:
    look = Look()
    look.see(("cube", A), times=4)
    for i in range(12):
        look.see(("cube", (C, A)[i % 2]))
        assert look.places() == {"cube": A}


def test_false_detections_beside_the_true_one_do_not_move_it_in_a_dropout() -> None:
    look = Look()
    look.see(("cube", A), times=4)
    assert any(
        "2 detections of 'cube' at once" in text for text in look.see(("cube", A), ("cube", C), times=6)
    )
    look.see(("cube", C), times=2)
    assert look.places() == {"cube": A}


def test_two_objects_with_one_tag_are_not_believed_and_named() -> None:
    look = Look()
    remarks = look.see(("cube", A), ("cube", B), times=6)
    assert look.places() == {}
    assert any("'cube' is seen at 2 places, and 1 of it may be there" in text for text in remarks)


def test_two_of_one_label_keep_their_names_and_a_third_is_named() -> None:
    look = Look()
    look.see(("cup", A), ("cup", B), times=4)
    assert sorted(look.places().values()) == sorted([A, B])
    before = look.places()
    look.see(("cup", B), ("cup", A))
    assert look.places() == before
    remarks = look.see(("cup", A), ("cup", B), ("cup", C))
    assert any("3 detections of 'cup' at once, and the table has 2" in text for text in remarks)


def test_a_slow_motion_is_followed() -> None:
    look = Look()
    look.see(("cube", A), times=4)
    for i in range(20):
        look.see(("cube", (0.5, 0.015 * (i + 1), 0.02)))
    assert look.places()["cube"][1] == pytest.approx(0.3, abs=0.02)


def test_in_a_hand_the_pose_is_that_of_the_hand_until_it_is_seen_elsewhere() -> None:
    look = Look()
    look.see(("cube", A), times=4)
    lifted = Pose.of((0.5, 0.0, 0.2), Rotation.from_rpy(0.0, 0.0, 1.0))
    look.tracker.carry("cube", lifted, look.now_s)
    look.see(("cube", (0.51, 0.0, 0.2)))
    assert look.places() == {"cube": (0.5, 0.0, 0.2)}
    assert look.tracker.is_held("cube")
    remarks = look.see(("cube", A), times=3)
    assert any("it is not in the hand" in text for text in remarks)
    assert look.places() == {"cube": A}
    assert not look.tracker.is_held("cube")


def test_what_a_hand_puts_down_is_seen_again() -> None:
    look = Look()
    look.see(("cube", A), times=4)
    look.tracker.carry("cube", Pose.of(B), look.now_s + 1.0)
    look.tracker.release("cube")
    look.now_s += 1.0
    look.see(("cube", (0.51, 0.3, 0.02)), times=20)
    assert look.places()["cube"][0] == pytest.approx(0.51, abs=0.002)


def test_an_older_look_changes_nothing() -> None:
    look = Look()
    look.see(("cube", A), times=4)
    look.now_s -= 1.0
    look.see(("cube", (0.53, 0.0, 0.02)))
    look.now_s += 1.0
    assert look.places() == {"cube": A}
