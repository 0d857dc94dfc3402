"""Ports that keep what a run asks and is answered, around those of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handiwork_core.bundles.bundle import GripperMove
from handiwork_core.contracts.delegating import A, DelegatingPlanner, Request
from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.ports import (
    Arm,
    Clock,
    FrameSource,
    Gripper,
    NavigationGoal,
    Navigator,
    Planner,
    WorldSource,
)
from handiwork_core.contracts.skill import Context, Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World

from .trace import RunTrace


def record_ports(context: Context, trace: RunTrace) -> None:
    """Replace the ports of a context by recorded ones.

    Args:
        context: Context of a run that has not begun.
        trace: Keeps the calls.
    """
    name, world = context.arm_spec.name, context.world
    keep = _Keep(trace, name, world)
    report = context.report

    def noted(progress: Progress) -> None:
        trace.note(progress)
        report(progress)

    context.report = noted
    context.planner = RecordedPlanner(context.planner, keep)
    context.arm = RecordedArm(context.arm, keep)
    context.gripper = RecordedGripper(context.gripper, keep)
    context.clock = RecordedClock(context.clock, trace)
    context.world = RecordedWorld(world, trace)
    if context.base is not None:
        context.base = RecordedArm(context.base, keep, "follow_base")
    if context.navigator is not None:
        context.navigator = RecordedNavigator(context.navigator, keep)
    if context.frames is not None:
        context.frames = RecordedFrames(context.frames, trace)


@dataclass(frozen=True)
class _Keep:
    """Keeps the calls of one arm's ports."""

    trace: RunTrace
    arm: str
    world: WorldSource

    def __call__(self, port: str, request: Any, act: Callable[[], Any]) -> Any:
        return self.trace.call(port, self.arm, request, self.world.snapshot(), act, self.world.snapshot)

    def looked(self, should_stop: ShouldStop) -> ShouldStop:
        """Return a ``should_stop`` that also looks for the beginning of a stop.

        Args:
            should_stop: True ends the motion.
        """

        def look() -> bool:
            self.trace.look_for_stop()
            return should_stop()

        return look


@dataclass(frozen=True)
class RecordedPlanner(DelegatingPlanner):
    """``Planner`` that keeps requests and answers."""

    planner: Planner
    keep: _Keep

    def answer(
        self, port: str, arm: str, request: Request, ask: Callable[[Planner], A], should_stop: ShouldStop
    ) -> A:
        """Ask the planner, and keep the request with its answer; see ``DelegatingPlanner.answer``.

        Args:
            port: Name of the method.
            arm: Not used: the calls are kept under the arm of the run.
            request: Its arguments.
            ask: Asks a planner.
            should_stop: Not used.
        """
        return self.keep(port, request, lambda: ask(self.planner))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class RecordedArm:
    """``Arm`` that keeps the motions; ``port`` is the name of the call."""

    arm: Arm
    keep: _Keep
    port: str = "follow"

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``.

        Args:
            trajectory: The motion.
            should_stop: True ends the motion.
        """
        return self.keep(  # type: ignore[no-any-return]
            self.port,
            trajectory,
            lambda: self.arm.follow(trajectory, should_stop=self.keep.looked(should_stop)),
        )

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        return self.keep("stop", None, self.arm.stop)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class RecordedNavigator:
    """``Navigator`` that keeps the goals."""

    navigator: Navigator
    keep: _Keep

    def navigate(self, goal: NavigationGoal, *, should_stop: ShouldStop) -> Outcome:
        """See ``Navigator.navigate``.

        Args:
            goal: The pose.
            should_stop: True ends the drive.
        """
        return self.keep(  # type: ignore[no-any-return]
            "navigate", goal, lambda: self.navigator.navigate(goal, should_stop=self.keep.looked(should_stop))
        )

    def stop(self) -> Outcome:
        """See ``Navigator.stop``."""
        return self.keep("stop", None, self.navigator.stop)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class RecordedGripper:
    """``Gripper`` that keeps the moves."""

    gripper: Gripper
    keep: _Keep

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper.move``.

        Args:
            width_m: Opening between the pads, m.
            force_n: Largest force of a finger, N.
            should_stop: True ends the move.
        """
        act = lambda: self.gripper.move(width_m, force_n=force_n, should_stop=should_stop)  # noqa: E731
        return self.keep("move", GripperMove(width_m, force_n), act)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class RecordedClock:
    """``Clock`` that looks when the run is ended from outside."""

    clock: Clock
    trace: RunTrace

    def now_s(self) -> float:
        """See ``Clock.now_s``."""
        return self.clock.now_s()

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """See ``Clock.sleep``.

        Args:
            seconds: Duration, s.
            should_stop: True ends the wait.
        """
        self.clock.sleep(seconds, should_stop=should_stop)
        self.trace.look_for_stop()


@dataclass(frozen=True)
class RecordedWorld:
    """``WorldSource`` that keeps the snapshots."""

    world: WorldSource
    trace: RunTrace

    def snapshot(self) -> World:
        """See ``WorldSource.snapshot``."""
        world = self.world.snapshot()
        self.trace.see(world)
        return world

    def world_T_base(self) -> Pose:
        """See ``WorldSource.world_T_base``."""
        return self.world.world_T_base()


@dataclass(frozen=True)
class RecordedFrames:
    """``FrameSource`` that keeps the transforms."""

    frames: FrameSource
    trace: RunTrace

    def lookup(self, target: str, source: str, field: str = "") -> Pose:
        """See ``FrameSource.lookup``.

        Args:
            target: Frame in which the pose is expressed.
            source: Frame whose pose is returned.
            field: Field of the goal, for errors.
        """
        found = self.frames.lookup(target, source, field)
        self.trace.frames[(target, source)] = found
        return found

    def known(self) -> list[str]:
        """See ``FrameSource.known``."""
        return self.frames.known()
