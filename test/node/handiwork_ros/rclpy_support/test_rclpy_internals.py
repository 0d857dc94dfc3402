"""The undocumented parts of rclpy that are used behave as assumed, in the installed version."""

from __future__ import annotations

import re
import threading

import pytest
from action_msgs.srv import CancelGoal
from rclpy.action import ActionClient, ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from std_msgs.msg import Int32
from unique_identifier_msgs.msg import UUID

from control_msgs.action import ParallelGripperCommand
from handiwork_ros.rclpy_support import polling_executor, rclpy_internals
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.node_executor import NodeExecutor
from handiwork_ros.rclpy_support.polling_executor import PollingExecutor, make_busy_executor
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROOT

SRC = ROOT / "src"
PRIVATE = re.compile(
    r"\._(executor_triggered|executor_event|tasks\b.*task\.done|sigint_gc|callback_type|state_machine|client_handle"
    r"|pending_\w+_requests|goal_handles|action_type)|rclpy_implementation|_rclpy\.|\.take_message\("
)


def test_the_installed_version_fits() -> None:
    assert rclpy_internals.faults() == (), "see handiwork_ros/rclpy_support/rclpy_internals.py"


def test_no_other_module_uses_undocumented_parts_of_rclpy() -> None:
    files = [path for path in SRC.rglob("*.py") if path.name != "rclpy_internals.py"]
    assert len(files) > 400
    found = [
        f"{path.relative_to(SRC)}: {hit.group()}"
        for path in files
        if (hit := PRIVATE.search(path.read_text()))
    ]
    assert found == []


def test_what_is_missing_is_named_with_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rclpy_internals, "WaitSet", object)
    monkeypatch.delattr(rclpy_internals.Executor, "_make_handler")
    rclpy_internals.faults.cache_clear()
    found = rclpy_internals.faults()
    rclpy_internals.faults.cache_clear()
    assert len(found) == 3
    assert all(rclpy_internals.version() in text for text in found)
    assert any("_make_handler" in text for text in found)


def test_an_rclpy_that_does_not_fit_gets_its_own_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    with stage() as made:
        fits = make_busy_executor(context=made.context)
        monkeypatch.setattr(polling_executor.internals, "faults", lambda: ("planted",))
        falls_back = make_busy_executor(context=made.context)
        assert (type(fits), type(falls_back)) == (PollingExecutor, NodeExecutor)
        fits.shutdown()
        falls_back.shutdown()


def test_tasks_guards_and_shutdown_of_an_executor() -> None:
    with stage() as made:
        executor = SingleThreadedExecutor(context=made.context)
        assert not rclpy_internals.pending_tasks(executor)
        executor.create_task(lambda: None)
        assert rclpy_internals.pending_tasks(executor)
        executor.spin_once(timeout_sec=1.0)
        wait_for(lambda: executor.spin_once(timeout_sec=0.1) or not rclpy_internals.pending_tasks(executor))
        guard, signal = rclpy_internals.wakers(executor)
        assert hasattr(guard, "trigger") and hasattr(signal, "handle")
        with rclpy_internals.waking_late(executor, lambda: True):
            assert rclpy_internals.wakers(executor)[0] is not guard
        assert rclpy_internals.wakers(executor)[0] is guard
        assert not rclpy_internals.is_shut_down(executor)
        executor.shutdown()
        assert rclpy_internals.is_shut_down(executor)


def test_a_guard_that_is_noted_is_served_by_the_next_full_wait() -> None:
    with stage() as made:
        node, executor, served = Node("guarded", context=made.context), None, threading.Event()
        guard = node.create_guard_condition(served.set)
        rclpy_internals.note_triggered(guard)
        assert rclpy_internals.is_triggered(guard)
        executor = SingleThreadedExecutor(context=made.context)
        executor.add_node(node)
        wait_for(lambda: executor.spin_once(timeout_sec=0.1) or served.is_set())
        assert not rclpy_internals.is_triggered(guard)
        executor.shutdown()
        destroy_with_actions(node)


def test_messages_are_taken_and_callbacks_distinguished() -> None:
    with stage() as made:
        node = Node("taker", context=made.context)
        alone = node.create_subscription(Int32, "number", lambda _message: None, 10)
        both = node.create_subscription(Int32, "other", lambda _message, _info: None, 10)
        assert rclpy_internals.takes_message_only(alone) and not rclpy_internals.takes_message_only(both)
        publisher = node.create_publisher(Int32, "number", 10)
        wait_for(lambda: publisher.get_subscription_count() > 0)
        assert rclpy_internals.take(alone) is None
        publisher.publish(Int32(data=7))
        wait_for(lambda: (found := rclpy_internals.take(alone)) is not None and found[0].data == 7)
        destroy_with_actions(node)


def test_the_services_of_a_life_cycle_are_freed() -> None:
    with stage() as made:
        node = LifecycleNode("cycle", context=made.context)
        machine = node._state_machine
        rclpy_internals.destroy_life_cycle(node)
        with pytest.raises(rclpy_internals.InvalidHandle), machine:
            pass
        node.destroy_node()


def test_a_goal_is_cancelled_by_its_id_without_an_answer() -> None:
    with stage() as made:
        node, answers = Node("canceller", context=made.context), list[int]()
        server = ActionServer(node, ParallelGripperCommand, "grip", lambda _handle: None)
        client = ActionClient(node, ParallelGripperCommand, "grip")
        made.add(node)
        wait_for(client.server_is_ready)
        handle = rclpy_internals.goal_handle(client, UUID(uuid=list(range(16))))

        def ask() -> None:
            handle.cancel_goal_async().add_done_callback(lambda f: answers.append(f.result().return_code))

        made.executor.create_task(ask)
        wait_for(lambda: bool(answers))
        assert answers == [CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID]
        assert server is not None
