"""The flight recorder: a minute of history in memory, and one bundle for each goal that did not succeed."""

from __future__ import annotations

import logging
import platform
import queue
import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from handiwork_core.bundles.bundle import MOTIONS, Bundle, Call, Head, LogLine, Seen, write_bundle
from handiwork_core.bundles.folder import BundleFolder
from handiwork_core.contracts.skill import Context, Skill, Stopped
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from skill_server.execution.run import ExecutionResult

from .recorded_ports import record_ports
from .trace import STATES, RunTrace

log = logging.getLogger(__name__)

HISTORY_S = 60.0
"""The time that is kept, s of the world's clock."""
HISTORY_STEP_S = 0.5
"""The time between two snapshots of the history, s of the world's clock."""
LOG_LINES = 400
"""The greatest number of lines of the log that are kept."""
DENSE_S, SPARSE_STEP_S = 5.0, 0.2
"""All snapshots of the last seconds are written; before that one in each step, s of the world's clock."""
BROKEN_OFF_S = 1.0
"""All snapshots of the last second of a motion that did not succeed are written too: they show what ended it."""
CLOSE_S = 20.0
"""The longest wait for one bundle at the end, s of steady time."""
CLOSE_POLL_S = 0.1
TELL_S = 2.0
"""The time after which the end says which bundles it still writes, s of steady time."""
WAITING = 20
"""The greatest number of bundles that wait to be written; further ones are left out."""
NOT_KEPT = "the flight recorder failed (%s: %s); the goal goes on without, please report this"
PACKAGES = ("handiwork", "handiwork-core", "numpy", "numba", "mujoco", "ros-rclpy")

R = TypeVar("R", bound=ExecutionResult)


