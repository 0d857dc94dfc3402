"""What fingers hold by their width, and joints at the time of an image."""

from __future__ import annotations

import pytest

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import JointState, Shape, ShapeKind, WorldObject
from handiwork_core.robot.joint_history import JointHistory
from handiwork_core.robot_files.loader import load_robot
from perception_bridge.robot.hand import HandWatch
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
BOX = (Shape(ShapeKind.BOX, frozen((0.04, 0.04, 0.04)), Pose.identity()),)
CUBE = WorldObject("cube", BOX, mass_kg=0.1)
TCP, EE = Pose.of((0.5, 0.0, 0.02)), Pose.of((0.5, 0.0, 0.12))


class Fingers:
    def __init__(self, place: Pose) -> None:
        assert ARM.gripper is not None
        self.watch = HandWatch(ARM, ARM.gripper)
        self.place, self.now_s = place, 0.0

    def go(self, *widths_m: float) -> list[str]:
        """Go through widths, each for 0.3 s; return what was let go."""
        found = []
        assert ARM.gripper is not None
        for width in widths_m:
            for _ in range(15):
                self.now_s += 0.02
                joints = {ARM.gripper.joint: ARM.gripper.position(width)}
                known = {"cube": (CUBE, self.place)}
                found.append(self.watch.take(self.now_s, joints, EE, TCP, known))
        return [name for name in found if name]


def test_fingers_that_stop_at_an_object_hold_it_until_they_open() -> None:
    fingers = Fingers(Pose.of((0.5, 0.005, 0.02)))
    fingers.go(0.08)
    assert not fingers.watch.object
    assert fingers.go(0.06, 0.0402) == []
    assert fingers.watch.object == "cube"
    assert (EE @ fingers.watch.ee_T_object).almost_equal(fingers.place, within_m=1e-9, within_rad=1e-6)
    assert fingers.go(0.0400, 0.08) == ["cube"]
    assert not fingers.watch.object


@pytest.mark.parametrize(
    ("place", "widths_m"),
    [((0.5, 0.2, 0.02), (0.08, 0.04)), ((0.5, 0.0, 0.02), (0.08, 0.0)), ((0.5, 0.0, 0.02), (0.04, 0.04))],
    ids=["beside it", "closed to the end", "never closed"],
)
def test_other_fingers_hold_nothing(place: tuple[float, float, float], widths_m: tuple[float, ...]) -> None:
    fingers = Fingers(Pose.of(place))
    fingers.go(*widths_m)
    assert not fingers.watch.object


def test_an_object_that_slips_out_is_let_go() -> None:
    fingers = Fingers(Pose.of((0.5, 0.0, 0.02)))
    fingers.go(0.08, 0.04)
    assert fingers.go(0.0) == ["cube"]


def test_joints_between_two_measurements_are_interpolated() -> None:
    history = JointHistory()
    assert history.at(1.0) is None
    for i in range(500):
        history.take(JointState(1.0 + 0.01 * i, {"j": 0.1 * i}))
    assert history.at(5.005) == {"j": pytest.approx(40.05)}
    assert history.at(6.05) == {"j": pytest.approx(49.9)}
    assert history.at(6.2) is None
    assert history.at(2.0) is None
    history.take(JointState(0.5, {"j": 7.0}))
    assert history.at(5.0) is None
    assert history.at(0.5) == {"j": 7.0}
