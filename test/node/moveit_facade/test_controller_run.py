"""The motions of one controller: the newest goes on when the one before has come to rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_ros.rclpy_support.node_executor import NodeExecutor
from moveit_facade.ros.execution import ControllerRun

END_S = 30.0


@pytest.fixture
def executor() -> Iterator[NodeExecutor]:
    context = rclpy.Context()
    rclpy.init(context=context)
    executor = NodeExecutor(context=context)
    yield executor
    executor.shutdown()
    rclpy.shutdown(context=context)


def slow(token: Token) -> Outcome:
    token.wait(END_S)
    return Outcome(Code.CANCELED, "stopped during the motion")


def spin(executor: NodeExecutor, tasks: list[Any]) -> list[Outcome]:
    end_s = time.monotonic() + END_S
    while not all(task.done() for task in tasks):
        assert time.monotonic() < end_s, "a motion did not end"
        executor.spin_once(timeout_sec=0.02)
    return [task.result() for task in tasks]


def test_each_newer_motion_preempts_the_one_before(executor: NodeExecutor) -> None:
    run = ControllerRun(SimpleNamespace(executor=executor), "arm")  # type: ignore[arg-type]
    first = executor.create_task(run.run, slow, Token())
    while not run.is_busy:
        executor.spin_once(timeout_sec=0.02)
    second = executor.create_task(run.run, slow, Token())
    spin(executor, [first])
    outcomes = spin(executor, [first, second, executor.create_task(run.run, lambda _token: OK, Token())])
    assert sorted(outcome.code.name for outcome in outcomes) == ["OK", "PREEMPTED", "PREEMPTED"]
    assert not run.is_busy


def test_a_stop_ends_the_motion_with_its_cause(executor: NodeExecutor) -> None:
    run = ControllerRun(SimpleNamespace(executor=executor), "arm")  # type: ignore[arg-type]
    task = executor.create_task(run.run, slow, Token())
    stopped = threading.Timer(0.1, lambda: executor.create_task(run.stop, Code.ROBOT_LOST, "silent"))
    stopped.start()
    (outcome,) = spin(executor, [task])
    assert outcome.code is Code.ROBOT_LOST and outcome.message == "silent" and not run.is_busy
