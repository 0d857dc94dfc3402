"""The interfaces of a skill to the outside world, which robots, simulators and fakes implement. A skill uses no others.

Every call may block and is made from a worker thread; each returns within 50 ms after ``should_stop`` turns true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World

from .planning import (
    CandidatesRequest,
    CandidatesResult,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)


class Planner(Protocol):
    """A planning engine or a client of one. A lost planner answers with Code.PLANNER_LOST, never by an exception."""

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """Plan a trajectory; see ``Engine.plan``.

        Args:
            request: The planning problem.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            The trajectory, or a code with the reason.
        """
        ...

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """Check candidates; see ``Engine.check_candidates``.

        Args:
            request: The candidates, with their scenes.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            One verdict per candidate, in order.
        """
        ...

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """Check a trajectory from the measured configuration; see ``Engine.validate``.

        Args:
            arm: Name of the arm.
            trajectory: The motion.
            scene: The interpretation of the world.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            The verdict.
        """
        ...

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """Check the remaining part of a validated motion under way, in a world as new as ``rest`` says.

        Args:
            arm: Name of the arm.
            trajectory: The whole motion.
            scene: The interpretation of the world.
            rest: The part that remains, and the age of the world that is needed.
            should_stop: Turns true when the result is no longer wanted.

        Returns:
            The verdict; Code.STALE_WORLD if the planner has not received that world yet.
        """
        ...


class Arm(Protocol):
    """One arm with its trajectory controller."""

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """Follow a trajectory; return when the controller reports the end.

        When stopped, brake and return only once the arm is at rest.

        Args:
            trajectory: The motion.
            should_stop: Turns true when the arm is to stop.

        Returns:
            OK, or the controller's reason.
        """
        ...

    def stop(self) -> Outcome:
        """Bring the arm to rest; OK once measured velocities are near zero."""
        ...


@dataclass(frozen=True, slots=True)
class NavigationGoal:
    """Where a navigation server is to drive a mobile base.

    Attributes:
        world_T_base: Pose of the link that the base moves, upright.
        timeout_s: The longest time, s of the robot's world.
    """

    world_T_base: Pose
    timeout_s: float


class Navigator(Protocol):
    """A navigation server that drives a mobile base along a path of its own, as nav2 does."""

    def navigate(self, goal: NavigationGoal, *, should_stop: ShouldStop) -> Outcome:
        """Drive to a pose; return once the server has ended the goal and the base is at rest.

        Args:
            goal: The pose, and the time for it.
            should_stop: Turns true when the base is to stop; the goal is then canceled.

        Returns:
            OK when the server reports success; where the base really is, the caller measures. Otherwise the cause, with
            the server's error by name.
        """
        ...

    def stop(self) -> Outcome:
        """Cancel every goal, and bring the base to rest; OK once measured velocities are near zero."""
        ...


class Gripper(Protocol):
    """One parallel gripper."""

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """Move the fingers to a width.

        Closing on an object stalls, which is OK: the skills measure elsewhere whether something is held.

        Args:
            width_m: Opening between the pads, m.
            force_n: Largest force of a finger, N; 0: the gripper's greatest.
            should_stop: Turns true when the gripper is to stop.

        Returns:
            OK, or the controller's reason.
        """
        ...


class Compliance(Protocol):
    """The admittance controller of one arm, behind its trajectory controller in the chain, and its wrench sensor."""

    def set_admittance(self, settings: AdmittanceSettings, *, should_stop: ShouldStop) -> Outcome:
        """Set the parameters; with no axis selected the arm does not yield, and holds the place that it has reached.

        Args:
            settings: The parameters.
            should_stop: Turns true when the call is to end.

        Returns:
            OK, or CONTROLLER_REFUSED with the reason: the robot has no such controller, or measures no wrench.
        """
        ...

    def set_wrench(self, wrench: Array) -> None:
        """Set the wrench with which the tool presses in the selected axes; it holds until the next one.

        Args:
            wrench: In the EE frame, (6,), N and Nm.
        """
        ...

    def wrench(self) -> Array | None:
        """Return the newest wrench of the surroundings on the tool in the EE frame, (6,), N and Nm; None: none."""
        ...


class WorldSource(Protocol):
    """A source of immutable snapshots."""

    def snapshot(self) -> World:
        """Return the newest known world; never blocks."""
        ...

    def world_T_base(self) -> Pose:
        """Return the pose of the arm's base."""
        ...


class FrameSource(Protocol):
    """A source of transforms between frames by their names. Safe from any thread; never waits."""

    def lookup(self, target: str, source: str, field: str = "") -> Pose:
        """Return the newest pose of a frame in another one.

        Args:
            target: Name of the frame in which the pose is expressed.
            source: Name of the frame whose pose is returned.
            field: Name of the goal's field for the outcome of an error.

        Returns:
            target_T_source.

        Raises:
            HandiworkError: A frame is unknown, its newest transform is too old, or the two are not connected.
        """
        ...

    def known(self) -> list[str]:
        """Return the names of all frames, sorted."""
        ...


class Clock(Protocol):
    """The time of the robot's world: simulated time in simulation."""

    def now_s(self) -> float:
        """Return the time, s."""
        ...

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """Return after a time of this clock, at once when stopped.

        Args:
            seconds: Duration, s of this clock.
            should_stop: Turns true when the wait is to end.
        """
        ...
