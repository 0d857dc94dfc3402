"""The hand goes down as much earlier as its fingers need to close."""

from __future__ import annotations

import pytest

from handiwork_core.robot_files.loader import load_robot
from skill_server.skills.pick_place.dynamicpick import closing_s
from support.paths import ROBOTS


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("fr3", (0.08 - 0.045) / 0.2),  # 0.1 m/s a finger
        ("fr3_robotiq", 0.402 / 0.5),  # the knuckle's way, at most 0.5 rad/s
        ("lift2", (0.044 - 0.0225) / 0.053),  # a finger's way, at the limit of its joint
        ("ur10_suction", 0.0),
    ],
)
def test_the_time_to_close_is_that_of_the_joint(name: str, seconds: float) -> None:
    robot = load_robot(ROBOTS / name)
    gripper = next(iter(robot.arms.values())).gripper
    assert gripper is not None
    assert closing_s(robot, gripper, gripper.max_width_m, 0.045) == pytest.approx(seconds, rel=0.01)
