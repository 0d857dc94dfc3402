"""What the port of a policy sends: one curve, message after message, that ends at rest in each of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from handiwork_core.contracts.skill import Context
from handiwork_core.control.goal_refusal import GoalRefused
from handiwork_core.control.trajectory_controller import Phase, TrajectoryController
from handiwork_core.control.trajectory_goal import JointLimits
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_core.testing.fakes import Cell, fakes
from handiwork_policy.guard.joint_filter import Motion, StepLimits, braked, braking_points, moved
from skill_server.policies.pictures import CameraPictures
from skill_server.policies.port import LAG_S, SkillPort
from skill_server.policies.run import wait_for_rest

HZ = 25.0
STEP_S = 1.0 / HZ
TICK_S = 0.002


class Topic:
    """A controller that gets each schedule some time after it was sent, and the time of the cell."""

    def __init__(self, cell: Cell, context: Context) -> None:
        self._cell, self.delay_s = cell, 0.004
        limits = JointLimits.of(context.robot, context.arm_spec)
        self.controller = TrajectoryController(limits, cell.q.copy())
        self._waiting = list[tuple[float, float, Array, Array, Array]]()
        self.places, self.rates = [cell.q.copy()], [np.zeros_like(cell.q)]
        self._now_s, self.refused = cell.now_s, 0

    def fault(self) -> str:
        return ""

    def send(self, q: Array, v: Array, stamp_s: float, due_s: Array) -> None:
        assert due_s[0] == 0.0 and (np.diff(due_s) > 0.0).all() and not v[-1].any()
        self._waiting.append((self._now_s + self.delay_s, stamp_s, q, v, due_s))

    def advance(self, to_s: float) -> None:
        while self._now_s < to_s - 1e-9:
            while self._waiting and self._waiting[0][0] <= self._now_s + 1e-9:
                _, stamp_s, q, v, due_s = self._waiting.pop(0)
                try:
                    self.controller.schedule(due_s + stamp_s - self._now_s, q, v)
                except GoalRefused:
                    self.refused += 1
            here = self.controller.reference
            now = self.controller.update(here.position, here.velocity, TICK_S)
            self.places.append(now.position.copy())
            self.rates.append(now.velocity.copy())
            self._now_s += TICK_S


class Bench:
    def __init__(self) -> None:
        made = fakes(Cell({}, {}))
        self.cell, self.context = made.cell, made.context
        self.topic = Topic(self.cell, self.context)
        self.port = SkillPort(self.context, self.topic, HZ, CameraPictures(None, ()))
        self.limits = StepLimits.of(self.context.robot, self.context.arm_spec, STEP_S, 1.0, 1.0)
        self.start = self.cell.q.copy()
        self.motion = Motion.at_rest(self.start)
        self.references = [self.start]

    def step(self, v: Array | None, *, takes_s: float = 0.0) -> int:
        """Command a velocity, None to brake, in a step that takes so long; return the number of missed steps."""
        self.cell.now_s += takes_s
        before = self.motion
        self.motion = braked(before, self.limits) if v is None else moved(before, self._near(v), STEP_S)
        if self.port.is_late():
            self.motion = braked(before, self.limits)
        else:
            self.port.send(*braking_points(self.motion, self.limits))
        self.references.append(self.motion.q)
        self.topic.advance(self.cell.now_s)
        missed = self.port.wait_step()
        for _ in range(missed):
            self.motion = braked(self.motion, self.limits)
            self.references.append(self.motion.q)
        self.topic.advance(self.cell.now_s)
        return missed

    def _near(self, v: Array) -> Array:
        return np.clip(v, self.motion.v - self.limits.change, self.motion.v + self.limits.change)

    def finish(self) -> None:
        self.topic.advance(self.cell.now_s + 3.0)

    @property
    def places(self) -> Array:
        return np.array(self.topic.places)

    def greatest_share(self) -> float:
        """Return the greatest acceleration that was commanded, as a share of the limits."""
        rise = np.abs(np.diff(np.array(self.topic.rates), axis=0)).max(axis=0) / TICK_S
        return float((rise / self.limits.acceleration).max())


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize("delay_s", [0.0, 0.004, 0.03, 0.07])
def test_the_arm_follows_the_curve_through_the_references(bench: Bench, delay_s: float) -> None:
    bench.topic.delay_s = delay_s
    for k in range(20):
        assert bench.step(np.full(6, 0.1 if k < 12 else -0.05)) == 0
    bench.finish()
    expected = _curve(bench.references, len(bench.places))
    assert np.abs(bench.places[: len(expected)] - expected).max() < 1e-6
    assert bench.greatest_share() < 1.01
    assert not bench.topic.refused


def test_fingers_move_as_late_as_the_arm(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    fingers = bench.port.fingers
    assert fingers is not None
    asked = list[tuple[float, float]]()
    monkeypatch.setattr(fingers, "move", lambda width_m, at_s: asked.append((width_m, at_s)))
    bench.step(np.full(6, 0.1))
    begin_s = bench.cell.now_s
    bench.step(np.full(6, 0.1), takes_s=0.01)
    bench.port.grip(0.02)
    assert asked == [(0.02, pytest.approx(begin_s + STEP_S + LAG_S))]


def test_without_a_further_message_the_arm_brakes_on_what_was_sent(bench: Bench) -> None:
    for _ in range(8):
        bench.step(np.full(6, 0.1))
    rest = braking_points(bench.motion, bench.limits)[0][-1]
    bench.finish()
    assert bench.topic.controller.phase is Phase.HOLD
    assert np.abs(bench.places[-1] - rest).max() < 1e-6
    assert (bench.places <= rest + 1e-6).all(), "the arm went beyond the end of the checked brake"
    assert bench.greatest_share() < 1.01


@pytest.mark.parametrize("takes_s", [0.03, 0.045, 0.06, 0.1, 0.3])
def test_a_step_that_takes_long_brakes_the_arm_and_the_reference_alike(bench: Bench, takes_s: float) -> None:
    for k in range(24):
        bench.step(np.full(6, 0.1), takes_s=takes_s if k == 10 else 0.0)
    bench.finish()
    rest = braking_points(bench.motion, bench.limits)[0][-1]
    assert np.abs(bench.places[-1] - rest).max() < 1e-6
    assert (bench.places <= rest + 1e-6).all()
    assert bench.greatest_share() < 1.01


@pytest.mark.parametrize("delay_s", [0.06, 0.09, 0.11, 0.2])
def test_a_message_that_comes_late_is_joined_gently_or_refused(bench: Bench, delay_s: float) -> None:
    for k in range(40):
        bench.topic.delay_s = delay_s if k == 10 else 0.004
        bench.step(np.full(6, 0.1))
    bench.finish()
    rest = braking_points(bench.motion, bench.limits)[0][-1]
    assert np.abs(bench.places[-1] - rest).max() < 1e-6
    assert (bench.places <= rest + 1e-6).all()
    assert bench.greatest_share() < 1.3


def test_a_reference_that_is_taken_back_is_joined_after_a_brake(bench: Bench) -> None:
    for _ in range(8):
        bench.step(np.full(6, 0.1))
    bench.motion = Motion.at_rest(bench.start + 0.01)
    assert bench.step(np.full(6, 0.1)) > 0
    held = bench.motion.q
    for _ in range(6):
        assert bench.step(np.zeros(6)) == 0
    bench.finish()
    assert np.abs(bench.places[-1] - held).max() < 1e-6
    assert bench.greatest_share() < 1.01


def test_a_stopped_run_sends_nothing_more(bench: Bench) -> None:
    for _ in range(4):
        bench.step(np.full(6, 0.1))
    bench.context.token.set(Code.CANCELED)
    assert bench.port.why_stop() == "canceled"
    assert bench.port.send(*braking_points(bench.motion, bench.limits)) == "canceled"
    assert bench.port.wait_step() == 0


def test_a_cancelled_run_waits_for_the_motion_that_was_sent_from_rest(bench: Bench) -> None:
    bench.motion = moved(bench.motion, bench.limits.change, STEP_S)
    bench.port.send(*braking_points(bench.motion, bench.limits))
    bench.topic.advance(bench.cell.now_s)
    assert np.abs(bench.topic.rates[-1]).max() < JOINT_REST, "the arm has not begun yet"
    bench.context.token.set(Code.CANCELED)
    wait_for_rest(bench.context, STEP_S)
    bench.topic.advance(bench.cell.now_s)
    assert np.abs(bench.topic.rates[-1]).max() > JOINT_REST, "the stop of the executor must see it move"


def test_a_run_whose_robot_is_lost_does_not_wait(bench: Bench) -> None:
    before_s = bench.cell.now_s
    bench.context.token.set(Code.ROBOT_LOST)
    wait_for_rest(bench.context, STEP_S)
    assert bench.cell.now_s == before_s


def _curve(references: list[Array], count: int) -> Array:
    """Return the curve half a step behind the references, from its begin at ``LAG_S`` on."""
    q = np.array([references[0], *references])
    v = np.diff(q, axis=0) / STEP_S
    place = q[1:] - 0.5 * STEP_S * v
    spline = CubicHermiteSpline(LAG_S + STEP_S * np.arange(len(place)), place, v)
    t_s = TICK_S * np.arange(count)
    made = spline(np.maximum(t_s, LAG_S))
    return np.asarray(made[: int((LAG_S + STEP_S * (len(place) - 1)) / TICK_S)])
