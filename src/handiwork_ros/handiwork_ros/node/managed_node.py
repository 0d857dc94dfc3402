"""The base class of every Handiwork node: it loads in its own thread, publishes its state, and shuts down in order."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import Any, ClassVar, NoReturn, TypeVar, cast

from lifecycle_msgs.msg import Transition
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.model.diagnostics import Diagnosis, Level
from handiwork_ros.liveness.bond_topic import STATUS_TOPIC, StatusWriter
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.relative_clock import clock_arguments
from handiwork_ros.rclpy_support.safe_callbacks import guard
from handiwork_ros.rclpy_support.silence_limits import SchedulingDelay, silence_limit_s

from .diagnostics import DiagnosticsPublisher
from .lifecycle import SHUTDOWNS, AsyncLifecycleNode
from .node_status import status_message
from .succession import Succession, received_succession
from .unique_name import UniqueName

V = TypeVar("V", bool, int, float, str)
M = TypeVar("M")

__all__ = ["STATUS_PERIOD_S", "STATUS_TOPIC", "ManagedNode", "destroyed_if_refused"]

STATUS_PERIOD_S = 0.4
"""The period of the status, s of steady time."""
REST_LIMIT_S = 10.0
"""The longest wait of a transition until running work has ended and the arm is at rest, s of steady time."""

_CREATED: ContextVar[list[ManagedNode] | None] = ContextVar("created_managed_nodes", default=None)


@contextlib.contextmanager
def destroyed_if_refused() -> Iterator[None]:
    """Destroy the managed nodes that are created in this context when it ends by an exception, such as a ConfigError.

    Left to a garbage collection, the participant of a half-made node is destroyed within the shutdown of rclpy, and
    may block it.

    Yields:
        Nothing.
    """
    created: list[ManagedNode] = []
    token = _CREATED.set(created)
    try:
        yield
    except BaseException:
        for node in created:
            node.destroy_all()
        raise
    finally:
        _CREATED.reset(token)


class ManagedNode(AsyncLifecycleNode):
    """A lifecycle node whose subclasses implement the ``on_*`` hooks; ``main.run`` makes the process.

    ``on_load``, ``on_prepare`` and ``on_close`` run in a separate thread while the executor spins, so they may take
    long; the others run on the executor's thread. ``configure`` ends when ``on_load`` has returned, ``activate`` when
    ``on_prepare`` and ``on_start`` have, ``deactivate`` when ``is_idle`` is true after ``on_stop``. A fault in a
    transition that a lifecycle manager requested leaves the node in the state that the design defines; a fault while it
    starts by itself (``autostart``) ends the process.

    Args:
        name: Name of the node.
        options: Options of ``rclpy.node.Node``.
    """

    def __init__(self, name: str, **options: Any) -> None:
        options.setdefault("cli_args", clock_arguments())
        self.received = received_succession()
        """The succession from the node before in the process; None for a node without a process of its own."""
        if self.received is not None:
            given = options.get("parameter_overrides") or ()
            options["parameter_overrides"] = [*given, *self.received.overrides()]
        super().__init__(name, **options)
        self.successor: Succession | None = None
        """The succession of the next node of the process; once it is set, this node ends and the next one begins."""
        self._live: list[str] = []
        self.closing = threading.Event()
        """Set when the node shuts down: long work and waits check it, and end."""
        self.exit_code: int | None = None
        """The exit code of the process, which ends once it is set; None before."""
        self.extra_nodes: list[Node] = []
        """Nodes that are spun and destroyed with this one; see ``node/wall_time_node.py``."""
        if (created := _CREATED.get()) is not None:
            created.append(self)
        self.status_text = ""
        """The text of the status: the current step of loading, or the newest fault."""
        self.on_turn: Callable[[], None] = lambda: None
        """Called on the executor's thread with every status: a sign that the executor runs."""
        self.on_state: Callable[[], None] = lambda: None
        """Called on the executor's thread after each transition, in the new state."""
        self._load_progress, self._fault_code = 0.0, 0
        self._loading, self._last_close = threading.Lock(), threading.Lock()
        self._autostart = self.parameter(
            "autostart", True, "configure and activate at start, without a lifecycle manager"
        )
        text = "ends the process when its executor has not run for this long [s]; 0: never, as for a debugger"
        self.watchdog_s = self.parameter("watchdog_s", 10.0, text)
        self._delay = SchedulingDelay(STATUS_PERIOD_S, time.monotonic())
        self._is_sole = False
        self._status_writer = StatusWriter(self, self.get_name())
        self._unique_name = UniqueName(self, self._status_writer, self._leave)
        self._unique_name.require(self.publish_status)
        self._is_sole = True
        self.diagnostics = DiagnosticsPublisher(self, lambda: self._delay.greatest_s(time.monotonic()))
        """The publisher of ``/diagnostics``; parts of the node add sources."""
        self.diagnostics.add("state", self._state_diagnosis)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        # A service handler that waits keeps the default group busy, and the status must go on.
        self._beat = self.create_timer(
            STATUS_PERIOD_S, guard(self, self._on_status_timer), ReentrantCallbackGroup(), steady
        )
        self._first = self.create_timer(0.0, guard(self, self._begin), clock=steady)

    def on_load(self, report: Report) -> None:
        """Read files, load models, warm up.

        It must not wait for other nodes: a lifecycle manager configures all before it activates the first. Long work
        checks ``self.closing``.

        Args:
            report: Called with the progress, 0 to 1, and a text.

        Raises:
            ConfigError: The input is bad.
        """

    def on_prepare(self, report: Report) -> None:
        """Wait for the topics and services of other active nodes; called before each ``on_start``.

        Args:
            report: See ``on_load``.

        Raises:
            ConfigError: See ``on_load``.
        """

    def on_start(self) -> None:
        """Begin to serve."""

    def on_stop(self) -> None:
        """Stop serving: refuse new requests and end running work. It must not wait."""

    def on_close(self) -> None:
        """Release the resources that ``on_load`` acquired, and join threads; called even if ``on_load`` failed."""

    def is_idle(self) -> bool:
        """Check whether all work has ended and the arm is at rest."""
        return True

    def destroy_all(self) -> None:
        """Destroy the extra nodes and this one, which no executor spins any more."""
        for extra in self.extra_nodes:
            destroy_with_actions(extra)
        destroy_with_actions(self)
        self._unique_name.release()

    def exchange_refusal(self) -> str:
        """Return why the robot cannot be exchanged now, such as an object in its hand; empty when it can."""
        return ""

    def kept(self) -> object:
        """Return what the next node of the process inherits when the robot is exchanged."""
        return None

    def parameter(self, name: str, default: V, description: str, *, is_live: bool = False) -> V:
        """Declare a parameter and return its value.

        Args:
            name: Name of the parameter.
            default: Its default, which also defines its type; for a float a whole number is taken, too.
            description: Its description.
            is_live: It may be set while the node runs; the node adds a callback for that. Others are read-only.

        Raises:
            ConfigError: The value has another type.
        """
        if is_live:
            self._live.append(name)
        descriptor = ParameterDescriptor(description=description, dynamic_typing=True, read_only=not is_live)
        value = self.declare_parameter(name, default, descriptor).value
        kind: type[Any] = type(default)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ConfigError(
                f"node {self.get_name()}", [f"parameter {name}: is {value!r}; give a {kind.__name__}"]
            )
        return cast(V, value)

    def live_values(self) -> dict[str, Any]:
        """Return the values of the parameters that may be set while the node runs, by name."""
        return {name: self.get_parameter(name).value for name in self._live}

    def on_executor(self, make: Callable[[], M]) -> M:
        """Run a function on the executor's thread and return its value.

        ``on_load`` makes subscriptions and clients with it.

        Args:
            make: The function; its exceptions are raised here.

        Returns:
            The return value of ``make``.

        Raises:
            RuntimeError: The node closes meanwhile, or is in no executor.
        """
        done: list[Callable[[], M]] = []
        ready = threading.Event()

        def job() -> None:
            try:
                value = make()
                done.append(lambda: value)
            except Exception as error:  # noqa: BLE001  # raised in the waiting thread
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

    def silence_limit_s(self, base_s: float) -> float:
        """Return the longest accepted silence of a stream, s, which grows with the delay of this node's executor.

        Args:
            base_s: The limit on a machine without delay, s.
        """
        return silence_limit_s(base_s, self._delay.greatest_s(time.monotonic()))

    @property
    def is_active(self) -> bool:
        """True while the node is in the state active."""
        return self.state == "active"

    def publish_status(self) -> None:
        """Publish the status now, in addition to the periodic messages."""
        is_faulty = bool(self.exit_code and self._fault_code)
        text = "; ".join(words for words in (self.status_text, self._unique_name.warning) if words)
        status = status_message(self.get_name(), self.state, text, self._load_progress, is_faulty=is_faulty)
        status.is_sole, status.sole_for = self._is_sole, self._unique_name.sole_for_s
        status.scheduling_delay = self._delay.greatest_s(time.monotonic())
        self._status_writer.publish(status)

    def begin_shutdown(self) -> None:
        """Begin the end of the process: refuse new work and end running work. On the executor's thread."""
        was_active = self.is_active
        self.closing.set()
        if shutdown := next(filter(self.offers, SHUTDOWNS), None):
            self.trigger(shutdown)
        if was_active:
            guard(self, self.on_stop)()
        self.publish_status()

    def end_shutdown(self, timeout_s: float = 2.0) -> None:
        """Wait for the thread that loads or closes, which checks ``closing``, and release all resources.

        Args:
            timeout_s: Longest wait for the thread, s.
        """
        is_alone = self._loading.acquire(timeout=timeout_s)
        try:
            guard(self, self._close_for_good)()
        finally:
            if is_alone:
                self._loading.release()
        if self.state == "shuttingdown":
            self.trigger(TransitionCallbackReturn.SUCCESS.to_label())

    async def run_transition(self, state: str) -> TransitionCallbackReturn:
        """Do the work of a transition state; see the base."""
        if state in ("configuring", "activating"):
            self.status_text, self._load_progress = "", 0.0
        self.publish_status()
        fault = await self._transitions[state](self)
        if fault is None:
            if state != "errorprocessing":
                self.status_text, self._load_progress = "", 1.0
            return TransitionCallbackReturn.SUCCESS
        self._note(fault)
        is_expected = isinstance(fault, ConfigError)
        return TransitionCallbackReturn.FAILURE if is_expected else TransitionCallbackReturn.ERROR

    async def change_state(self, transition: int) -> bool:
        """Run a transition to its end, and publish the new state at once; see the base."""
        has_succeeded = await super().change_state(transition)
        self.on_state()
        self.publish_status()
        return has_succeeded

    async def _configure(self) -> Exception | None:
        fault = await self.in_thread(f"{self.get_name()}-load", lambda: self._work(self.on_load))
        fault = fault or self._ended_meanwhile()
        if isinstance(fault, ConfigError):  # after any other error errorprocessing closes
            return await self._close() or fault
        return fault

    async def _activate(self) -> Exception | None:
        fault = await self.in_thread(f"{self.get_name()}-prepare", lambda: self._work(self.on_prepare))
        return fault or self._ended_meanwhile() or _error_of(self.on_start)

    async def _deactivate(self) -> Exception | None:
        fault = _error_of(self.on_stop)
        if await self.wait_until(self.is_idle, REST_LIMIT_S):
            return fault
        return RuntimeError(f"running work has not ended {REST_LIMIT_S:g} s after the request to stop")

    async def _close(self) -> Exception | None:
        return await self.in_thread(f"{self.get_name()}-close", self._close_unless_ended)

    async def _shut_down(self) -> Exception | None:
        self.closing.set()
        guard(self, self.on_stop)()
        await self.wait_until(self.is_idle, REST_LIMIT_S)
        return await self.in_thread(f"{self.get_name()}-close", self._close_last)

    async def _recover(self) -> Exception | None:
        """End the work that an error left running, so that the node can be configured again."""
        guard(self, self.on_stop)()
        await self.wait_until(self.is_idle, REST_LIMIT_S)
        return await self._close()

    _transitions: ClassVar[dict[str, Callable[[Any], Awaitable[Exception | None]]]] = {
        "configuring": _configure,
        "activating": _activate,
        "deactivating": _deactivate,
        "cleaningup": _close,
        "shuttingdown": _shut_down,
        "errorprocessing": _recover,
    }

    def _leave(self, fault: ConfigError) -> None:
        """End the process: another node has the name."""
        self._note(fault)
        self.exit_code = self._fault_code

    def _state_diagnosis(self) -> list[Diagnosis]:
        level = {"active": Level.OK, "errorprocessing": Level.ERROR}.get(self.state, Level.WARN)
        text = "; ".join(words for words in (self.status_text, self._unique_name.warning) if words)
        is_faulty = bool(self._fault_code) or bool(self._unique_name.warning)
        level = Level.ERROR if is_faulty else level
        return [Diagnosis("state", level, text or f"the node is {self.state}", {"state": self.state})]

    def _on_status_timer(self) -> None:
        self._delay.tick(time.monotonic())
        self.publish_status()
        self.on_turn()

    def _begin(self) -> None:
        self._first.cancel()
        if self._autostart and self.executor is not None:
            self.executor.create_task(self._start)

    async def _start(self) -> None:
        for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
            # A lifecycle manager may have requested the same transition already, or a shutdown.
            if not self.offers(transition) or self.closing.is_set():
                return
            if not await self.change_state(transition):
                self.exit_code = None if self.closing.is_set() else self._fault_code
                return

    def _work(self, hook: Callable[[Report], None]) -> None:
        with self._loading:
            if not self.closing.is_set():  # the process may have ended before this thread began
                hook(self._report)

    def _ended_meanwhile(self) -> ConfigError | None:
        if self.closing.is_set():
            return ConfigError(f"node {self.get_name()}", ["was ended while it started"])
        return None

    def _close_unless_ended(self) -> None:
        """Run ``on_close``, alone; the end of the process may have done so meanwhile."""
        with self._loading:
            if not self._last_close.locked():
                self.on_close()

    def _close_last(self) -> None:
        with self._loading:
            self._close_for_good()

    def _close_for_good(self) -> None:
        """Run ``on_close`` for the last time, once: a manager's shutdown may coincide with the end of the process."""
        if self._last_close.acquire(blocking=False):
            self.on_close()

    def _report(self, fraction: float, text: str) -> None:
        if text != self.status_text:
            self.get_logger().info(f"{100.0 * fraction:.0f} %: {text}")
        self.status_text, self._load_progress = text, float(fraction)

    def _note(self, fault: Exception) -> None:
        """Log one sentence for a fault that the user can correct, and a traceback for every other exception."""
        if self.closing.is_set():
            return
        is_expected = isinstance(fault, ConfigError)
        self.status_text, self._fault_code = str(fault), getattr(fault, "exit_code", 1)
        text = str(fault) if is_expected else "".join(traceback.format_exception(fault))
        self.get_logger().fatal(text)


def _error_of(hook: Callable[[], None]) -> Exception | None:
    try:
        hook()
    except Exception as error:  # noqa: BLE001 - code of the subclass
        return error
    return None


def _raise(error: Exception) -> NoReturn:
    raise error
