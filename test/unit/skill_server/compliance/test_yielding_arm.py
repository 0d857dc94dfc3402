"""An arm that yields: its motions are supervised, and it ends at rest, or says that it does not."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import PathRest, ShouldStop, Verdict
from handiwork_core.contracts.skill import StepFailed, Stopped
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes, smooth
from skill_server.compliance.settings import pressing
from skill_server.compliance.yielding import yielding
from skill_server.state.scene_query import scene_for

DOWN = np.array((0.0, 0.0, 1.0))
BALL = WorldObject("ball", (Shape(ShapeKind.SPHERE, np.array((0.03,)), Pose.identity()),))
SILENT = Outcome(Code.CONTROLLER_REFUSED, "arm_admittance_controller does not answer (timeout)")


class FakeCompliance:
    """Answers a release with ``releases`` in order, and with OK after them."""

    def __init__(self) -> None:
        self.releases: list[Outcome] = []
        self.yields = False
        self.pushed: Array = np.zeros(6)

    def set_admittance(self, settings: AdmittanceSettings, *, should_stop: ShouldStop) -> Outcome:
        done = OK if settings.yields or not self.releases else self.releases.pop(0)
        if done.ok:
            self.yields = settings.yields
        return done

    def set_wrench(self, wrench: Array) -> None:
        self.pushed = wrench

    def wrench(self) -> Array | None:
        return np.zeros(6)


def cell() -> tuple[Fakes, FakeCompliance]:
    f = fakes(Cell({"ball": BALL}, {"ball": Pose.of((0.4, 0.4, 0.03))}))
    made = FakeCompliance()
    f.context.compliance = made
    return f, made


def wipe(f: Fakes) -> None:
    """Follow a motion of two seconds with a push."""
    context = f.context
    then = context.world.snapshot()
    scene = scene_for(then, context.robot, context.arm_spec, context.held, frozenset(), frozenset())
    way = smooth(f.cell.q, f.cell.q + np.array((0.1, 0.0, 0.0, 0.0, 0.0, 0.0)), duration_s=2.0)
    with yielding(context, pressing(DOWN, 8.0), 30.0, "wipe", "wipe") as arm:
        arm.push(DOWN * 8.0)
        arm.follow(way, scene, then, lambda _here: False)


def test_something_in_the_way_of_a_wiping_hand_stops_it_without_a_push() -> None:
    f, compliance = cell()
    asked, at_the_end = threading.Event(), list[Array]()
    f.planner.judge = lambda _rest: _refuse(asked, _rest)

    def roll(t: float) -> None:
        if t > 0.2:
            f.cell.poses["ball"] = Pose.of((0.3, 0.0, 0.03))
            asked.wait(5.0)
            threading.Event().wait(0.02)  # the answer is read by another thread
        at_the_end[:] = [compliance.pushed.copy()]

    f.arm.on_tick = roll
    follow = f.arm.follow

    def followed(*args: object, **named: object) -> Outcome:
        done = follow(*args, **named)  # type: ignore[arg-type]
        at_the_end[:] = [compliance.pushed.copy()]
        return done

    f.arm.follow = followed  # type: ignore[method-assign]
    with pytest.raises(StepFailed) as failure:
        wipe(f)
    assert failure.value.outcome.code is Code.PATH_BLOCKED, failure.value.outcome
    assert not at_the_end[0].any()
    assert not compliance.yields


def _refuse(asked: threading.Event, _rest: PathRest) -> Verdict:
    asked.set()
    return Verdict(Code.PATH_BLOCKED, "the hand goes into ball")


def test_a_lost_answer_to_a_release_is_asked_for_again() -> None:
    f, compliance = cell()
    compliance.releases = [SILENT]
    wipe(f)
    assert not compliance.yields


def test_an_arm_that_does_not_cease_to_yield_is_no_success() -> None:
    f, compliance = cell()
    compliance.releases = [SILENT] * 9
    with pytest.raises(StepFailed, match=r"may still yield.*does not answer"):
        wipe(f)


def test_a_cancel_that_leaves_a_yielding_arm_does_not_end_as_canceled() -> None:
    f, compliance = cell()
    compliance.releases = [SILENT] * 9
    f.arm.on_tick = lambda _t: f.context.token.set(Code.CANCELED)
    with pytest.raises(StepFailed, match=r"canceled; the arm may still yield"):
        wipe(f)


def test_a_cancel_ends_with_an_arm_that_neither_yields_nor_is_pushed() -> None:
    f, compliance = cell()
    f.arm.on_tick = lambda _t: f.context.token.set(Code.CANCELED)
    with pytest.raises(Stopped):
        wipe(f)
    assert not compliance.yields
    assert not compliance.pushed.any()
