"""The whole stack as one object: start it, wait for it, call it, end it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from handiwork_cli.launch_files.evaluation import plan_processes
from handiwork_cli.launch_files.model import node_names
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.process_runner import ProcessRunner
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.process.domain import (
    DOMAIN,
    DomainError,
    lease_domain,
    lease_nodes,
)

NODES = ("robot_description", "sim_bridge", "planner_node", "skill_server", "conditionals_node")
SIMULATORS = {"isaac": ("isaac_bridge",), "isaac_stand_in": ("sim_bridge", "isaac_bridge")}
"""Backend -> the nodes in place of sim_bridge."""

ANSWER_S = 40.0
"""The longest wait for a service and its response, s."""


def nodes_of(backend: str) -> tuple[str, ...]:
    """Return the names of the nodes of a backend's stack.

    Args:
        backend: Name of the backend.
    """
    first, _, *others = NODES
    return (first, *SIMULATORS.get(backend, ("sim_bridge",)), *others)


class StackError(RuntimeError):
    """The stack did not start, or does not answer."""


class Stack:
    """``with Stack(...) as stack``: the processes of ``bringup.launch.xml`` in a DDS domain of their own, and a client.

    Args:
        arguments: Launch arguments.
        write: Receives the output lines of the processes.
    """

    def __init__(self, arguments: Mapping[str, str], *, write: Callable[[str], None] = print) -> None:
        self._arguments, self._write = dict(arguments), write
        self.nodes = nodes_of(self._arguments.get("backend", "mujoco"))

    def __enter__(self) -> Stack:
        self._asked = os.environ.get(DOMAIN)
        path = share_of("handiwork_bringup") / "launch/bringup.launch.xml"
        self.specs = plan_processes(path, self._arguments)
        self._lease = lease_domain()
        try:
            self._names = lease_nodes(self._lease.domain_id, node_names(self.specs))
        except DomainError:
            self._lease.close()
            raise
        os.environ.update(with_ros_defaults({**os.environ, DOMAIN: str(self._lease.domain_id)}))
        self.runner = ProcessRunner(self.specs, write=self._write)
        # Children die with the thread that started them, so one thread lives as long as they do.
        self._thread = threading.Thread(target=self.runner.run, name="processes", daemon=True)
        self._thread.start()
        from handiwork_ros.clients.skill_client import SkillClient
        from handiwork_ros.rclpy_support.service_call import ServiceClients

        self.client = SkillClient(
            node_name="handiwork_command", namespace=self._arguments.get("namespace", "")
        )
        self._services = ServiceClients(self.client.node)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        self.runner.request_stop()
        self._thread.join()
        self._names.close()
        self._lease.close()
        # Otherwise the next stack of this process would read the domain as the user's choice, and lease nothing.
        if self._asked is None:
            os.environ.pop(DOMAIN, None)

    def wait_active(self, timeout_s: float = 300.0) -> float:
        """Wait until all nodes are active. A node that compiles kernels on a busy machine may take many minutes.

        Args:
            timeout_s: Longest time without progress of any node, s.

        Returns:
            Time that this took, s.

        Raises:
            StackError: A required process ended, or the time is over; the message names the nodes that are missing.
        """
        begin_s = progress_s = time.monotonic()
        before = self._progress()
        while True:
            missing = [name for name in self.nodes if not self.client.signs.is_active(name)]
            now_s = time.monotonic()
            waited_s = now_s - begin_s
            if (progress := self._progress()) != before:
                before, progress_s = progress, now_s
            if not missing and self.client.wait_ready(5.0):
                return waited_s
            if not self._thread.is_alive():
                raise StackError("the stack ended while it started; the lines above say why")
            if now_s - progress_s > timeout_s:
                names = ", ".join(missing)
                text = (
                    f"not active after {waited_s:.0f} s, the last {timeout_s:.0f} s without progress: {names}"
                )
                raise StackError(f"{text}; see the lines above")
            time.sleep(0.05)  # noqa: TID251 - polls services

    def _progress(self) -> list[tuple[int, str] | None]:
        """Return state and status text of each node as last received."""
        signs = [self.client.signs.sign(name) for name in self.nodes]
        return [None if sign is None else (sign.state, sign.message) for sign in signs]

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service and wait for its response.

        Args:
            kind: Type of the service.
            name: Name of the service.
            request: The request.

        Returns:
            The response.

        Raises:
            StackError: There was no response in time.
        """
        from handiwork_ros.rclpy_support.service_call import NoAnswer

        answer = self._services.call(kind, name, request, ANSWER_S)
        if isinstance(answer, NoAnswer):
            raise StackError(f"service {name} gave no answer in {ANSWER_S:.0f} s; see the lines above")
        return answer

    def settled(self, name: str, arguments: str, timeout_s: float) -> tuple[bool, str]:
        """Ask the monitor until a condition is TRUE or the time is over.

        Args:
            name: Name of the predicate.
            arguments: Its arguments as YAML.
            timeout_s: Longest wait, s.

        Returns:
            Whether the condition is TRUE, and the monitor's reason.

        Raises:
            StackError: The monitor did not answer.
        """
        from handiwork_msgs.msg import Condition
        from handiwork_msgs.srv import EvaluateCondition

        from handiwork_ros.conversions import outcome_from_msg

        end_s = time.monotonic() + timeout_s
        while True:
            request = EvaluateCondition.Request(name=name, args=arguments)
            answer = self.call(EvaluateCondition, "conditions/evaluate", request)
            outcome = outcome_from_msg(answer.outcome)
            if outcome.ok and answer.condition.value == Condition.TRUE:
                return True, answer.condition.reason
            if time.monotonic() > end_s:
                return False, answer.condition.reason or outcome.message
            time.sleep(0.1)  # noqa: TID251 - asks again
