"""A managed node whose transitions may take time, and whose ``change_state`` answers when they have ended.

rclpy's own ``LifecycleNode`` runs a whole transition inside the service handler, so that a long one blocks the
executor, and a request that the state does not allow raises there and ends the process. Here a transition is a
coroutine: the node shows the transition state meanwhile, serves everything else, and refuses further requests.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.task import Future

from handiwork_ros.rclpy_support.rclpy_internals import life_cycle

POLL_S = 0.02
"""The period in which a transition checks the condition that it waits for, s."""

ENTITY_CALLBACKS = {
    "configuring": "on_configure",
    "cleaningup": "on_cleanup",
    "activating": "on_activate",
    "deactivating": "on_deactivate",
    "shuttingdown": "on_shutdown",
    "errorprocessing": "on_error",
}
"""Transition state -> the callback of rclpy that passes the transition on to managed entities."""

SHUTDOWNS = (
    Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
    Transition.TRANSITION_INACTIVE_SHUTDOWN,
    Transition.TRANSITION_ACTIVE_SHUTDOWN,
)
"""The transitions that shut the node down."""
REQUESTS = (
    Transition.TRANSITION_CONFIGURE,
    Transition.TRANSITION_CLEANUP,
    Transition.TRANSITION_ACTIVATE,
    Transition.TRANSITION_DEACTIVATE,
    *SHUTDOWNS,
)
"""The transitions that clients may request. For rcl the end of a transition is one, too, but only the node makes it."""


class AsyncLifecycleNode(LifecycleNodeMixin, Node):
    """A managed node as the ROS 2 design defines it. Subclasses do their work in ``run_transition``.

    All methods must be called on the executor's thread; ``state`` may be read from any.

    Args:
        name: Name of the node.
        options: Options of ``rclpy.node.Node``.
    """

    def __init__(self, name: str, **options: Any) -> None:
        Node.__init__(self, name, **options)
        # A handler that waits keeps its group busy: in the node's own group it would stop the status messages.
        LifecycleNodeMixin.__init__(self, callback_group=ReentrantCallbackGroup())
        next(s for s in self.services if s.srv_type is ChangeState).callback = self._on_change_state
        self._label = self._read_label()
        self._pauses: list[Future] = []
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._poll = self.create_timer(POLL_S, self._end_pauses, clock=steady)
        self._poll.cancel()

    async def run_transition(self, state: str) -> TransitionCallbackReturn:
        """Do the work of a transition state; an exception counts as ERROR.

        Args:
            state: The transition state, such as ``configuring``.

        Returns:
            SUCCESS leads to the goal state and FAILURE back, as the design defines; ERROR leads to ``errorprocessing``,
            from where SUCCESS leads to ``unconfigured`` and every other result to ``finalized``.
        """
        return TransitionCallbackReturn.SUCCESS

    @property
    def state(self) -> str:
        """The label of the current state, as ``get_state`` returns it."""
        return self._label

    def offers(self, transition: int) -> bool:
        """Check whether the current state allows a transition.

        Args:
            transition: One of ``REQUESTS``.
        """
        return transition in self._offered().values()

    async def change_state(self, transition: int) -> bool:
        """Run a transition to its end.

        Args:
            transition: One of ``REQUESTS``.

        Returns:
            True when the goal state is reached; False when the state refuses the transition, or when it failed.
        """
        if not self.offers(transition):
            self.get_logger().warning(f"transition {transition} is refused in state {self.state!r}")
            return False
        before = self.state
        self.trigger(transition)
        result = await self._run_state(before)
        self.trigger(result.to_label())
        if result == TransitionCallbackReturn.ERROR:
            self.trigger((await self._run_state(before)).to_label())
        return bool(result == TransitionCallbackReturn.SUCCESS)

    def trigger(self, transition: int | str) -> None:
        """Enter the next state, and publish the event.

        Args:
            transition: A number begins a transition, a label ends it.
        """
        machine = life_cycle(self)
        if isinstance(transition, int):
            machine.trigger_transition_by_id(transition, True)
        else:
            machine.trigger_transition_by_label(transition, True)
        self._label = self._read_label()

    async def wait_until(self, is_true: Callable[[], bool], limit_s: float) -> bool:
        """Wait for a condition; the executor serves other work meanwhile.

        Args:
            is_true: The condition.
            limit_s: Longest wait, s of steady time.

        Returns:
            False if time is up.
        """
        end_s = time.monotonic() + limit_s
        while not is_true():
            if time.monotonic() > end_s:
                return False
            pause = Future(executor=self.executor)
            self._pauses.append(pause)
            self._poll.reset()
            await pause
        return True

    async def in_thread(self, name: str, work: Callable[[], None]) -> Exception | None:
        """Run blocking work in its own daemon thread and wait for it.

        Args:
            name: Name of the thread.
            work: The function to run.

        Returns:
            The exception that it raised; None if it raised none.
        """
        done, executor = Future(executor=self.executor), self.executor
        assert executor is not None

        def call() -> None:
            failure: Exception | None = None
            try:
                work()
            except Exception as error:  # noqa: BLE001 - returned to the caller
                failure = error
            executor.create_task(done.set_result, failure)

        threading.Thread(target=call, name=name, daemon=True).start()
        result: Exception | None = await done
        return result

    async def _run_state(self, before: str) -> TransitionCallbackReturn:
        """Run the current transition state's work, then that of managed entities such as lifecycle publishers."""
        try:
            result = await self.run_transition(self.state)
            if result == TransitionCallbackReturn.SUCCESS:
                previous = LifecycleState(label=before, state_id=0)
                result = getattr(self, ENTITY_CALLBACKS[self.state])(previous)
        except Exception:  # noqa: BLE001 - code of the subclass
            self.get_logger().error(f"{self.state} failed:\n{traceback.format_exc()}")
            return TransitionCallbackReturn.ERROR
        return result

    async def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        """Serve ``change_state``; a label has precedence over the number, as in rclcpp."""
        label = request.transition.label
        transition = self._offered().get(label, 0) if label else request.transition.id
        response.success = await self.change_state(transition)
        return response

    def _offered(self) -> dict[str, int]:
        """Return the number by label of each request that the current state allows; none in a transition state."""
        rows = life_cycle(self).available_transitions
        return {label: number for number, label, *_ in rows if number in REQUESTS}

    def _read_label(self) -> str:
        return str(life_cycle(self).current_state[1])

    def _end_pauses(self) -> None:
        self._poll.cancel()
        pauses, self._pauses = self._pauses, []
        for pause in pauses:
            pause.set_result(None)

    def _refuse_trigger(self) -> NoReturn:
        raise NotImplementedError("a transition takes time here: run change_state() on the executor")

    trigger_configure = trigger_cleanup = trigger_activate = trigger_deactivate = _refuse_trigger
    trigger_shutdown = _refuse_trigger
