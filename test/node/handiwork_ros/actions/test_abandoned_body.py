"""A body that returns long after its cancel moves nothing, with the real lease, arm client and action server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from handiwork_msgs.action import Pick
from rclpy.action import ActionClient
from rclpy.node import Node

from handiwork_core.contracts.skill import Stopped, Token
from handiwork_core.model.outcome import Code
from handiwork_ros.actions.admission import AdmissionQueue
from handiwork_ros.actions.arm_lease import ArmLease
from handiwork_ros.actions.skill_action_server import SkillActionServer
from handiwork_ros.actions.skill_binding import SkillBinding
from skill_server.coordination.fence import FencedArm
from support.nodes.ros_stage import wait_for

from .test_clients import Bench, bench, path
from .test_skill_action_server import ToyRun, encode, feedback

__all__ = ["bench"]
LIMIT_S = 60.0


class Server:
    """Object "deaf": the body ignores its token until it is freed, then moves; every other object: it moves at once."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.wake, self.asleep = bench, threading.Event(), threading.Event()
        self.refused: list[str] = []
        self.lease = ArmLease(bench.node, stop_arm=bench.arm.stop, watchdog_s=0.3)
        binding: SkillBinding[ToyRun] = SkillBinding("pick", Pick, self.admit, encode, feedback)
        self.admission = AdmissionQueue(bench.node)
        self.server = SkillActionServer(self.lease, binding, self.admission)
        node = Node("goals", context=bench.stage.context)
        self.client = ActionClient(node, Pick, "pick")
        bench.stage.add(node)
        wait_for(self.client.server_is_ready)

    def admit(self, goal: Any) -> Callable[[Token, Any], ToyRun]:
        def body(token: Token, _report: Any) -> ToyRun:
            arm = FencedArm(self.bench.arm, token)
            if goal.object != "deaf":
                return ToyRun(arm.follow(path(), should_stop=token.is_set))
            self.asleep.set()
            assert self.wake.wait(LIMIT_S)
            for call in (lambda: arm.follow(path(), should_stop=lambda: False), arm.stop):
                try:
                    call()
                except Stopped:
                    self.refused.append("refused")
            raise Stopped

        return body

    def on_executor(self, call: Callable[[], Any]) -> Any:
        futures: list[Any] = []
        self.bench.stage.executor.create_task(lambda: futures.append(call()))
        wait_for(lambda: bool(futures) and futures[0].done(), LIMIT_S)
        return futures[0].result()

    def send(self, what: str) -> Any:
        return self.on_executor(lambda: self.client.send_goal_async(Pick.Goal(object=what)))

    def end(self, handle: Any) -> tuple[int, Code]:
        answer = self.on_executor(handle.get_result_async)
        return answer.status, Code(answer.result.result.outcome.code)


@pytest.fixture
def server(bench: Bench) -> Iterator[Server]:
    made = Server(bench)
    yield made
    made.wake.set()
    closed = threading.Event()
    for call in (made.lease.begin_close, made.admission.close, closed.set):
        made.bench.stage.executor.create_task(call)
    assert closed.wait(LIMIT_S)
    wait_for(lambda: not made.lease.is_busy)
    made.lease.end_close()


def test_a_body_that_wakes_up_in_the_middle_of_the_next_goal_moves_nothing(server: Server) -> None:
    robot = server.bench.robot
    deaf = server.send("deaf")
    assert server.asleep.wait(LIMIT_S)
    server.on_executor(deaf.cancel_goal_async)
    assert server.end(deaf) == (GoalStatus.STATUS_ABORTED, Code.UNRESPONSIVE)
    wait_for(lambda: not server.lease.is_busy)
    robot.endless = True
    following = server.send("next")
    assert robot.started.wait(LIMIT_S)
    assert (robot.moving, robot.moved) == (1, 1)
    server.wake.set()
    wait_for(lambda: len(server.refused) == 2)
    assert (robot.moving, robot.moved) == (1, 1), "the motion of the next goal goes on, and there is no other"
    server.on_executor(following.cancel_goal_async)
    assert server.end(following) == (GoalStatus.STATUS_CANCELED, Code.CANCELED)
    assert robot.moving == 0
