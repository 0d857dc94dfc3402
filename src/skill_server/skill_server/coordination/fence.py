"""Ports that refuse an abandoned body.

A body that does not react to its token is abandoned once the arm was stopped: its token is revoked and the arm takes
the next goal. The body's thread cannot be ended, but from then on each call of its ports raises ``Stopped``. A motion
that it requests while the token is revoked is not sent, since ``should_stop`` is true from then on and the arm port
checks it right before it sends.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import (
    Attachment,
    CandidatesRequest,
    CandidatesResult,
    PathRest,
    PlanRequest,
    PlanResult,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.contracts.ports import (
    Arm,
    Clock,
    Compliance,
    Gripper,
    NavigationGoal,
    Navigator,
    Planner,
)
from handiwork_core.contracts.reactive import Reactive
from handiwork_core.contracts.skill import Stopped, Token
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.trajectory import Trajectory


def _pass(token: Token) -> None:
    """Raise Stopped once the token is revoked."""
    if token.is_revoked:
        raise Stopped(token.reason, token.detail)


def _either(token: Token, should_stop: ShouldStop) -> ShouldStop:
    return lambda: token.is_revoked or should_stop()


@dataclass(frozen=True)
class FencedArm:
    """An arm, or a mobile base, for one run."""

    arm: Arm
    token: Token

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``.

        Args:
            trajectory: Motion to follow.
            should_stop: True ends the motion.

        Returns:
            The outcome of the arm.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        outcome = self.arm.follow(trajectory, should_stop=_either(self.token, should_stop))
        _pass(self.token)
        return outcome

    def stop(self) -> Outcome:
        """See ``Arm.stop``. An abandoned body must not stop the motion of its successor either."""
        _pass(self.token)
        return self.arm.stop()


@dataclass(frozen=True)
class FencedNavigator:
    """The navigation server of a mobile base for one run."""

    navigator: Navigator
    token: Token

    def navigate(self, goal: NavigationGoal, *, should_stop: ShouldStop) -> Outcome:
        """See ``Navigator.navigate``.

        Args:
            goal: The pose.
            should_stop: True ends the drive.

        Returns:
            The outcome of the server.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        outcome = self.navigator.navigate(goal, should_stop=_either(self.token, should_stop))
        _pass(self.token)
        return outcome

    def stop(self) -> Outcome:
        """See ``Navigator.stop``."""
        _pass(self.token)
        return self.navigator.stop()


@dataclass(frozen=True)
class FencedCompliance:
    """An admittance controller for one run."""

    compliance: Compliance
    token: Token

    def set_admittance(self, settings: AdmittanceSettings, *, should_stop: ShouldStop) -> Outcome:
        """See ``Compliance.set_admittance``.

        Args:
            settings: The parameters.
            should_stop: True ends the call.

        Returns:
            The outcome of the controller.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        return self.compliance.set_admittance(settings, should_stop=_either(self.token, should_stop))

    def set_wrench(self, wrench: Array) -> None:
        """See ``Compliance.set_wrench``.

        Args:
            wrench: Wrench in the EE frame, (6,), N and Nm.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        self.compliance.set_wrench(wrench)

    def wrench(self) -> Array | None:
        """See ``Compliance.wrench``."""
        return self.compliance.wrench()


@dataclass(frozen=True)
class FencedReactive:
    """The reactive topic of an arm for one run."""

    reactive: Reactive
    token: Token

    def fault(self) -> str:
        """See ``Reactive.fault``."""
        return self.reactive.fault()

    def send(self, q: Array, v: Array, stamp_s: float, due_s: Array) -> None:
        """See ``Reactive.send``.

        Args:
            q: Positions, (n, dof), rad or m.
            v: Velocities, (n, dof), rad/s or m/s.
            stamp_s: Time to which ``due_s`` refers, s.
            due_s: Time until each point, (n,), s.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        self.reactive.send(q, v, stamp_s, due_s)


@dataclass(frozen=True)
class FencedGripper:
    """A gripper for one run."""

    gripper: Gripper
    token: Token

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper.move``.

        Args:
            width_m: Opening, m.
            force_n: Largest force of a finger, N; 0: the gripper's greatest.
            should_stop: True ends the motion.

        Returns:
            The outcome of the gripper.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        outcome = self.gripper.move(width_m, force_n=force_n, should_stop=_either(self.token, should_stop))
        _pass(self.token)
        return outcome


@dataclass(frozen=True)
class FencedPlanner:
    """A planner for one run."""

    planner: Planner
    token: Token

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """See ``Planner.plan``.

        Args:
            request: Request.
            should_stop: True ends the request.

        Returns:
            The result.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        return self.planner.plan(request, should_stop=_either(self.token, should_stop))

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """See ``Planner.check_candidates``.

        Args:
            request: Request.
            should_stop: True ends the request.

        Returns:
            The result.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        return self.planner.check_candidates(request, should_stop=_either(self.token, should_stop))

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate``.

        Args:
            arm: Name of the arm.
            trajectory: Motion to judge.
            scene: Scene of the motion.
            should_stop: True ends the request.

        Returns:
            The verdict.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        return self.planner.validate(arm, trajectory, scene, should_stop=_either(self.token, should_stop))

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """See ``Planner.validate_rest``.

        Args:
            arm: Name of the arm.
            trajectory: Running motion.
            scene: Scene of the motion.
            rest: Rest of the motion, and the changes of the world.
            should_stop: True ends the request.

        Returns:
            The verdict.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        stop = _either(self.token, should_stop)
        return self.planner.validate_rest(arm, trajectory, scene, rest, should_stop=stop)


@dataclass(frozen=True)
class FencedClock:
    """A clock for one run: an abandoned body ends at its next wait."""

    clock: Clock
    token: Token

    def now_s(self) -> float:
        """See ``Clock.now_s``."""
        _pass(self.token)
        return self.clock.now_s()

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """See ``Clock.sleep``.

        Args:
            seconds: Time of the robot's world, s.
            should_stop: True ends the sleep.

        Raises:
            Stopped: The token is revoked.
        """
        _pass(self.token)
        self.clock.sleep(seconds, should_stop=_either(self.token, should_stop))
        _pass(self.token)


class FencedHeld(MutableMapping[str, Attachment]):
    """The held objects of the arm, kept from run to run; an abandoned body may only read them.

    Args:
        held: Objects, written by the runs of the arm.
        token: Token of the run.
    """

    def __init__(self, held: MutableMapping[str, Attachment], token: Token) -> None:
        self._held, self._token = held, token

    def __getitem__(self, name: str) -> Attachment:
        return self._held[name]

    def __setitem__(self, name: str, attachment: Attachment) -> None:
        _pass(self._token)
        self._held[name] = attachment

    def __delitem__(self, name: str) -> None:
        _pass(self._token)
        del self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._held))

    def __len__(self) -> int:
        return len(self._held)
