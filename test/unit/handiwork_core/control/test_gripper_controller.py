"""The gripper controller with a finger that moves freely or meets an object."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.control.gripper_controller import GripperController, GripperGoal
from handiwork_core.control.trajectory_controller import Ending
from handiwork_core.robot.robot import GripperSpec

STEP_S = 0.002
SPEC = GripperSpec("hand", "finger", ("left", "right"), 0.0, 0.08, 2.0, 70.0, 0.08, 2, 1, 0.1, np.eye(3))


def run(
    controller: GripperController, position: float, obstacle: float = -1.0, limit_s: float = 5.0
) -> tuple[float, float]:
    """Let the finger follow its reference down to ``obstacle``; return its last position and the duration."""
    elapsed = 0.0
    velocity = 0.0
    while controller.busy and elapsed < limit_s:
        target = max(controller.update(position, velocity, STEP_S), obstacle)
        velocity, position = (target - position) / STEP_S, target
        elapsed += STEP_S
    return position, elapsed


def test_a_free_finger_reaches_its_goal() -> None:
    controller = GripperController(SPEC, 0.2, 0.04)
    controller.start(GripperGoal(0.01), 0.04)
    position, elapsed = run(controller, 0.04)
    assert controller.result is not None
    assert controller.result.reached
    assert not controller.result.stalled
    assert position == pytest.approx(0.01, abs=1e-6)
    assert elapsed == pytest.approx(0.3, abs=0.02)


def test_closing_on_something_stalls_after_the_stall_time_and_keeps_pushing() -> None:
    controller = GripperController(SPEC, 0.2, 0.04)
    controller.start(GripperGoal(0.0), 0.04)
    _, elapsed = run(controller, 0.04, obstacle=0.02)
    assert controller.result is not None
    assert controller.result.stalled
    assert not controller.result.reached
    assert controller.result.ending is Ending.SUCCEEDED
    assert controller.result.position == pytest.approx(0.02)
    assert elapsed == pytest.approx(0.2 + 0.3, abs=0.02)
    assert controller.reference < 0.02 - 0.003


def test_a_stop_holds_the_reference() -> None:
    controller = GripperController(SPEC, 0.2, 0.04)
    controller.start(GripperGoal(0.0), 0.04)
    position, _ = run(controller, 0.04, limit_s=0.1)
    reference = controller.reference
    controller.stop(Ending.CANCELED, position, "enough")
    assert controller.result is not None
    assert controller.result.ending is Ending.CANCELED
    assert not controller.result.reached
    assert not controller.result.stalled
    assert controller.update(position, 0.0, STEP_S) == reference


def test_effort_and_speed_are_limits_while_moving() -> None:
    controller = GripperController(SPEC, 0.2, 0.04)
    controller.start(GripperGoal(0.02, max_force_n=500.0, max_speed=0.05), 0.04)
    assert controller.force_n == 70.0
    assert run(controller, 0.04)[1] == pytest.approx(0.4, abs=0.02)
    controller.start(GripperGoal(0.0, max_force_n=10.0), 0.02)
    assert controller.force_n == 10.0


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (GripperGoal(0.05), "position 0.0500 is outside 0.0000 to 0.0400"),
        (GripperGoal(float("nan")), "must be finite"),
        (GripperGoal(0.02, max_force_n=-1.0), "must not be negative"),
        (GripperGoal(0.02), ""),
    ],
)
def test_bad_goals_are_named(goal: GripperGoal, words: str) -> None:
    message = GripperController(SPEC, 0.2, 0.04).check(goal)
    assert words in message
    assert bool(words) == bool(message)


def test_a_finger_that_chatters_on_its_object_has_stalled() -> None:
    controller = GripperController(SPEC, 0.2, 0.03)
    controller.start(GripperGoal(0.0), 0.03)
    for i in range(400):
        sign = 1.0 if i % 2 else -1.0
        controller.update(0.03 + sign * 2e-6, sign * 4e-6 / STEP_S, STEP_S)
    assert controller.result is not None
    assert controller.result.stalled
