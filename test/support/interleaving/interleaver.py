"""Runs threads in an interleaving that a seed decides, so that a race which was found once is found again.

Each thread of a test is a real thread, but only one runs at a time. It yields at every line of the modules under test
and at every lock, event, condition and queue that they use; the next thread is drawn from the seed. The modules get
their ``threading``, ``queue`` and ``time`` from here. Time does not advance while any thread can run, and jumps to
the next end of a wait when none can. When none can run and no wait has an end, the run ends with ``Deadlock``.
"""

from __future__ import annotations

import queue as real_queue
import random
import sys
import threading as real_threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

T = TypeVar("T")

SWITCH = 0.3
"""How likely a thread gives way at a line."""

LIMIT = 200_000
"""Steps after which a run counts as one that does not end."""
NO_NATIVE_ID = 0
"""The kernel knows no thread of this number, so what it says of real threads does not enter the run."""


class Deadlock(AssertionError):
    """No thread can continue."""


class _Ended(BaseException):
    """The run is over; raised in the remaining threads."""


class _Task:
    """One thread: ``ready`` says whether it can continue, ``until_s`` when its wait ends."""

    def __init__(self, name: str, body: Callable[[], None]) -> None:
        self.name, self.body = name, body
        self.turn = real_threading.Semaphore(0)
        self.ready: Callable[[], bool] = lambda: True
        self.until_s = float("inf")
        self.is_done = False
        self.is_daemon = False
        self.thread: real_threading.Thread | None = None


class Interleaver:
    """One run.

    Args:
        seed: Decides the interleaving.
        modules: Threads yield at the lines of these modules, whose ``threading``, ``queue`` and ``time`` are
            replaced by ``patched``.
    """

    def __init__(self, seed: int, modules: Iterable[ModuleType]) -> None:
        self.seed, self._chance = seed, random.Random(seed)
        self._modules = tuple(modules)
        self._files = {module.__file__ for module in self._modules}
        self._tasks: list[_Task] = []
        self._current: _Task | None = None
        self._over = real_threading.Event()
        self._failure: BaseException | None = None
        self._is_ending = self._is_choosing = False
        self.now_s = 1000.0
        self.steps = 0

    @contextmanager
    def patched(self) -> Iterator[Interleaver]:
        """Give the modules this run's threads and time."""
        threading = SimpleNamespace(
            Lock=lambda: Lock(self),
            RLock=lambda: Lock(self),
            Event=lambda: Event(self),
            Condition=lambda: Condition(self),
            Thread=lambda **options: Thread(self, **options),
            get_ident=real_threading.get_ident,
            get_native_id=lambda: NO_NATIVE_ID,
        )
        queue = SimpleNamespace(SimpleQueue=_Generic(lambda: Queue(self)), Empty=real_queue.Empty)
        time = SimpleNamespace(monotonic=lambda: self.now_s, sleep=self.sleep, time=lambda: self.now_s)
        kept: list[tuple[ModuleType, str, Any]] = []
        for module in self._modules:
            for name, value in (("threading", threading), ("queue", queue), ("time", time)):
                if isinstance(getattr(module, name, None), ModuleType):
                    kept.append((module, name, getattr(module, name)))
                    setattr(module, name, value)
        try:
            yield self
        finally:
            for module, name, value in kept:
                setattr(module, name, value)

    def spawn(self, body: Callable[[], None], name: str, *, daemon: bool = False) -> _Task:
        """Add a thread. The run ends when all but the daemons have returned."""
        task = _Task(name, body)
        task.is_daemon = daemon
        self._tasks.append(task)
        task.thread = real_threading.Thread(target=self._serve, args=(task,), name=name, daemon=True)
        task.thread.start()
        return task

    def run(self) -> None:
        """Run to the end.

        Raises:
            Deadlock: No thread can continue.
            BaseException: The first exception of a thread.
        """
        self._hand_on()
        if not self._over.wait(60.0):
            raise AssertionError(f"seed {self.seed}: the run hangs outside of its own waits")
        self._is_ending = True
        for task in self._tasks:
            while task.thread is not None and task.thread.is_alive():
                task.turn.release()
                task.thread.join(0.01)
        if self._failure is not None:
            raise self._failure

    def draw(self, values: Sequence[T]) -> T:
        """Return one of several values, by the seed."""
        return self._chance.choice(values)

    def give_way(self) -> None:
        """Let any thread continue that can."""
        self.wait(lambda: True, None)

    def wait(self, ready: Callable[[], bool], timeout_s: float | None) -> bool:
        """Continue once ``ready`` is true or the time is up; return whether it is true."""
        me = self._current
        if (
            me is None or me.thread is not real_threading.current_thread()
        ):  # outside of a run: set-up of a test
            assert ready(), "a wait outside of a run would never end"
            return True
        me.ready, me.until_s = ready, float("inf") if timeout_s is None else self.now_s + timeout_s
        self._hand_on()
        me.turn.acquire()
        if self._is_ending:
            raise _Ended
        return ready()

    def sleep(self, seconds: float) -> None:
        """Let time of the run pass."""
        self.wait(lambda: False, seconds)

    def _serve(self, task: _Task) -> None:
        task.turn.acquire()
        try:
            if not self._is_ending:
                sys.settrace(self._trace)
                task.body()
        except _Ended:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the thread that runs the test
            error.add_note(f"seed {self.seed}, thread {task.name}") if hasattr(error, "add_note") else None
            self._failure = self._failure or error
        finally:
            sys.settrace(None)
            task.is_done = True
            if not self._is_ending:
                self._hand_on()

    def _hand_on(self) -> None:
        self._is_choosing = True
        chosen = self._choose()
        self._is_choosing = False
        if chosen is not None:
            chosen.turn.release()

    def _choose(self) -> _Task | None:
        """Return the thread that continues; None at the end of the run."""
        self.steps += 1
        alive = [task for task in self._tasks if not task.is_done]
        if self._failure is not None or all(task.is_daemon for task in alive):
            return self._end(None)
        if self.steps > LIMIT:
            return self._end(Deadlock(f"seed {self.seed}: no end after {LIMIT} steps"))
        able = [task for task in alive if task.ready() or task.until_s <= self.now_s]
        if not able:
            next_s = min(task.until_s for task in alive)
            if next_s == float("inf"):
                names = ", ".join(task.name for task in alive)
                return self._end(Deadlock(f"seed {self.seed}: {names} wait for ever"))
            self.now_s = next_s
            able = [task for task in alive if task.until_s <= self.now_s]
        self._current = self._chance.choice(able)
        return self._current

    def _end(self, failure: BaseException | None) -> _Task | None:
        self._failure = self._failure or failure
        self._current = None
        self._over.set()
        return None

    def _trace(self, frame: FrameType, _event: str, _argument: object) -> Any:
        return self._on_line if frame.f_code.co_filename in self._files else None

    def _on_line(self, _frame: FrameType, event: str, _argument: object) -> Any:
        # The conditions of waits are code under test as well, and are called while the next thread is chosen.
        if event == "line" and not self._is_choosing and self._chance.random() < SWITCH:
            self.give_way()
        return self._on_line