class FlightRecorder:
    """Keeps what runs see and do, and writes bundles on a thread of its own.

    Args:
        robot: Robot of the server.
        robot_dir: Folder of its files.
        folder: Where the bundles go.
        now: Returns the time of the day.
    """

    def __init__(
        self,
        robot: Robot,
        robot_dir: str,
        folder: BundleFolder,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._robot, self._robot_dir, self._folder, self._now = robot, robot_dir, folder, now
        self._history = deque[Seen](maxlen=int(HISTORY_S / HISTORY_STEP_S))
        self._log = deque[LogLine](maxlen=LOG_LINES)
        self._versions: dict[str, str] = {}
        self._named = deque[Path]()
        """The bundles that results have named and that are not written yet, oldest first."""
        self._jobs: queue.Queue[tuple[Path, Bundle] | None] = queue.Queue(WAITING)
        self._writer = threading.Thread(target=self._write_all, name="flight-recorder", daemon=True)
        self._writer.start()

    def note_world(self, at_s: float, world: World) -> None:
        """Add a snapshot to the history.

        Args:
            at_s: Time of the world's clock, s.
            world: The snapshot.
        """
        if self._history and at_s < self._history[-1].at_s:  # the clock has jumped back
            self._history.clear()
        if not self._history or at_s - self._history[-1].at_s >= HISTORY_STEP_S:
            self._history.append(Seen(at_s, world))

    def note_log(self, line: LogLine) -> None:
        """Add a line of the log.

        Args:
            line: The line.
        """
        self._log.append(line)

    def begin(self, params: Any, context: Context, *, plan_only: bool = False) -> RunTrace | None:
        """Record a run: its ports, and those of its partners, are replaced.

        Args:
            params: Checked parameters of the skill.
            context: Context of the run, with its partners.
            plan_only: True for a preview.

        Returns:
            The record; None if it cannot be begun, and the run goes on without.
        """
        try:
            trace = RunTrace(params, context, context.partners, plan_only=plan_only)
        except Stopped:
            return None  # A goal that is cancelled before it has begun: it ends by itself.
        except Exception as error:  # noqa: BLE001 - a recorder must not end a goal
            log.warning(NOT_KEPT, type(error).__name__, error)
            return None
        for one in (context, *context.partners.values()):
            record_ports(one, trace)
        return trace

    def end(self, trace: RunTrace | None, skill: Skill[Any], result: R) -> R:
        """End the record of a run; a run that did not succeed leaves a bundle.

        Args:
            trace: The record; None for a run without.
            skill: The skill.
            result: How it ended.

        Returns:
            The result, with the path of the bundle if there is one.
        """
        if result.outcome.ok or trace is None:
            return result
        try:
            head = self._head(skill.name, skill.name, result.arm, result.outcome)
            return replace(result, bundle=self._keep(trace.bundle(head, {})))
        except Stopped:
            return result  # Its goal has ended without it, and its ports answer nothing any more.
        except Exception as error:  # noqa: BLE001 - a recorder must not change how a goal ends
            log.warning(NOT_KEPT, type(error).__name__, error)
            return result

    def refused(
        self, action: str, goal: Mapping[str, Any], arm: str, outcome: Outcome, seen: Seen | None
    ) -> str:
        """Leave the bundle of a goal that never ran.

        Args:
            action: Name of the action.
            goal: The goal message, as nested mappings.
            arm: Name of its arm; empty if it is not known.
            outcome: Why it was refused.
            seen: The world of that time; None if it is not known.

        Returns:
            The path of the bundle; empty if none is written.
        """
        try:
            skill = str(goal.get("skill", action))
            head = self._head(action, skill, arm, outcome)
            at_s = 0.0 if seen is None else seen.at_s
            made = Bundle(head, goal, began_s=at_s, ended_s=at_s, seen=() if seen is None else (seen,))
            # A check that hangs is a failure of this machine, not of the goal.
            return self._keep(made, is_refused=outcome.code is not Code.UNRESPONSIVE)
        except Exception as error:  # noqa: BLE001 - a recorder must not change how a goal is refused
            log.warning(NOT_KEPT, type(error).__name__, error)
            return ""

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Write what waits, as results have named it already, then end the thread.

        The wait goes on as long as bundles are completed. What is not written after it is named in the log.

        Args:
            timeout_s: Longest wait for one bundle, s of steady time.
        """
        is_asked = is_told = False
        left, begun_s = -1, time.monotonic()
        end_s = begun_s + timeout_s
        while self._writer.is_alive() and time.monotonic() < end_s:
            if len(self._named) != left:
                left, end_s = len(self._named), time.monotonic() + timeout_s
            if not is_asked:
                with suppress(queue.Full):
                    self._jobs.put(None, timeout=CLOSE_POLL_S)
                    is_asked = True
            if not is_told and time.monotonic() - begun_s > TELL_S:  # a supervisor may soon kill this process
                is_told = True
                log.warning("still writing %d bundles that results have named: %s", left, self._names())
            self._writer.join(CLOSE_POLL_S)
        if self._named:
            log.warning(
                "the end came before these bundles, which results have named, were written: %s", self._names()
            )

    def _names(self) -> str:
        return ", ".join(str(path) for path in tuple(self._named))

    def _head(self, action: str, skill: str, arm: str, outcome: Outcome) -> Head:
        made = self._now().isoformat(timespec="milliseconds")
        return Head(action, skill, arm, self._robot.name, self._robot_dir, outcome, made)

    def _keep(self, bundle: Bundle, *, is_refused: bool = False) -> str:
        """Hand a bundle to the thread that writes; return its path, or an empty text if it is too far behind."""
        head = bundle.head
        name, code = head.skill or head.action, head.outcome.code.name
        path = self._folder.next_path(name, code, self._now(), is_refused=is_refused)
        history = tuple(one for one in tuple(self._history) if one.at_s < bundle.began_s)
        bundle = replace(bundle, seen=newest((*history, *bundle.seen)), log=tuple(self._log))
        self._named.append(path)
        try:
            self._jobs.put_nowait((path, bundle))
        except queue.Full:
            self._named.remove(path)
            log.warning("%d bundles wait to be written already: none for this goal", WAITING)
            return ""
        return str(path)

    def _write_all(self) -> None:
        while (job := self._jobs.get()) is not None:
            path, bundle = job
            try:
                self._folder.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._folder.prune(time.time())
                head = replace(bundle.head, versions=self._known_versions())
                write_bundle(path, replace(bundle, head=head, seen=thinned(bundle)))
                self._folder.prune(time.time())
            except Exception as error:  # noqa: BLE001 - a full disk or a bug here must never touch a goal
                log.warning("the bundle %s was not written: %s; the goals go on without", path, error)
            self._named.remove(path)

    def _known_versions(self) -> dict[str, str]:
        if not self._versions:
            installed = {one.name: one.version for one in metadata.distributions() if one.name in PACKAGES}
            self._versions.update(installed)
            self._versions["python"] = platform.python_version()
        return self._versions


def newest(seen: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Return the newest snapshots that have at most ``STATES`` poses of objects together, and always the last.

    Args:
        seen: Snapshots in the order of time.
    """
    first, count = len(seen), 0
    for one in reversed(seen):
        count += len(one.world.states)
        if count > STATES and first < len(seen):
            break
        first -= 1
    return seen[first:]


def thinned(bundle: Bundle) -> tuple[Seen, ...]:
    """Return the snapshots that are written: all with which calls began or ended, all of the last seconds, few before.

    All are written of the last second of a motion that broke off.

    Args:
        bundle: A bundle.
    """
    wanted = {id(call.world) for call in bundle.calls}
    times = [one.at_s for one in bundle.seen]
    marks = [at_s for call in bundle.calls for at_s in (call.begun_s, call.ended_s)]
    # The clock may tick between a snapshot and the time that its call gets: the newest of until then counts.
    wanted |= {id(bundle.seen[max(bisect_right(times, at_s) - 1, 0)].world) for at_s in marks if times}
    dense = [(call.ended_s - BROKEN_OFF_S, call.ended_s) for call in bundle.calls if _broke_off(call)]
    kept = list[Seen]()
    for one in bundle.seen:
        is_new = not kept or one.at_s - kept[-1].at_s >= SPARSE_STEP_S
        is_late = one.at_s > bundle.ended_s - DENSE_S
        if is_new or is_late or id(one.world) in wanted or any(a <= one.at_s <= b for a, b in dense):
            kept.append(one)
    return tuple(kept)


def _broke_off(call: Call) -> bool:
    return call.port in MOTIONS and not (isinstance(call.answer, Outcome) and call.answer.ok)
