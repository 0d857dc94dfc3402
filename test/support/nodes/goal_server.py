"""A skill server in a process of its own that takes only picks: tests stop it, kill it and block it.

Each printed line is an event: ``ready``, ``running``, ``blocked``, ``canceled``, ``succeeded``.
"""

from __future__ import annotations

import argparse
import sys
import threading
from typing import Any

import rclpy
from handiwork_msgs.action import Pick
from handiwork_msgs.msg import NodeStatus
from rclpy.action import ActionServer, CancelResponse
from rclpy.executors import SingleThreadedExecutor

from handiwork_core.model.outcome import Code
from handiwork_ros.liveness.bond_topic import StatusWriter

NAME = "skill_server"
STATUS_PERIOD_S = 0.4


class GoalServer:
    """Ends a pick as OK after ``goal_s`` of its own running time, or as canceled."""

    def __init__(self, goal_s: float, block_s: float) -> None:
        self.node = rclpy.create_node(NAME)
        self._goal_s, self._block_s = goal_s, block_s
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._writer = StatusWriter(self.node, NAME)
        self._server = ActionServer(
            self.node, Pick, "pick", self._execute, cancel_callback=lambda _handle: CancelResponse.ACCEPT
        )
        self._handle: Any = None
        self._end: Any = None
        self._ran_s = 0.0
        self.node.create_timer(STATUS_PERIOD_S, self._beat)
        self.node.create_timer(0.05, self._work)

    def spin(self) -> None:
        """Spin until the process is killed."""
        show("ready")
        while rclpy.ok():
            self._executor.spin_once()

    def _beat(self) -> None:
        self._writer.publish(NodeStatus(node=NAME, state=NodeStatus.ACTIVE))

    def _work(self) -> None:
        if self._handle is None:
            return
        if self._block_s > 0.0 and self._ran_s > 0.5:
            show("blocked")
            threading.Event().wait(self._block_s)  # a long computation blocks an executor in the same way
            self._block_s = 0.0
        self._ran_s += 0.05
        if self._handle.is_cancel_requested or self._ran_s >= self._goal_s:
            handle, self._handle = self._handle, None
            self._end.set_result(handle.is_cancel_requested)

    async def _execute(self, handle: Any) -> Pick.Result:
        self._handle, self._end, self._ran_s = handle, rclpy.task.Future(executor=self._executor), 0.0
        show("running")
        is_canceled = await self._end
        result = Pick.Result()
        result.result.outcome.code = int(Code.CANCELED if is_canceled else Code.OK)
        handle.canceled() if is_canceled else handle.succeed()
        show("canceled" if is_canceled else "succeeded")
        return result


def show(event: str) -> None:
    """Print an event at once."""
    sys.stdout.write(f"{event}\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until killed, or until the standard input is closed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--goal-s", type=float, default=1e9)
    parser.add_argument("--block-s", type=float, default=0.0)
    options = parser.parse_args()
    rclpy.init()
    GoalServer(options.goal_s, options.block_s).spin()


if __name__ == "__main__":
    threading.current_thread().name = NAME
    main()
