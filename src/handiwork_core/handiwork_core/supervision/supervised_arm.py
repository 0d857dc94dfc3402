"""The ``Arm`` port of one motion: follows it, and brakes when the rest of it is no longer clear."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from handiwork_core.contracts.planning import (
    PathRest,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.contracts.ports import (
    Arm,
    Clock,
    Planner,
    WorldSource,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World

from .path_supervision import RETRY_S, Check, PathProgress, PathSupervision, at_time

LATE_S = 2.0
"""The longest wait for a verdict after the arm has braked for want of it, s: it may name what blocks the path."""

Judge = Callable[[Check, float, ShouldStop], Verdict]
"""Judges the rest of the motion from a time on it [s] onwards."""


@dataclass(frozen=True)
class SupervisedArm:
    """Decorates ``arm`` for one motion.

    The thread that follows compares the worlds; checks run on threads of their own, one at a time, so that waiting
    for an answer never delays a stop.

    Attributes:
        arm: Follows and brakes.
        supervision: Supervision of this motion.
        judge: Runs a check; blocks, and returns soon after ``should_stop`` is true.
        world: Newest snapshots.
        measured: Returns the joints of a snapshot, in the order of the trajectory, (dof,).
        clock: Time of the robot's world.
    """

    arm: Arm
    supervision: PathSupervision
    judge: Judge
    world: WorldSource
    measured: Callable[[World], Array]
    clock: Clock

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``; a motion that is no longer clear, or cannot be judged, ends with the reason.

        Args:
            trajectory: Motion to follow.
            should_stop: True ends the motion.

        Returns:
            The outcome of the arm, or the fault of the supervision.
        """
        watch = _Watch(self, trajectory)
        try:
            outcome = self.arm.follow(trajectory, should_stop=lambda: should_stop() or watch.must_brake())
            if outcome.code is Code.CANCELED:
                watch.await_verdict(should_stop)
        finally:
            watch.close()
        fault = self.supervision.fault
        if fault is None or outcome.code is not Code.CANCELED:
            return outcome
        return at_time(fault, watch.path_s(), trajectory.duration_s)

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        return self.arm.stop()


class _Watch:
    """One running motion. ``must_brake`` is called by the thread that follows, ``_run`` is the thread of a check."""

    def __init__(self, arm: SupervisedArm, trajectory: Trajectory) -> None:
        self._arm, self._progress = arm, PathProgress(trajectory)
        self._begun_s = arm.clock.now_s()
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def must_brake(self) -> bool:
        """Compare with the newest world, start a check where one is due, and return whether the motion must end."""
        supervision = self._arm.supervision
        path_s = self.path_s()
        with self._lock:
            check = supervision.update(self._arm.world.snapshot(), time.monotonic())
            self._start(check, path_s)
            return supervision.fault is not None

    def await_verdict(self, should_stop: ShouldStop) -> None:
        """Wait, while the arm rests, for the verdict for want of which it has braked.

        Args:
            should_stop: True ends the wait.
        """
        supervision, end_s = self._arm.supervision, time.monotonic() + LATE_S
        while supervision.is_unanswered and time.monotonic() < end_s and not should_stop():
            path_s = self.path_s()
            with self._lock:
                check = supervision.late_check(self._arm.world.snapshot(), time.monotonic())
                self._start(check, path_s)
                if not supervision.is_judging:
                    return
            self._closed.wait(RETRY_S)

    def _start(self, check: Check | None, path_s: float) -> None:
        if check is not None:
            self._thread = threading.Thread(
                target=self._run, args=(check, path_s), name="path-check", daemon=True
            )
            self._thread.start()

    def path_s(self) -> float:
        """Return the time on the trajectory that the arm has reached [s]."""
        elapsed_s = self._arm.clock.now_s() - self._begun_s
        return self._progress.update(self._arm.measured(self._arm.world.snapshot()), elapsed_s)

    def close(self) -> None:
        """End a check that still runs."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, check: Check, path_s: float) -> None:
        try:
            verdict = self._arm.judge(check, path_s, self._closed.is_set)
        except Exception as bug:  # noqa: BLE001 - the border of a port: the arm brakes, the server goes on
            verdict = Verdict(
                Code.INTERNAL, f"the check failed: {type(bug).__name__}: {bug}; please report this"
            )
        with self._lock:
            self._arm.supervision.finish(verdict, time.monotonic())


def planner_judge(
    planner: Planner, arm: str, trajectory: Trajectory, scene: SceneQuery, then: World
) -> Judge:
    """Return a judge that asks the planner.

    Args:
        planner: Validates the rest of the motion.
        arm: Name of the arm.
        trajectory: The motion.
        scene: Scene with which the motion was validated.
        then: World in which ``scene`` was made.

    Returns:
        The judge.
    """

    def judge(check: Check, path_s: float, should_stop: ShouldStop) -> Verdict:
        world = check.world
        changed = frozenset[str]() if check.changes.is_planners else check.changes.names
        rest = PathRest(path_s, changed, world.version, world.stamp_s)
        gone = frozenset(then.objects) - frozenset(world.objects)
        return planner.validate_rest(arm, trajectory, without(scene, gone), rest, should_stop=should_stop)

    return judge


def without(scene: SceneQuery, gone: frozenset[str]) -> SceneQuery:
    """Return the scene without objects that are gone from the world, which a planner would not know.

    Args:
        scene: Scene of a motion.
        gone: Names of the objects.

    Returns:
        The smaller scene.
    """
    if not gone:
        return scene
    return replace(
        scene,
        ignored=scene.ignored - gone,
        attached=tuple(item for item in scene.attached if item.object not in gone),
        allowed=frozenset(pair for pair in scene.allowed if not gone & set(pair)),
    )


def excluded_by(scene: SceneQuery) -> frozenset[str]:
    """Return the bodies whose motion is no reason for a check.

    They are ignored, held by any arm, or touched on purpose.

    Args:
        scene: Scene of a motion.

    Returns:
        Names of the bodies.
    """
    held = {item.object for item in scene.attached}
    held |= {item.object for other in scene.others for item in other.attached}
    return scene.ignored | held | {body for pair in scene.allowed for body in pair}
