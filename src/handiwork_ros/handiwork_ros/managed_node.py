"""The lifecycle node that every Handiwork node is: it loads in its own thread, shows its state, ends in order."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

from handiwork_msgs.msg import NodeStatus
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.lifecycle import Node as LifecycleNode
from rclpy.node import Node

from handiwork_core.config import ConfigError
from handiwork_core.planning import Report

from .guards import guard
from .qos import STATUS

V = TypeVar("V", bool, int, float, str)
M = TypeVar("M")

STATUS_TOPIC = "handiwork/status"
STATUS_PERIOD_S = 0.4


class ManagedNode(LifecycleNode):
    """Subclasses fill the ``on_*`` hooks; ``spinning.run`` makes the process.

    ``on_load`` runs in a worker thread while the executor spins, so it may take long and may wait for
    messages; until it has returned the status is CONFIGURING and activation is refused. All other hooks run
    on the executor's thread.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.closing = threading.Event()
        """Set at shutdown: long work and waits end when they see it."""
        self.exit_code: int | None = None
        """Set when the process must end."""
        self.extra_nodes: list[Node] = []
        """Nodes that are spun and destroyed with this one; see ``action_host.py``."""
        self._lock = threading.Lock()
        self._status = NodeStatus(node=name, state=NodeStatus.UNCONFIGURED, pid=os.getpid())
        self._loader: threading.Thread | None = None
        self._autostart = self.parameter(
            "autostart", True, "configure and activate at start, without a lifecycle manager"
        )
        self._status_pub = self.create_publisher(NodeStatus, STATUS_TOPIC, STATUS)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._beat = self.create_timer(STATUS_PERIOD_S, guard(self, self.publish_status), clock=steady)
        self._first = self.create_timer(0.0, guard(self, self._start), clock=steady)

    def on_load(self, report: Report) -> None:
        """Read, load, warm up; call ``report(fraction, text)``; watch ``self.closing``. ConfigError: bad input."""

    def on_start(self) -> None:
        """Begin to serve."""

    def on_stop(self) -> None:
        """Stop serving: refuse what comes, end what runs. Must not wait."""

    def on_close(self) -> None:
        """Free what ``on_load`` took, join threads."""

    def is_idle(self) -> bool:
        """True once nothing runs any more; shutdown spins until then, for 2 s at most."""
        return True

    def parameter(self, name: str, default: V, description: str) -> V:
        """Declare a read-once parameter and return its value; a whole number is taken for a float.

        Raises:
            ConfigError: the value given has another type.
        """
        descriptor = ParameterDescriptor(description=description, dynamic_typing=True, read_only=True)
        value = self.declare_parameter(name, default, descriptor).value
        kind: type[Any] = type(default)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ConfigError(
                f"node {self.get_name()}", [f"parameter {name}: is {value!r}; give a {kind.__name__}"]
            )
        return cast(V, value)

    def on_executor(self, make: Callable[[], M]) -> M:
        """Run ``make`` on the executor's thread, return its value: how ``on_load`` creates subscriptions and clients.

        Raises:
            RuntimeError: the node closes meanwhile, or is in no executor. What ``make`` raises is raised here.
        """
        done: list[Callable[[], M]] = []
        ready = threading.Event()

        def job() -> None:
            try:
                value = make()
                done.append(lambda: value)
            except Exception as error:  # noqa: BLE001  # handed on to the waiting thread
                failure = error
                done.append(lambda: _raise(failure))
            ready.set()

        executor = self.executor
        if executor is None:
            raise RuntimeError(f"node {self.get_name()!r} is in no executor")
        executor.create_task(job)
        while not ready.wait(0.05):
            if self.closing.is_set():
                raise RuntimeError("the node is closing")
        return done[0]()

    @property
    def is_active(self) -> bool:
        """True while the node serves."""
        return bool(self._status.state == NodeStatus.ACTIVE)

    @property
    def is_loaded(self) -> bool:
        """True once ``on_load`` has returned."""
        return self._status.state in (NodeStatus.INACTIVE, NodeStatus.ACTIVE)

    def set_status(self, state: int, message: str = "", progress: float = 1.0) -> None:
        """Set what is shown from now on; from any thread."""
        with self._lock:
            self._status.state, self._status.message, self._status.progress = state, message, float(progress)

    def publish_status(self) -> None:
        """Show the state now, in addition to the steady beat."""
        with self._lock:
            self._status_pub.publish(self._status)

    def begin_shutdown(self) -> None:
        """Refuse new work and end what runs. On the executor's thread."""
        self.closing.set()
        was_active = self.is_active
        state = NodeStatus.FAULTY if self._status.state == NodeStatus.FAULTY else NodeStatus.SHUTTING_DOWN
        self.set_status(state, self._status.message)
        if was_active:
            guard(self, self.on_stop)()
        self.publish_status()

    def end_shutdown(self, timeout_s: float = 2.0) -> None:
        """Join the loader, which watches ``closing``, and free what was taken."""
        if self._loader is not None:
            self._loader.join(timeout_s)
        guard(self, self.on_close)()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to load; see the class."""
        self.set_status(NodeStatus.CONFIGURING, "loading", 0.0)
        self._loader = threading.Thread(target=self._load, name=f"{self.get_name()}-load", daemon=True)
        self._loader.start()
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to serve; refused while loading."""
        if not self.is_loaded:
            self.get_logger().error(
                f"cannot activate: still loading; activate once {STATUS_TOPIC} says INACTIVE"
            )
            return TransitionCallbackReturn.FAILURE
        try:
            self.on_start()
        except Exception as error:  # noqa: BLE001 - the border to the subclass
            self._fail(error)
            return TransitionCallbackReturn.FAILURE
        self.set_status(NodeStatus.ACTIVE)
        self.publish_status()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop serving."""
        self.set_status(NodeStatus.INACTIVE)
        guard(self, self.on_stop)()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Free what was loaded."""
        guard(self, self.on_close)()
        self.set_status(NodeStatus.UNCONFIGURED, progress=0.0)
        return super().on_cleanup(state)

    def _start(self) -> None:
        self._first.cancel()
        if self._autostart:
            self.trigger_configure()

    def _load(self) -> None:
        """In the loader thread. The executor alone finishes the transition."""
        try:
            self.on_load(self._report)
        except Exception as error:  # noqa: BLE001 - the border to the subclass
            self._fail(error)
            return
        executor = self.executor
        if executor is not None and not self.closing.is_set():
            executor.create_task(guard(self, self._loaded))

    def _loaded(self) -> None:
        self.set_status(NodeStatus.INACTIVE)
        if self._autostart:
            self.trigger_activate()

    def _report(self, fraction: float, text: str) -> None:
        if text != self._status.message:
            self.get_logger().info(f"{100.0 * fraction:.0f} %: {text}")
        self.set_status(NodeStatus.CONFIGURING, text, fraction)

    def _fail(self, error: Exception) -> None:
        """One sentence for what a person can mend, a traceback for what is our own fault."""
        if self.closing.is_set():
            return
        expected = isinstance(error, ConfigError)
        self.set_status(NodeStatus.FAULTY, str(error), self._status.progress)
        self.get_logger().fatal(str(error) if expected else traceback.format_exc())
        self.exit_code = 2 if expected else 1


def _raise(error: Exception) -> NoReturn:
    raise error
