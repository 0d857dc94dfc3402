"""Previews of a server: refused while their arm has a goal, also one that came after the admission."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import pytest

pytest.importorskip("rclpy", reason="the server's requests are those of its actions")

from handiwork_msgs.action import ExecutePlan

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Cell, fakes
from handiwork_ros.actions.skill_binding import GoalRejected
from skill_server.preview.plan_store import PLANS_KEPT
from skill_server.preview.rehearsal import PreviewResult
from skill_server.preview.skill_plan import SkillPlan
from skill_server.ros.admission import Gate
from skill_server.ros.arm_runner import ArmRunner
from skill_server.ros.execute_plan_action import execute_plan_binding
from skill_server.ros.previews import Previews
from skill_server.skills.motion.home import Home, HomeParams


@dataclass
class Lease:
    """The two things that a preview reads of an arm's lease."""

    is_busy: bool = False
    holder: str = "pick"


@dataclass
class Server:
    lease: Lease = field(default_factory=Lease)
    shown: list[SkillPlan] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fakes = fakes(Cell({}, {}))
        context = self.fakes.context
        runner = ArmRunner(**{item.name: getattr(context, item.name) for item in fields(ArmRunner)})
        leases: Any = {"arm": self.lease}
        self.previews = Previews({"arm": runner}, leases, self.shown.append)


def test_the_result_of_an_execution_has_its_arm_although_the_plan_is_gone():
    server, unused = Server(), cast(Any, None)
    alone, runs = server.fakes.context.robot, server.previews.runs
    robot = replace(alone, arms={**alone.arms, "other": replace(alone.arms["arm"], name="other")})
    gate = Gate(robot, runs, unused, 0.0, unused, unused, unused, unused, server.previews)
    previewed = server.previews.preview(Home(), HomeParams(), "arm").body(Token(), lambda _progress: None)
    assert isinstance(previewed, PreviewResult)
    assert previewed.plan is not None
    goal = ExecutePlan.Goal(plan_id=previewed.plan.plan_id)
    ended = server.previews.execution(goal.plan_id).body(Token(), lambda _progress: None)
    for _ in range(PLANS_KEPT):
        server.previews.store.keep(previewed.plan)
    assert server.previews.arm_of(goal.plan_id) == ""
    encode = execute_plan_binding(gate).encode_for
    assert encode is not None
    assert encode(goal, ended.outcome, ended).result.stopped_at.name


def test_a_preview_of_an_arm_with_a_goal_is_refused():
    server = Server(Lease(is_busy=True))
    with pytest.raises(GoalRejected) as caught:
        server.previews.preview(Home(), HomeParams(), "arm")
    assert caught.value.outcome.code is Code.BUSY
    assert "arm is busy with 'pick'" in caught.value.outcome.message


def test_a_preview_that_waited_is_refused_when_its_arm_got_a_goal():
    server = Server()
    request = server.previews.preview(Home(), HomeParams(), "arm")
    server.lease.is_busy = True
    ended = request.body(Token(), lambda _progress: None)
    assert ended.outcome.code is Code.BUSY
    assert not server.shown
    server.lease.is_busy = False
    assert request.body(Token(), lambda _progress: None).outcome.ok
    assert server.shown
