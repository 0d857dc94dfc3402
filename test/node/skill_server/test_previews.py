"""Previews of a server: refused while their arm has a goal, also one that came after the admission."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="the server's requests are those of its actions")

from geometry_msgs.msg import PoseStamped
from handiwork_msgs.action import ExecutePlan
from handiwork_msgs.action import Pick as PickAction

from handiwork_core.contracts.skill import Token
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.testing.fakes import Cell, fakes
from handiwork_ros.actions.skill_binding import GoalRejected
from handiwork_ros.conversions import pose_to_msg
from skill_server.preview.plan_store import PLANS_KEPT
from skill_server.preview.rehearsed_run import PreviewResult
from skill_server.preview.skill_plan import SkillPlan
from skill_server.ros.admission import Gate
from skill_server.ros.arm_runner import ArmRunner
from skill_server.ros.execute_plan_action import execute_plan_binding
from skill_server.ros.previews import Previews
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.pick_place.pick import Pick


@dataclass
class Lease:
    """The two things that a preview reads of an arm's lease."""

    is_busy: bool = False
    holder: str = "pick"


TABLE = Pose.of((0.2, 0.0, 0.0))
EDGE_M = 0.045


@dataclass
class Source:
    """The measured world with one frame of tf."""

    snapshot: Callable[[], World]

    @property
    def frames(self) -> Source:
        return self

    def known(self) -> list[str]:
        return ["table"]

    def lookup(self, target: str, source: str, field: str = "") -> Pose:
        return TABLE

    def conflict(self) -> None:
        return None

    def state_age_s(self) -> float:
        return 0.0


@dataclass
class Server:
    lease: Lease = field(default_factory=Lease)
    shown: list[SkillPlan] = field(default_factory=list)

    def __post_init__(self) -> None:
        cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.full(3, EDGE_M), Pose.identity()),))
        self.fakes = fakes(Cell({"cube": cube}, {"cube": Pose.of((0.3, 0.1, EDGE_M / 2))}, {"cube": EDGE_M}))
        context = self.fakes.context
        runner = ArmRunner(
            **{
                item.name: getattr(context, item.name)
                for item in fields(ArmRunner)
                if hasattr(context, item.name)
            }
        )
        leases: Any = {"arm": self.lease}
        self.previews = Previews({"arm": runner}, leases, self.shown.append)

    def gate(self, snapshot: Callable[[], World]) -> Gate:
        """Return an admission that sees these worlds."""
        source, unused, robot = cast(Any, Source(snapshot)), cast(Any, None), self.fakes.context.robot
        runs, previews = self.previews.runs, self.previews
        return Gate(robot, runs, source, lambda: 1.0, str, lambda: None, str, unused, previews)


def test_the_result_of_an_execution_has_its_arm_although_the_plan_is_gone():
    server, unused = Server(), cast(Any, None)
    alone, runs = server.fakes.context.robot, server.previews.runs
    robot = replace(alone, arms={**alone.arms, "other": replace(alone.arms["arm"], name="other")})
    gate = Gate(robot, runs, unused, unused, unused, unused, unused, unused, server.previews)
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


def test_the_frames_of_a_goals_poses_come_into_its_plan():
    server = Server()
    gate = server.gate(server.fakes.context.world.snapshot)
    pose = PoseStamped()
    pose.header.frame_id = "table"
    pose.pose = pose_to_msg(Pose.of((0.1, 0.1, 0.03), Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi)))
    request = gate.typed_binding(Pick(), PickAction).admit(
        PickAction.Goal(object="cube", grasp_poses=[pose], plan_only=True)
    )
    ended = cast(Any, request).body(Token(), lambda _progress: None)
    assert ended.outcome.ok, ended.outcome
    assert ended.plan.before.pose_frames == {"table": TABLE}


def test_a_goal_waits_for_a_pose_that_its_client_received_a_moment_before():
    server, asked = Server(), list[World]()
    seen = server.fakes.context.world.snapshot()

    def snapshot() -> World:
        asked.append(seen if len(asked) > 2 else replace(seen, states={}))
        return asked[-1]

    gate = server.gate(snapshot)
    gate.typed_binding(Pick(), PickAction).admit(PickAction.Goal(object="cube"))
    assert "cube" in asked[-1].states


def test_a_goal_for_an_object_that_nobody_sees_is_refused_in_time():
    server = Server()
    unseen = replace(server.fakes.context.world.snapshot(), states={})
    gate = server.gate(lambda: unseen)
    with pytest.raises(GoalRejected) as caught:
        gate.typed_binding(Pick(), PickAction).admit(PickAction.Goal(object="cube"))
    assert caught.value.outcome.code is Code.STALE_WORLD
    assert caught.value.outcome.field_name == "object"


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
