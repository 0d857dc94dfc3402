"""A managed node whose transitions may take time, and whose ``change_state`` answers when they have really ended.

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
"""How often a transition looks whether what it waits for has come."""

ENTITY_CALLBACKS = {
    "configuring": "on_configure",
    "cleaningup": "on_cleanup",
    "activating": "on_activate",
    "deactivating": "on_deactivate",
    "shuttingdown": "on_shutdown",
    "errorprocessing": "on_error",
}
"""What rclpy calls in each transition state: it passes the transition on to managed entities."""

SHUTDOWNS = (
    Transition.TRANSITION_UNCONFIGURED_SHUTDOWN,
    Transition.TRANSITION_INACTIVE_SHUTDOWN,
    Transition.TRANSITION_ACTIVE_SHUTDOWN,
)
REQUESTS = (
    Transition.TRANSITION_CONFIGURE,
    Transition.TRANSITION_CLEANUP,
    Transition.TRANSITION_ACTIVATE,
    Transition.TRANSITION_DEACTIVATE,
    *SHUTDOWNS,
)
"""What may be asked for from outside. How a transition ends is a transition for rcl too, but the node's own matter."""


class AsyncLifecycleNode(LifecycleNodeMixin, Node):
    """A managed node as the ROS 2 design has it. Subclasses do their work in ``run_transition``.

    All methods are for the executor's thread; ``state`` may be read from any.
    """

    def __init__(self, name: str, **options: Any) -> None:
        Node.__init__(self, name, **options)
        # A handler that waits keeps its group busy: in the node's own group it would stop the life signs.
        LifecycleNodeMixin.__init__(self, callback_group=ReentrantCallbackGroup())
        next(s for s in self.services if s.srv_type is ChangeState).callback = self._on_change_state
        self._label = self._read_label()
        self._pauses: list[Future] = []
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._poll = self.create_timer(POLL_S, self._end_pauses, clock=steady)
        self._poll.cancel()

    async def run_transition(self, state: str) -> TransitionCallbackReturn:
        """Do the work of a transition state such as ``configuring``; an exception is an ERROR.

        Returns:
            SUCCESS leads to the goal state and FAILURE back, as the design has it; ERROR leads to ``errorprocessing``,
            from where SUCCESS leads to ``unconfigured`` and all else to ``finalized``.
        """
        return TransitionCallbackReturn.SUCCESS

    @property
    def state(self) -> str:
        """The label of the current state, as ``get_state`` answers it."""
        return self._label

    def offers(self, transition: int) -> bool:
        """Whether the current state allows a transition."""
        return transition in self._offered().values()

    async def change_state(self, transition: int) -> bool:
        """Run a transition to its end.

        Args:
            transition: one of ``REQUESTS``.

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
        """Enter the next state, and publish the event. A number begins a transition, a label ends it."""
        machine = life_cycle(self)
        if isinstance(transition, int):
            machine.trigger_transition_by_id(transition, True)
        else:
            machine.trigger_transition_by_label(transition, True)
        self._label = self._read_label()

    async def wait_until(self, is_true: Callable[[], bool], limit_s: float) -> bool:
        """Whether ``is_true`` came within ``limit_s`` of steady time; the executor serves others meanwhile."""
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
        """Run blocking work in a daemon thread of its own and wait for it.

        Returns:
            What it raised, or None.
        """
        done, executor = Future(executor=self.executor), self.executor
        assert executor is not None

        def call() -> None:
            failure: Exception | None = None
            try:
                work()
            except Exception as error:  # noqa: BLE001 - handed on to who waits
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
        except Exception:  # noqa: BLE001 - the border to the subclass
            self.get_logger().error(f"{self.state} failed:\n{traceback.format_exc()}")
            return TransitionCallbackReturn.ERROR
        return result

    async def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        """Serve ``change_state``; a label goes before the number, as in rclcpp."""
        label = request.transition.label
        transition = self._offered().get(label, 0) if label else request.transition.id
        response.success = await self.change_state(transition)
        return response

    def _offered(self) -> dict[str, int]:
        """Numbers by label of the requests that the current state allows; none in a transition state."""
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