class _Generic:
    """A factory that may be subscripted, as ``queue.SimpleQueue[int]`` is."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __call__(self) -> Any:
        return self._make()

    def __getitem__(self, _item: object) -> _Generic:
        return self


class Lock:
    """A lock whose waits are part of the run; the thread that holds it may take it again."""

    def __init__(self, run: Interleaver) -> None:
        self._run, self._owner, self._depth = run, 0, 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        me = real_threading.get_ident()
        if self._owner != me:
            span_s = 0.0 if not blocking else None if timeout < 0 else timeout
            if not self._run.wait(lambda: not self._depth, span_s):
                return False
        self._owner, self._depth = me, self._depth + 1
        return True

    def release(self) -> None:
        assert self._depth, "release of a lock that nobody holds"
        self._depth -= 1
        if not self._depth:
            self._owner = 0

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


class Condition(Lock):
    """A condition whose waits are part of the run."""

    def __init__(self, run: Interleaver) -> None:
        super().__init__(run)
        self._notified = 0

    def wait(self, timeout: float | None = None) -> bool:
        seen, depth, me = self._notified, self._depth, self._owner
        self._owner = self._depth = 0
        is_notified = self._run.wait(lambda: self._notified > seen and not self._depth, timeout)
        self._run.wait(lambda: not self._depth, None)
        self._owner, self._depth = me, depth
        return is_notified

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        end_s = None if timeout is None else self._run.now_s + timeout
        while not predicate():
            left_s = None if end_s is None else end_s - self._run.now_s
            if left_s is not None and left_s <= 0.0:
                return predicate()
            self.wait(left_s)
        return True

    def notify_all(self) -> None:
        self._notified += 1

    notify = notify_all


class Event:
    """An event whose waits are part of the run."""

    def __init__(self, run: Interleaver) -> None:
        self._run, self._is_set = run, False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        return self._run.wait(lambda: self._is_set, timeout)


class Queue:
    """A queue whose waits are part of the run."""

    def __init__(self, run: Interleaver) -> None:
        self._run, self._items = run, deque[Any]()

    def put(self, item: Any) -> None:
        self._items.append(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if not self._run.wait(lambda: bool(self._items), timeout if block else 0.0):
            raise real_queue.Empty
        return self._items.popleft()

    def get_nowait(self) -> Any:
        return self.get(block=False)

    def empty(self) -> bool:
        return not self._items


class Thread:
    """A thread of the run."""

    native_id = NO_NATIVE_ID

    def __init__(
        self,
        run: Interleaver,
        target: Callable[..., None],
        args: tuple[Any, ...] = (),
        name: str = "thread",
        daemon: bool = False,
    ) -> None:
        self._run, self._body, self.name, self._daemon = run, lambda: target(*args), name, daemon
        self._task: _Task | None = None

    def start(self) -> None:
        self._task = self._run.spawn(self._body, self.name, daemon=self._daemon)

    def is_alive(self) -> bool:
        return self._task is not None and not self._task.is_done

    def join(self, timeout: float | None = None) -> None:
        self._run.wait(lambda: not self.is_alive(), timeout)
