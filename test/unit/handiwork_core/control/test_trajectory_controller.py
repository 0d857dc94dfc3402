"""The trajectory controller against an arm that follows exactly, lags, or is stuck."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.tolerances import Tolerances
from handiwork_core.control.trajectory_controller import (
    SILENT_S,
    Ending,
    Reference,
    TrajectoryController,
)
from handiwork_core.control.trajectory_goal import JointLimits, TrajectoryGoal
from handiwork_core.model.controller_profile import ControllerProfile
from handiwork_core.model.geometry import Array
from handiwork_core.model.thresholds import REST_TIME_S

STEP_S = 0.002
NAMES = ("shoulder", "elbow")
LIMITS = JointLimits(
    NAMES, np.array([-2.0, -2.0]), np.array([2.0, 2.0]), np.array([2.0, 3.0]), np.array([10.0, 5.0])
)


def motion(end: tuple[float, float] = (1.0, -0.5), duration_s: float = 1.5) -> TrajectoryGoal:
    t = np.linspace(0.0, duration_s, 40)
    u = (t / duration_s)[:, None]
    q = np.array(end) * (10 * u**3 - 15 * u**4 + 6 * u**5)
    qd = np.array(end) * (30 * u**2 - 60 * u**3 + 30 * u**4) / duration_s
    return TrajectoryGoal(NAMES, t, q, qd)


def run(
    controller: TrajectoryController, steps: int = 5000, stuck_after: int | None = None
) -> tuple[Array, Array]:
    """Follow the reference exactly until the arm gets stuck; return measured positions and velocities."""
    q, qd = controller.reference.position, np.zeros(2)
    positions, velocities = [], []
    for index in range(steps):
        if not controller.busy:
            break
        reference = controller.update(q, qd, STEP_S)
        if stuck_after is None or index < stuck_after:
            q, qd = reference.position, reference.velocity
        else:
            qd = np.zeros(2)
        positions.append(q)
        velocities.append(qd)
    return np.array(positions), np.array(velocities)


def started(goal: TrajectoryGoal) -> TrajectoryController:
    controller = TrajectoryController(LIMITS, np.zeros(2))
    controller.start(goal, np.zeros(2))
    return controller


def test_a_goal_that_is_followed_succeeds_at_its_end() -> None:
    controller = started(motion())
    positions, _ = run(controller)
    assert controller.result is not None
    assert controller.result.ending is Ending.SUCCEEDED
    assert positions[-1] == pytest.approx([1.0, -0.5])
    assert len(positions) * STEP_S == pytest.approx(1.5, abs=0.02)


def test_joint_order_is_free() -> None:
    goal = motion()
    assert goal.qd is not None
    swapped = TrajectoryGoal(NAMES[::-1], goal.t_s, goal.q[:, ::-1], goal.qd[:, ::-1])
    positions, _ = run(started(swapped))
    assert positions[-1] == pytest.approx([1.0, -0.5])


def test_a_single_point_without_velocities_is_reached_from_the_measured_position() -> None:
    controller = started(TrajectoryGoal(NAMES, np.array([1.0]), np.array([[0.4, 0.4]])))
    positions, velocities = run(controller)
    assert controller.result is not None
    assert controller.result.ending is Ending.SUCCEEDED
    assert positions[-1] == pytest.approx([0.4, 0.4])
    assert np.abs(velocities[-1]).max() < 1e-9


@pytest.mark.parametrize("at_step", [1, 200, 375, 600, 740])
def test_a_stopped_arm_brakes_on_its_path_within_its_limits(at_step: int) -> None:
    whole, _ = run(started(motion()))
    controller = started(motion())
    _before, speed_before = run(controller, at_step)
    controller.stop(Ending.CANCELED, "enough")
    after, speed_after = run(controller)
    assert controller.result is not None
    assert controller.result.ending is Ending.CANCELED
    assert len(after) * STEP_S < 0.5
    assert np.abs(speed_after[-1]).max() < 0.01
    # On the straight path between start and end, never beyond the end.
    assert after[:, 1] == pytest.approx(-0.5 * after[:, 0], abs=1e-9)
    assert after[-1, 0] <= whole[-1, 0] + 1e-9
    acceleration = np.diff(np.vstack([speed_before[-1:], speed_after]), axis=0) / STEP_S
    assert (np.abs(acceleration) <= LIMITS.acceleration * 1.1).all()


def test_an_arm_that_gets_stuck_ends_with_the_joint_and_both_numbers() -> None:
    controller = started(motion())
    run(controller, stuck_after=200)
    assert controller.result is not None
    assert controller.result.code is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "joint shoulder is 0.05" in controller.result.message
    assert "0.0500" in controller.result.message
    assert not controller.busy


def test_an_arm_that_stops_short_ends_with_goal_tolerance() -> None:
    goal = motion()
    wide = TrajectoryGoal(NAMES, goal.t_s, goal.q, goal.qd, {"shoulder": 2.0, "elbow": 2.0}, {}, 0.3)
    profile = ControllerProfile(greatest_path_tolerance=2.0)
    controller = TrajectoryController(LIMITS, np.zeros(2), Tolerances.of(profile))
    controller.start(wide, np.zeros(2))
    positions, _ = run(controller, stuck_after=600)
    assert controller.result is not None
    assert controller.result.code is ErrorCode.GOAL_TOLERANCE_VIOLATED
    assert "0.30 s after the end" in controller.result.message
    # 1.5 s of motion, 0.3 s of goal time, and the time for which the arm must be still.
    assert len(positions) * STEP_S == pytest.approx(1.8 + REST_TIME_S, abs=0.02)


def test_a_moment_without_speed_is_not_rest() -> None:
    controller = started(motion())
    controller.update(controller.reference.position, np.zeros(2), STEP_S)
    controller.stop(Ending.CANCELED, "asked")
    for i in range(int(1.0 / STEP_S)):
        swing = np.full(2, 0.03 * np.cos(2.0 * np.pi * 8.0 * i * STEP_S))
        controller.update(controller.reference.position, swing, STEP_S)
        assert controller.result is None
    for _ in range(int(1.2 * REST_TIME_S / STEP_S)):
        controller.update(controller.reference.position, np.zeros(2), STEP_S)
    assert controller.result is not None
    assert controller.result.ending is Ending.CANCELED


def changed(**changes: object) -> TrajectoryGoal:
    goal = motion()
    parts = {"joint_names": goal.joint_names, "t_s": goal.t_s, "q": goal.q, "qd": goal.qd} | changes
    return TrajectoryGoal(**parts)  # type: ignore[arg-type]


def with_nan() -> Array:
    q = motion().q.copy()
    q[3, 1] = np.nan
    return q


@pytest.mark.parametrize(
    ("goal", "code", "words"),
    [
        (
            changed(joint_names=("shoulder", "wrist")),
            ErrorCode.INVALID_JOINTS,
            r"unknown \['wrist'\], missing \['elbow'\]",
        ),
        (changed(joint_names=("shoulder", "shoulder")), ErrorCode.INVALID_JOINTS, "name each of"),
        (changed(t_s=np.linspace(0.0, 1.5, 40)[::-1]), ErrorCode.INVALID_GOAL, "does not rise"),
        (changed(q=with_nan()), ErrorCode.INVALID_GOAL, "nan"),
        (changed(q=motion().q[:-1]), ErrorCode.INVALID_GOAL, "in each point"),
        (
            changed(q=motion().q + 0.1),
            ErrorCode.INVALID_GOAL,
            "starts 0.1000 rad from the measured position; the limit is 0.02",
        ),
        (changed(qd=np.ones((40, 2)) * 0.3), ErrorCode.INVALID_GOAL, "ends with 0.3000 rad/s"),
        (
            motion((2.5, 0.0), 4.0),
            ErrorCode.INVALID_GOAL,
            "joint shoulder goes 0.5000 rad beyond its position limit",
        ),
        (
            motion((1.0, -0.5), 0.5),
            ErrorCode.INVALID_GOAL,
            "joint shoulder moves .* faster than its velocity limit",
        ),
        (changed(path_tolerance={"wrist": 0.1}), ErrorCode.INVALID_JOINTS, "path_tolerance names"),
        (
            changed(path_tolerance={"elbow": -1.0}),
            ErrorCode.INVALID_GOAL,
            r"joint elbow has path_tolerance -1, which would lift the check; the controller allows at most 0\.05: "
            r"send 0 for its 0\.05, or raise controller_profile\.greatest_path_tolerance in robot\.yaml",
        ),
        (
            changed(path_tolerance={"shoulder": 0.06}),
            ErrorCode.INVALID_GOAL,
            r"joint shoulder has path_tolerance 0\.06; the controller allows at most 0\.05",
        ),
        (
            changed(goal_tolerance={"elbow": -1.0}),
            ErrorCode.INVALID_GOAL,
            "goal_tolerance -1, which would lift",
        ),
        (
            changed(goal_tolerance={"elbow": 0.3}),
            ErrorCode.INVALID_GOAL,
            r"goal_tolerance 0\.3; .* at most 0\.05",
        ),
        (
            changed(goal_time_tolerance_s=60.0),
            ErrorCode.INVALID_GOAL,
            "goal_time_tolerance is 60 s; .* at most 5",
        ),
        (
            changed(goal_time_tolerance_s=-1.0),
            ErrorCode.INVALID_GOAL,
            "goal_time_tolerance is -1 s; .* at most 5",
        ),
        (TrajectoryGoal(NAMES, np.zeros(0), np.zeros((0, 2))), ErrorCode.INVALID_GOAL, "0 points"),
    ],
)
def test_bad_goals_are_refused_with_the_joint_the_value_and_the_limit(
    goal: TrajectoryGoal, code: ErrorCode, words: str
) -> None:
    controller = TrajectoryController(LIMITS, np.zeros(2))
    with pytest.raises(GoalRefused, match=words) as caught:
        controller.start(goal, np.zeros(2))
    assert caught.value.code is code
    assert not controller.busy


def streamed(controller: TrajectoryController, q: Array, rate: float) -> None:
    controller.stream(Reference(q, np.full(2, rate)), q)


def test_a_stream_is_followed_and_its_silence_brakes_the_arm() -> None:
    controller = TrajectoryController(LIMITS, np.zeros(2))
    q = np.zeros(2)
    for k in range(80):
        controller.stream(Reference(np.full(2, 0.5 * 5 * k * STEP_S), np.full(2, 0.5)), q)
        for _ in range(5):
            q = controller.update(q, np.full(2, 0.5), STEP_S).position
    assert q == pytest.approx(np.full(2, 0.5 * 400 * STEP_S), abs=1e-3)
    _, velocities = run(controller)
    assert not controller.busy
    assert velocities[round(SILENT_S / STEP_S) - 10, 0] == pytest.approx(0.5, abs=0.01)
    assert (np.diff(velocities, axis=0) >= -LIMITS.acceleration * STEP_S - 1e-9).all()


def test_a_stream_goes_on_while_the_arm_brakes_for_its_silence() -> None:
    controller = TrajectoryController(LIMITS, np.zeros(2))
    streamed(controller, np.zeros(2), 0.5)
    run(controller, round(SILENT_S / STEP_S) + 5)
    assert controller.busy
    before = controller.reference
    streamed(controller, before.position, 0.3)
    now = controller.update(before.position, np.full(2, 0.3), STEP_S)
    assert (np.abs(now.velocity - before.velocity) <= LIMITS.acceleration * STEP_S + 1e-9).all()
    assert now.position == pytest.approx(before.position + STEP_S * now.velocity)


def rough_ride(stamped: bool) -> tuple[Array, Array]:
    """Return positions and velocities of an arm whose points, 10 ms apart, come 0 to 90 ms late, some not at all."""
    rng, controller, q = np.random.default_rng(3), TrajectoryController(LIMITS, np.zeros(2)), np.zeros(2)
    way, pace = np.array([1.0, -0.7]), 0.8
    arrivals: dict[int, list[int]] = {}
    for k in range(200):
        arrivals.setdefault(5 * k + int(rng.integers(0, 45)), []).append(k)
    places, rates = [], []
    for step in range(900):
        for k in arrivals.get(step, []):
            phase = pace * 5 * k * STEP_S
            point = Reference(np.sin(phase) * way, pace * np.cos(phase) * way)
            controller.stream(point, q, (step - 5 * k) * STEP_S if stamped else 0.0)
        reference = controller.update(q, np.zeros(2), STEP_S)
        q = reference.position
        places.append(q - np.sin(pace * (step + 1) * STEP_S) * way)
        rates.append(reference.velocity)
    return np.array(places), np.array(rates)


def test_points_that_come_late_and_out_of_order_do_not_jerk_an_arm_that_knows_for_when_they_are() -> None:
    wrong, rates = rough_ride(stamped=True)
    behind, blind = rough_ride(stamped=False)
    assert np.abs(wrong[200:]).max() < 5e-3
    assert np.abs(behind[200:]).max() > 4.0 * np.abs(wrong[200:]).max()
    steps, blind_steps = (np.abs(np.diff(r[200:], axis=0)) for r in (rates, blind))
    assert (blind_steps <= LIMITS.acceleration * STEP_S + 1e-9).all()
    assert steps.mean() < 0.3 * blind_steps.mean()


def test_a_point_for_long_ago_is_refused() -> None:
    controller = TrajectoryController(LIMITS, np.zeros(2))
    with pytest.raises(GoalRefused, match=r"the point was for 0\.120 s ago; 0\.1 s is most"):
        controller.stream(Reference(np.zeros(2), np.zeros(2)), np.zeros(2), 0.12)
    assert not controller.busy


def test_a_goal_may_ask_for_less_and_the_profile_says_how_much_more() -> None:
    profile = ControllerProfile(greatest_path_tolerance=0.2, greatest_goal_tolerance=0.1)
    controller = TrajectoryController(LIMITS, np.zeros(2), Tolerances.of(profile))
    controller.start(changed(path_tolerance={"elbow": 0.2}), np.zeros(2))
    run(controller, stuck_after=300)
    assert controller.result is not None and controller.result.code is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "joint shoulder" in controller.result.message, "the joint that was not named keeps the default"
    tight = started(changed(path_tolerance={"shoulder": 0.01}))
    run(tight, stuck_after=300)
    assert tight.result is not None and "tolerance is 0.0100" in tight.result.message


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"path_tolerance": 0.0}, "path_tolerance: is 0; write a finite number above 0"),
        ({"greatest_goal_time": float("inf")}, "greatest_goal_time: is inf"),
        ({"path_tolerance": 0.1}, r"path_tolerance: is 0\.1, more than greatest_path_tolerance 0\.05"),
        ({"greatest_goal_tolerance": 0.5}, "the arm would press harder at the end"),
    ],
)
def test_a_profile_with_a_fault_is_refused(fields: dict[str, float], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ControllerProfile(**fields)


def test_a_stream_does_not_press_on_what_holds_the_arm() -> None:
    controller, q = TrajectoryController(LIMITS, np.zeros(2)), np.zeros(2)
    farthest, refusals = 0.0, []
    for index in range(1500):
        if index % 10 == 0 and not refusals:
            try:
                controller.stream(Reference(np.array([0.19, 0.0]), np.zeros(2)), q)
            except GoalRefused as refusal:
                refusals.append(str(refusal))
        farthest = max(farthest, float(np.abs(controller.update(q, np.zeros(2), STEP_S).position - q).max()))
    assert farthest < 0.11, "the reference goes no farther from a stuck arm than the profile's 0.1 rad"
    assert refusals and "joint shoulder is 0.1" in refusals[0] and "off its path" in refusals[0]
    assert controller.reference.position == pytest.approx(q, abs=1e-6)
    assert not controller.busy


def test_a_stream_gives_way_to_goals_and_does_not_jump() -> None:
    controller = started(motion())
    with pytest.raises(GoalRefused, match="the arm is busy"):
        streamed(controller, np.zeros(2), 0.0)
    idle = TrajectoryController(LIMITS, np.zeros(2))
    with pytest.raises(GoalRefused, match=r"joint elbow is to jump by 0\.300 rad"):
        idle.stream(Reference(np.array([0.0, 0.3]), np.zeros(2)), np.zeros(2))
    with pytest.raises(GoalRefused, match="2 finite positions"):
        idle.stream(Reference(np.array([np.nan, 0.0]), np.zeros(2)), np.zeros(2))
    assert not idle.busy
    streamed(idle, np.zeros(2), 0.1)
    idle.start(motion(), np.zeros(2))
    run(idle)
    assert idle.result is not None and idle.result.ending is Ending.SUCCEEDED


def test_a_goal_begins_on_its_own_path_though_the_arm_was_held_elsewhere() -> None:
    controller = TrajectoryController(LIMITS, np.array([0.5, 0.0]))
    controller.start(motion(), np.zeros(2))
    assert controller.reference.position == pytest.approx(np.zeros(2))
    controller.update(np.zeros(2), np.zeros(2), STEP_S)
    assert controller.path is not None


def scheduled(times_s: list[float], end: float) -> TrajectoryController:
    """Return a controller that is to move its first joint to ``end``, in equal parts."""
    controller = TrajectoryController(LIMITS, np.zeros(2))
    q = np.outer(np.linspace(0.0, end, len(times_s) + 1)[1:], [1.0, 0.0])
    controller.schedule(np.array(times_s), q, np.zeros((len(times_s), 2)))
    return controller


def test_points_that_are_due_at_once_do_not_make_a_scheduled_arm_jump() -> None:
    """The first of them would need 10 rad/s."""
    _, velocities = run(scheduled([0.001, 0.02, 0.1, 0.2], 0.04))
    assert np.abs(velocities).max() <= LIMITS.velocity[0]


def test_a_schedule_ends_at_its_last_point_even_if_that_is_due_at_once() -> None:
    positions, velocities = run(scheduled([0.005], 0.02))
    assert positions[-1] == pytest.approx([0.02, 0.0])
    assert np.abs(velocities[:, 0]).max() <= 0.02 * 1.5 / 0.04 * 1.001


def test_a_schedule_that_is_over_is_refused() -> None:
    with pytest.raises(GoalRefused, match=r"the last point was for 0\.100 s ago"):
        scheduled([-0.2, -0.1], 0.02)
