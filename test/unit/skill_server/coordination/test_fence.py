"""An abandoned body wakes up late, and every port that could cause a motion refuses it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Attachment,
    CandidatesRequest,
    JointGoals,
    PlanRequest,
    SceneQuery,
    ShouldStop,
)
from handiwork_core.contracts.ports import Arm
from handiwork_core.contracts.skill import Context, Stopped, Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.testing.fakes import Cell, Fakes, fakes, smooth
from handiwork_core.testing.gantry import gantry
from skill_server.coordination.fence import (
    FencedArm,
    FencedClock,
    FencedGripper,
    FencedHeld,
    FencedPlanner,
)
from skill_server.coordination.reservations import MotionReservations
from skill_server.execution.run import run_skill
from skill_server.skills.motion.home import Home

LIMIT_S = 60.0
HOME_Q = np.array(gantry().arms["arm"].home_q)
THERE = smooth(HOME_Q, HOME_Q + 0.05)
HELD = Attachment("cube", "hand", Pose.identity())
PLAN = PlanRequest("arm", HOME_Q, JointGoals(HOME_Q[None]))


def never() -> bool:
    return False


def fenced() -> Fakes:
    f = fakes(Cell({}, {}))
    context, token = f.context, f.context.token
    context.planner, context.arm = FencedPlanner(context.planner, token), FencedArm(context.arm, token)
    context.gripper, context.clock = FencedGripper(context.gripper, token), FencedClock(context.clock, token)
    context.held = FencedHeld(context.held, token)
    return f


CALLS: dict[str, Callable[[Context], object]] = {
    "follow": lambda c: c.arm.follow(THERE, should_stop=never),
    "stop": lambda c: c.arm.stop(),
    "move": lambda c: c.gripper.move(0.01, should_stop=never),
    "plan": lambda c: c.planner.plan(PLAN, should_stop=never),
    "check": lambda c: c.planner.check_candidates(
        CandidatesRequest("arm", HOME_Q, (), ()), should_stop=never
    ),
    "validate": lambda c: c.planner.validate("arm", THERE, SceneQuery(), should_stop=never),
    "now": lambda c: c.clock.now_s(),
    "sleep": lambda c: c.clock.sleep(1.0, should_stop=never),
    "take": lambda c: c.held.update(cube=HELD),
    "forget": lambda c: c.held.pop("cube"),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_refused_once_the_token_is_revoked(name: str) -> None:
    f = fenced()
    f.context.held["cube"] = HELD
    f.context.token.revoke()
    with pytest.raises(Stopped):
        CALLS[name](f.context)
    assert f.cell.calls == []
    assert dict(f.context.held) == {"cube": HELD}


@pytest.mark.parametrize("name", CALLS)
def test_a_live_body_passes(name: str) -> None:
    f = fenced()
    f.context.held["cube"] = HELD
    f.context.token.set(Code.CANCELED)
    CALLS[name](f.context)


@dataclass
class GatedArm:
    """Sends at the gate: it checks ``should_stop`` right before, as the arm's client does."""

    arrived: threading.Event = field(default_factory=threading.Event)
    gate: threading.Event = field(default_factory=threading.Event)
    sent: int = 0

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        self.arrived.set()
        assert self.gate.wait(LIMIT_S)
        if should_stop():
            return Outcome(Code.CANCELED, "stopped")
        self.sent += 1
        return OK

    def stop(self) -> Outcome:
        return OK


def test_a_motion_that_is_on_its_way_when_the_body_is_abandoned_is_not_sent() -> None:
    arm, token, ends = GatedArm(), Token(), list[str]()

    def body() -> None:
        try:
            FencedArm(arm, token).follow(THERE, should_stop=never)
        except Stopped:
            ends.append("stopped")

    thread = threading.Thread(target=body)
    thread.start()
    assert arm.arrived.wait(LIMIT_S)
    token.revoke()
    arm.gate.set()
    thread.join(LIMIT_S)
    assert (arm.sent, ends) == (0, ["stopped"])


def test_a_skill_that_wakes_up_after_it_was_abandoned_moves_nothing() -> None:
    f, stuck, wake = fenced(), threading.Event(), threading.Event()

    def deaf(call: str) -> None:
        if call == "planner.plan":
            stuck.set()
            assert wake.wait(LIMIT_S)

    f.cell.before = deaf
    f.cell.q = HOME_Q + 0.1
    ends: list[Outcome] = []
    home = Home()
    thread = threading.Thread(
        target=lambda: ends.append(run_skill(home, home.params_type(), f.context).outcome)
    )
    thread.start()
    assert stuck.wait(LIMIT_S)
    f.context.token.set(Code.CANCELED)
    f.context.token.revoke()
    wake.set()
    thread.join(LIMIT_S)
    assert ends[0].code is Code.CANCELED
    assert (f.arm.followed, f.arm.stops) == (0, 0)
    assert f.cell.q == pytest.approx(HOME_Q + 0.1)


@dataclass(frozen=True)
class RevokedWhileItStops:
    """An arm whose token is revoked between the executor's look at it and the stop, or right after the stop."""

    arm: Arm
    token: Token
    is_before: bool

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        return self.arm.follow(trajectory, should_stop=should_stop)

    def stop(self) -> Outcome:
        if self.is_before:
            self.token.revoke()
        stopped = self.arm.stop()
        self.token.revoke()
        return stopped


@pytest.mark.parametrize("is_before", [True, False])
def test_a_body_that_is_abandoned_while_it_stops_its_arm_ends_with_its_first_cause(is_before: bool) -> None:
    """It was slow to react; the lease stops the arm, and takes the body's end as that of the goal."""
    f = fenced()

    def cancel(call: str) -> None:
        if call == "planner.plan":
            f.context.held["cube"] = HELD  # which the world does not have: it is forgotten after the stop
            f.context.token.set(Code.CANCELED)

    f.cell.before = cancel
    f.context.arm = RevokedWhileItStops(f.context.arm, f.context.token, is_before)
    f.cell.q = HOME_Q + 0.1
    home = Home()
    outcome = run_skill(home, home.params_type(), f.context).outcome
    assert f.context.token.is_revoked
    assert outcome.code is Code.CANCELED, outcome.message
    assert "failed" not in outcome.message


def test_a_task_takes_the_ports_from_the_skills_of_all_its_arms() -> None:
    task = Token()
    early = task.child()
    task.revoke()
    for child in (early, task.child(), early.child()):
        assert child.is_revoked
        assert child.is_set()


def test_an_evicted_run_neither_speaks_for_its_arm_nor_leaves_for_its_successor() -> None:
    board = MotionReservations(("a", "b"))
    old = board.enter("a")
    assert board.post("a", THERE, board.ways("a")[0], old)
    board.evict("a")
    assert not board.moves("a") and board.idle_s("a") < LIMIT_S
    new = board.enter("a")
    for call in (
        lambda: board.post("a", THERE, board.ways("a")[0], old),
        lambda: board.begin("a", 0.0, old),
        lambda: board.end("a", old),
        lambda: board.go_on("a", old),
        lambda: board.mark_irreversible("a", True, old),
        lambda: board.wait("a", "b", 0, 0.0, old),
    ):
        with pytest.raises(Stopped):
            call()
    assert board.post("a", THERE, board.ways("a")[0], new)
    board.leave("a", old)
    assert board.moves("a") and board.idle_s("a") == 0.0
    board.leave("a", new)
    assert not board.moves("a")
