"""What a skill may ask of the outside world. Robots, simulators and fakes implement these; skills see nothing else.

Every call may block and is made from a worker thread; each returns within 50 ms after ``should_stop`` turns true.
"""

from __future__ import annotations

from typing import Protocol

from handiwork_core.model.geometry import Pose
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
        """See ``Engine.plan``."""
        ...

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Engine.check_candidates``."""
        ...

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Engine.validate``; the start is the measured configuration."""
        ...

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """Judge what is left of a motion that was validated and is under way, in a world as new as ``rest`` says.

        A planner that has not received that world yet answers with Code.STALE_WORLD.
        """
        ...


class Arm(Protocol):
    """One arm with its trajectory controller."""

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """Return when the controller reports the end. When stopped, brake and return only once the arm is at rest."""
        ...

    def stop(self) -> Outcome:
        """Bring the arm to rest; OK once measured velocities are near zero."""
        ...


class Gripper(Protocol):
    """One parallel gripper; ``width`` is the opening between the pads [m]."""

    def move(self, width_m: float, *, should_stop: ShouldStop) -> Outcome:
        """Go to a width. Closing on an object stalls, which is OK: whether something is held is measured elsewhere."""
        ...


class WorldSource(Protocol):
    """Gives immutable snapshots."""

    def snapshot(self) -> World:
        """The newest known world; never blocks."""
        ...

    def world_T_base(self) -> Pose:
        """Where the arm's base stands."""
        ...


class Clock(Protocol):
    """Time of the robot's world: simulated time in simulation."""

    def now_s(self) -> float:
        """Seconds."""
        ...

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """Return after ``seconds`` of this clock, at once when stopped."""
        ...
