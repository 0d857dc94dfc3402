"""What is said of the joints of a lost robot: speeds that are not measured are not those of joints at rest."""

from __future__ import annotations

from typing import Any, cast

import pytest

from handiwork_core.model.world import JointState, World
from handiwork_ros.ports.braking import Brake


class LastWorld:
    """The last measurement, 1.5 s ago."""

    def __init__(self, speeds: dict[str, float]) -> None:
        self._joints = JointState(1.0, dict.fromkeys(("base_x", "base_y"), 0.0), speeds)

    def joint_age_s(self) -> float:
        return 1.5

    def snapshot(self) -> World:
        return World(1.0, joints=self._joints)


@pytest.mark.parametrize(
    ("speeds", "state"),
    [
        ({"base_x": 0.0, "base_y": 0.001}, "base's joints were at rest 1.5 s ago"),
        ({"base_x": 0.3, "base_y": 0.0}, "base's joints were moving at up to 0.30 rad/s 1.5 s ago"),
        ({"base_x": 0.3}, "base's joints were moving at up to 0.30 rad/s 1.5 s ago"),
        ({"base_x": 0.0}, "base's joints were at rest as far as their velocities were known 1.5 s ago"),
        ({}, "nothing is known of base's joints"),
    ],
)
def test_the_last_known_state_says_what_was_not_known(speeds: dict[str, float], state: str) -> None:
    unused, world = cast(Any, None), cast(Any, LastWorld(speeds))
    brake = Brake(unused, unused, world, ("base_x", "base_y"), "navigate_to_pose", "the base", "base")
    assert brake.lost("gone; ").message == f"gone; {state}"
