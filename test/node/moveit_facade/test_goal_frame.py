"""The frame of move_group's actions: how goals end, with the real action server and client."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient

pytest.importorskip("moveit_msgs", reason="the interfaces of MoveIt are not built: run `make setup-moveit`")

from control_msgs.action import GripperCommand
from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.service_call import on_executor
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.ros.actions.goal_frame import GoalFrame

NAME, END_S = "frame_test", 60.0


class Server:
    """An action whose goals wait for their token, and end as the test says."""

    def __init__(self, node: Any) -> None:
        self.error: RequestError | None = None
        self.begun, self.tokens, self.reasons = threading.Event(), list[Token](), list[RequestError]()
        managed = SimpleNamespace(is_active=True, state="ACTIVE", get_logger=node.get_logger)
        self.frame = GoalFrame(managed, node)  # type: ignore[arg-type]
        self.frame.serve(GripperCommand, NAME, self._body, lambda _result, error: self.reasons.append(error))
        self.client = ActionClient(node, GripperCommand, NAME)
        self._node, self.is_long = node, True

    async def _body(self, _handle: Any, token: Token, _result: Any) -> None:
        self.tokens.append(token)
        self.begun.set()
        if self.is_long:
            stopped = rclpy.task.Future()
            executor = self._node.executor
            threading.Thread(
                target=lambda: (token.wait(END_S), executor.create_task(stopped.set_result, None)),
                daemon=True,
            ).start()
            await stopped
        if self.error is not None:
            raise self.error

    def call(self, begin: Any) -> Any:
        done, found = threading.Event(), list[Any]()
        on_executor(
            self._node,
            lambda: begin().add_done_callback(lambda future: (found.append(future.result()), done.set())),
        )
        assert done.wait(END_S)
        return found[0]

    def send(self) -> Any:
        assert self.client.wait_for_server(END_S)
        handle = self.call(lambda: self.client.send_goal_async(GripperCommand.Goal()))
        assert handle.accepted and self.begun.wait(END_S)
        return handle


@pytest.fixture
def server() -> Iterator[Server]:
    background = BackgroundNode("frame_test_node")
    made = Server(background.node)
    background.start()
    yield made
    background.stop()
    background.destroy()


ENDS = {
    "stopped": (RequestError(ErrorCode.PREEMPTED, "at rest"), GoalStatus.STATUS_CANCELED),
    "another failure after the cancel": (
        RequestError(ErrorCode.CONTROL_FAILED, "the gripper did not end"),
        GoalStatus.STATUS_ABORTED,
    ),
    "reached although canceled": (None, GoalStatus.STATUS_SUCCEEDED),
}


@pytest.mark.parametrize(("error", "status"), ENDS.values(), ids=ENDS.keys())
def test_the_end_of_a_goal_that_its_client_canceled(
    server: Server, error: RequestError | None, status: int
) -> None:
    server.error = error
    handle = server.send()
    server.call(handle.cancel_goal_async)
    assert server.call(handle.get_result_async).status == status
    assert server.tokens[0].reason is Code.CANCELED
    assert server.reasons == [error] * (error is not None) and not server.frame.is_busy


def test_a_stop_of_all_is_no_cancel(server: Server) -> None:
    server.error = RequestError(ErrorCode.PREEMPTED, "stopped")
    handle = server.send()
    assert server.frame.is_busy
    server.frame.stop_all(Code.SHUTDOWN, "it ends")
    assert server.call(handle.get_result_async).status == GoalStatus.STATUS_ABORTED
    assert server.tokens[0].reason is Code.SHUTDOWN


def test_an_exception_becomes_a_crash_with_a_sentence(server: Server) -> None:
    server.is_long = False
    server.error = ValueError("a fault")  # type: ignore[assignment]
    handle = server.send()
    assert server.call(handle.get_result_async).status == GoalStatus.STATUS_ABORTED
    assert server.reasons[0].value is ErrorCode.CRASH and "a fault" in server.reasons[0].outcome.message
