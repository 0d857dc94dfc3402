"""Leases, holds of several arms and the action server under hundreds of interleavings of clients, bodies and stops."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from handiwork_msgs.action import Pick
from handiwork_msgs.msg import SkillResult

from handiwork_core.contracts import skill
from handiwork_core.contracts.skill import Progress, Stopped, Token
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_ros.actions import (
    admission,
    arm_lease,
    body_run,
    multi_arm_lease,
    skill_action_server,
)
from handiwork_ros.actions.admission import AdmissionQueue
from handiwork_ros.actions.arm_lease import ArmLease, Policy
from handiwork_ros.actions.skill_action_server import SkillActionServer
from handiwork_ros.actions.skill_binding import ArmRequest, GoalRejected, Report, SkillBinding
from handiwork_ros.conversions import outcome_to_msg
from support.interleaving import virtual_ros
from support.interleaving.interleaver import Interleaver

MODULES = [arm_lease, multi_arm_lease, admission, skill_action_server, body_run, skill]
ARMS = ("left", "right")
ENDS = {
    GoalStatus.STATUS_SUCCEEDED: {Code.OK},
    GoalStatus.STATUS_CANCELED: {Code.CANCELED},
    GoalStatus.STATUS_ABORTED: {Code.BUSY, Code.PREEMPTED, Code.UNRESPONSIVE, Code.CANCELED, Code.BAD_GOAL},
}


@dataclass
class Cell:
    """Arms that note when two bodies move one of them at once."""

    run: Interleaver
    moving: dict[str, list[Token]] = field(default_factory=lambda: {arm: [] for arm in ARMS})
    stops: int = 0

    def move(self, arms: tuple[str, ...], token: Token, steps: int) -> Outcome:
        """Move arms stepwise; fail when another body moves one of them.

        Args:
            arms: Names of the arms.
            token: Token of the body.
            steps: Number of steps.
        """
        for _ in range(steps):
            if token.is_revoked:
                raise Stopped
            for arm in arms:
                self.moving[arm].append(token)
                assert self.moving[arm] == [token], f"seed {self.run.seed}: two bodies on {arm}"
            self.run.sleep(self.run.draw([0.0, 0.0, 0.05, 0.2]))
            for arm in arms:
                self.moving[arm].remove(token)
            if token.is_set():
                return Outcome(token.reason, "stopped")
        return OK

    def stop(self) -> Outcome:
        self.stops += 1
        self.run.sleep(0.05)
        return self.run.draw([OK, OK, Outcome(Code.ROBOT_LOST, "planted")])


def encoded(outcome: Outcome, _ended: Any) -> Pick.Result:
    return Pick.Result(result=SkillResult(outcome=outcome_to_msg(outcome)))


class Bench:
    """One action server over two leases."""

    def __init__(self, run: Interleaver, policy: Policy) -> None:
        self.run, self.cell, self.node = run, Cell(run), virtual_ros.Node(run)
        self.leases = {arm: ArmLease(self.node, self.cell.stop, watchdog_s=0.3, arm=arm) for arm in ARMS}  # type: ignore[arg-type]
        binding: SkillBinding[Any] = SkillBinding(
            "pick", Pick, self.admit, encoded, lambda progress: progress
        )
        checks = AdmissionQueue(self.node)  # type: ignore[arg-type]
        self.server = SkillActionServer(self.leases["left"], binding, checks, policy=policy, arms=self.leases)

    def admit(self, goal: Any) -> ArmRequest[Any]:
        """Accept a goal, or reject a bad one.

        Args:
            goal: The goal.
        """
        if goal.what == "bad":
            raise GoalRejected(Outcome(Code.BAD_GOAL, "planted"))

        def body(token: Token, report: Report) -> Any:
            report(Progress("begin", 0, 2, 0.0))
            if goal.what == "deaf":
                self.run.sleep(self.run.draw([0.6, 0.8, 1.2, 1e4]))
            outcome = self.cell.move(goal.arms, token, goal.steps)
            report(Progress("end", 1, 2, 0.0))
            return SimpleNamespace(outcome=outcome)

        return ArmRequest(goal.arms, body)

    def client(self, seed: int, ends: list[Any], deaf: float) -> None:
        """Send a few goals, cancel some of them at any instant, and wait for all results.

        Args:
            seed: Seed of the goals.
            ends: Gets the handles of the goals.
            deaf: Share of goals of the kind "deaf".
        """
        chance = random.Random(seed)
        handles = []
        for _ in range(3):
            what = "deaf" if chance.random() < deaf else chance.choice(["run", "run", "bad"])
            arms = chance.choice([("left",), ("right",), ARMS])
            goal = SimpleNamespace(what=what, arms=arms, steps=chance.randrange(4), when_busy="")
            handles.append(self.server.server.send(goal))
            self.run.sleep(chance.choice([0.0, 0.0, 0.01, 0.2]))
            if what == "deaf" or chance.random() < 0.5:
                self.server.server.cancel(handles[-1])
        assert self.run.wait(lambda: all(handle.result is not None for handle in handles), 60.0), (
            f"seed {self.run.seed}: a goal without an end"
        )
        ends += handles


def played(seed: int, policy: Policy, deaf: float, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Run three clients, and check the invariants after any of their interleavings.

    Args:
        seed: Seed of the interleaving.
        policy: Policy for busy arms.
        deaf: Share of goals of the kind "deaf".
        monkeypatch: The fixture.
    """
    run, ends = Interleaver(seed, MODULES), list[Any]()
    monkeypatch.setattr(skill_action_server, "ActionServer", virtual_ros.ActionServer)
    monkeypatch.setattr(arm_lease, "Future", virtual_ros.Future)
    with run.patched():
        bench = Bench(run, policy)

        def watch() -> None:
            assert run.wait(lambda: len(ends) == 9, 200.0), f"seed {seed}: goals without an end"
            is_idle = run.wait(lambda: not any(lease.is_busy for lease in bench.leases.values()), 20.0)
            assert is_idle, f"seed {seed}: an arm stays busy"

        for number in range(3):
            run.spawn(lambda n=number: bench.client(1000 * seed + n, ends, deaf), f"client {number}")  # type: ignore[misc]
        run.spawn(watch, "watch")
        run.run()
    for handle in ends:
        code = Code(handle.result.result.outcome.code)
        assert code in ENDS[handle.status], f"seed {seed}: {handle.status} {code.name}"
    assert not any(lease.jobs for lease in bench.leases.values())
    return bench


@pytest.mark.parametrize("policy", list(Policy), ids=lambda policy: policy.name)
@pytest.mark.parametrize("first", range(0, 90, 30))
def test_every_goal_ends_once_and_no_two_bodies_share_an_arm(
    first: int, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first, first + 30):
        played(seed, policy, 0.0, monkeypatch)


@pytest.mark.parametrize("policy", list(Policy), ids=lambda policy: policy.name)
def test_bodies_that_do_not_react_are_abandoned_and_the_arms_serve_on(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum(played(seed, policy, 0.4, monkeypatch).cell.stops for seed in range(40)) > 10


def test_a_run_is_repeated_by_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [played(7, Policy.QUEUE, 0.2, monkeypatch).run.steps for _ in range(3)]
    assert len(set(steps)) == 1
