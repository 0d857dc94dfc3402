"""The guard of a motion that a force on the tool ends."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.control.contact_guard import (
    FORCE_TOLERANCES,
    TARE_S,
    ContactGuard,
    bound_of,
    not_measured,
)
from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.trajectory_controller import Ending, Phase, TrajectoryController
from handiwork_core.control.trajectory_goal import JointLimits, TrajectoryGoal
from handiwork_core.model.geometry import Array

STEP_S = 0.002
UP = np.array((0.0, 0.0, 10.0))
WEIGHT = np.array((0.0, 0.0, -3.0))


class Sensor:
    """A sensor whose force is set by the test."""

    def __init__(self) -> None:
        self.force: Array | None = WEIGHT.copy()

    def __call__(self) -> Array | None:
        return self.force


def tared(bound: Array = UP) -> tuple[ContactGuard, Sensor]:
    """Return a guard that has seen the weight of what is held, and its sensor."""
    sensor = Sensor()
    guard = ContactGuard(bound, sensor)
    for _ in range(round(TARE_S / STEP_S) + 1):
        assert guard.update(STEP_S) is None
    return guard, sensor


def test_the_weight_of_what_is_held_does_not_count_and_the_bound_does() -> None:
    guard, sensor = tared()
    sensor.force = WEIGHT + 0.99 * UP
    assert guard.update(STEP_S) is None
    sensor.force = WEIGHT + 1.05 * UP
    assert guard.update(STEP_S) == (ErrorCode.CONTACT, "touched with 10.5 N, the bound is 10 N")


@pytest.mark.parametrize("push", [(12.0, 0.0, 0.0), (0.0, 0.0, -12.0), (11.0, 0.0, 4.0)])
def test_a_push_from_the_side_ends_the_motion_too_but_is_no_contact(push: tuple[float, float, float]) -> None:
    guard, sensor = tared()
    sensor.force = WEIGHT + push
    found = guard.update(STEP_S)
    assert found is not None
    assert found[0] is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "pushed from the side" in found[1]


def test_a_sensor_that_falls_silent_ends_the_motion() -> None:
    guard, sensor = tared()
    sensor.force = None
    found = guard.update(STEP_S)
    assert found is not None
    assert found[1] == "the force on the tool is not measured any more"


@pytest.mark.parametrize("size", [0.0, 0.5, 101.0, np.nan, np.inf])
def test_a_bound_that_no_sensor_serves_is_refused(size: float) -> None:
    with pytest.raises(GoalRefused, match="give 1 to 100 N"):
        ContactGuard(np.array((0.0, 0.0, size)), Sensor())


def test_a_robot_without_a_sensor_refuses_in_words() -> None:
    with pytest.raises(GoalRefused, match="this needs a force-torque sensor"):
        ContactGuard(UP, not_measured)


def test_the_bound_is_taken_out_of_the_tolerances_of_the_joints() -> None:
    joints, bound = bound_of({"a": 0.01, **dict(zip(FORCE_TOLERANCES, (1.0, -2.0, 3.0), strict=True))})
    assert joints == {"a": 0.01}
    assert bound is not None
    assert bound.tolist() == [1.0, -2.0, 3.0]
    assert bound_of({"a": 0.01}) == ({"a": 0.01}, None)


def test_a_controller_lets_go_at_the_bound_and_reports_the_contact() -> None:
    one = np.ones(1)
    controller = TrajectoryController(JointLimits(("a",), -one, one, one, one), np.zeros(1))
    sensor = Sensor()
    controller.measure_force = sensor
    goal = TrajectoryGoal(("a",), np.array((0.0, 2.0)), np.array(((0.0,), (0.1,))), stop_force=UP)
    controller.start(goal, np.zeros(1))
    for _ in range(500):
        controller.update(controller.reference.position, controller.reference.velocity, STEP_S)
    assert controller.phase is Phase.FOLLOW
    stuck = controller.reference.position - 0.01
    sensor.force = WEIGHT + 1.1 * UP
    before = controller.reference.velocity
    assert before > 0.0
    controller.update(stuck, np.full(1, -0.5), STEP_S)
    assert controller.reference.position == pytest.approx(stuck, abs=1e-6), "the servo still pushes"
    assert controller.reference.velocity == 0.0, (
        "a joint that was thrown back is pushed on, or commanded back"
    )
    for _ in range(500):
        controller.update(stuck, np.zeros(1), STEP_S)
    assert controller.result is not None
    assert (controller.result.ending, controller.result.code) == (Ending.ABORTED, ErrorCode.CONTACT)


def test_a_refused_bound_leaves_the_controller_as_it_was() -> None:
    one = np.ones(1)
    controller = TrajectoryController(JointLimits(("a",), -one, one, one, one), np.zeros(1))
    goal = TrajectoryGoal(("a",), np.array((0.0, 2.0)), np.array(((0.0,), (0.1,))), stop_force=UP)
    with pytest.raises(GoalRefused):
        controller.start(goal, np.zeros(1))
    assert not controller.busy
    assert controller.path is None
