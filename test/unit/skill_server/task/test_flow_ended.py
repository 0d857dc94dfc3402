"""Failures that end a whole task with control flow: no branch takes them up, and no arm waits on."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code, Outcome
from skill_server.execution.run import ExecutionResult
from skill_server.task.model import Entry
from skill_server.task.record import Report
from skill_server.task.run import TaskResult, run_task

from .flow_support import Facts, Robot, read_flow, run_flow, steps
from .test_task_run import LIMIT_S

PICK_EACH = "steps: [{name: pick, object: $x}]"


def test_an_arm_whose_control_node_raises_ends_the_arm_that_waits_for_it_at_a_barrier() -> None:
    each = f"for_each: {{as: x, object_where: on($x), max: 2, {PICK_EACH}}}"
    text = steps(f"{{left: [{{barrier: b}}, {{name: home}}], right: [{{{each}}}, {{barrier: b}}]}}")
    robot, task, token = Robot(), read_flow(text), Token()

    def no_world() -> tuple[str, ...]:
        raise RuntimeError("the world is gone")

    ports, ended = replace(robot.ports(), movable=no_world), list[TaskResult]()
    body = lambda: ended.append(run_task(task, {}, ports, token, lambda _one: None))  # noqa: E731
    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    token.set(Code.CANCELED)
    assert ended[0].outcome.code is Code.INTERNAL and "the world is gone" in ended[0].outcome.message
    assert not robot.log


@pytest.mark.parametrize("node", ["try: [[{ask}], [{home}]]", "retry: {{times: 2, steps: [{home}, {ask}]}}"])
def test_no_alternative_follows_on_a_condition_that_is_unknown(node: str) -> None:
    text = steps(node.format(ask="{condition: on(cube)}", home="{left: [{name: home}]}"))
    robot = Robot(Facts(unknown={"on(cube)"}))
    ended, _ = run_flow(text, robot)
    assert ended.outcome.code is Code.CONDITION_UNKNOWN
    assert len(robot.log) == node.startswith("retry")


def test_no_attempt_follows_when_an_arm_is_lost_while_the_failure_of_another_one_ends_it() -> None:
    text = steps("retry: {times: 2, steps: [{left: [{name: home}], right: [{name: home}]}]}")
    right_began, log = threading.Event(), list[str]()

    def do(entry: Entry, token: Token, _report: Report) -> ExecutionResult:
        log.append(entry.arm)
        if entry.arm == "left_arm":
            assert right_began.wait(LIMIT_S)
            return ExecutionResult(Outcome(Code.NO_IK), (), 1.0, 0.0, 1, 0)
        right_began.set()
        while not token.is_set():
            threading.Event().wait(0.001)
        return ExecutionResult(Outcome(Code.ROBOT_LOST), (), 1.0, 0.0, 1, 0)

    ports = replace(Robot().ports(), do=do)
    ended = run_task(read_flow(text), {}, ports, Token(), lambda _one: None)
    assert ended.outcome.code is Code.ROBOT_LOST
    assert sorted(log) == ["left_arm", "right_arm"]
