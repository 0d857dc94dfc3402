"""A chaos run: starts a stack, sends one goal after the other while faults are injected, and collects the findings."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from handiwork_cli.chaos.machine import burners
from handiwork_cli.chaos.trials import GoalKind, Trial, draw_trial
from handiwork_cli.chaos.verdict import (
    BOUND_S,
    RECOVERY_BOUND_S,
    SETTLE_S,
    Findings,
    TrialEnding,
    UnaskedMotion,
)
from handiwork_cli.processes.memory import MemoryWatch
from handiwork_cli.stack.demo_cells import robot_of, stack_arguments, target_of
from handiwork_cli.stack.stack import NODES, Stack, StackError
from handiwork_core.model.outcome import Code

from .goals import Place3, TrialScene, contradiction_of, message_of, position_from
from .injector import Injector
from .intrusions import WALL

if TYPE_CHECKING:
    from .observer import Observer

POLL_S = 0.02
LATE_SUCCESS_S = 3.0
"""The time for which a goal that the client gave up is watched for a success at the server, s."""


@dataclass(frozen=True, slots=True)
class ChaosPlan:
    """The settings of a run. It ends after ``goals`` goals or ``minutes`` of steady time, whichever is first.

    Attributes:
        robot: Name of the robot.
        seed: Gives the same goals and faults again.
        goals: Largest number of goals.
        minutes: Largest time, min.
        load: Number of processes that only use processor time.
        real_time_factor: Simulated seconds per second.
    """

    robot: str
    seed: int
    goals: int
    minutes: float
    load: int
    real_time_factor: float


def run_campaign(plan: ChaosPlan, write: Callable[[str], None], log: Callable[[str], None]) -> Findings:
    """Run the trials; a KeyboardInterrupt ends them early.

    Args:
        plan: The settings.
        write: Receives a line for each trial.
        log: Receives the output lines of the stack's processes.

    Returns:
        The findings, without the trial that was interrupted.

    Raises:
        StackError: The stack did not start.
    """
    arguments = stack_arguments(plan.robot, robot_of(plan.robot), "")
    arguments["real_time_factor"] = str(plan.real_time_factor)
    findings = Findings(plan.seed)
    try:
        with burners(plan.load), Stack(arguments, write=log) as stack:
            stack.wait_active()
            Campaign(plan, stack, findings).run(write)
    except KeyboardInterrupt:
        findings.is_cut_short = True
    return findings


class Campaign:
    """One stack under trial.

    Args:
        plan: The settings.
        stack: The running stack.
        findings: Receives the endings and measurements.
    """

    def __init__(self, plan: ChaosPlan, stack: Stack, findings: Findings) -> None:
        from rclpy.action import ActionClient

        from control_msgs.action import FollowJointTrajectory

        self._plan, self._stack, self._findings = plan, stack, findings
        robot = robot_of(plan.robot)
        self._target = target_of(robot, "")
        arm = robot.arm(self._target.arm)
        self._joints = arm.joint_names
        self._observer: Observer = self._observe(robot.name)
        self._lifted = ActionClient(
            stack.client.node, FollowJointTrajectory, f"{arm.controller}/follow_joint_trajectory"
        )
        self._scene = TrialScene(self._target, self._position)
        self._holds = False
        self._memory = MemoryWatch(NODES, stack.runner.pid)

    def run(self, write: Callable[[str], None]) -> None:
        """Run all trials and write the measurements into the findings.

        Args:
            write: Receives a line for each trial.
        """
        end_s = time.monotonic() + 60.0 * self._plan.minutes
        try:
            for index in range(self._plan.goals):
                if time.monotonic() > end_s:
                    break
                ending = self._trial(index)
                self._findings.endings.append(ending)
                faults = "; ".join(fault.text for fault in ending.trial.faults) or "no fault"
                marks = "".join(f"  <-- {fault}" for fault in ending.faults)
                end = f"{ending.code.name}, {ending.took_s:.1f} s{marks}"
                write(f"{index + 1} {ending.trial.goal.value} ({faults}): {end}")
        finally:  # also where it is interrupted
            self._finish()

    def draw(self, index: int, *, is_holding: bool) -> Trial:
        """Return a trial.

        Args:
            index: Its index.
            is_holding: Whether the hand holds the object.
        """
        return draw_trial(self._plan.seed, index, is_holding=is_holding)

    def _trial(self, index: int) -> TrialEnding:
        """Send one goal, inject its faults, wait for its end and for the recovery of all nodes."""
        trial = self.draw(index, is_holding=self._holds)
        if not self._holds and trial.goal is GoalKind.PICK:
            self._reset(index)
        self._rest(trial)
        before = self._position(self._target.object)
        ending = self._run(trial, before)
        ending = replace(ending, recovery_s=self.recovered())
        self._holds = self._is_holding()
        self._memory.sample()
        return ending

    def _finish(self) -> None:
        self._findings.greatest_force_n = self._observer.greatest_force_n
        self._findings.force_bodies = self._observer.force_bodies
        self._findings.greatest_wall_force_n = self._observer.greatest_wall_force_n
        self._findings.memory = self._memory.found

    def _run(self, trial: Trial, before: Place3 | None) -> TrialEnding:
        known = self._observer.succeeded()
        trial, code, message, took_s = self.send(trial)
        ended_ok = code is Code.OK
        contradiction = contradiction_of(trial.goal, self._scene, before) if ended_ok else ""
        later = False if ended_ok else self._succeeds_later(known, trial)
        return TrialEnding(trial, code, message, took_s, contradiction, later)

    def send(self, trial: Trial) -> tuple[Trial, Code, str, float]:
        """Send the goal of a trial while its faults are injected.

        Args:
            trial: The trial.

        Returns:
            The trial with the faults that were injected, the reported code and message, and the time that it took [s].
        """
        goal, client, begin_s = message_of(trial.goal, self._target), self._stack.client, time.monotonic()
        send: Any = client.send_task if trial.goal is GoalKind.LARGE_TASK else client.send
        sent = send(goal)
        injector = Injector(
            self._stack, trial, self._joints, self._target, sent.cancel, self._send_lifted, self._shift
        )
        outcome = sent.result(BOUND_S).outcome
        took_s = time.monotonic() - begin_s
        injector.end()
        for reasons, known in (
            (injector.failures, self._findings.not_injected),
            (injector.broken, self._findings.not_as_promised),
        ):
            known.update({f"trial {trial.index}, {fault}": why for fault, why in reasons.items()})
        return replace(trial, faults=tuple(injector.injected)), outcome.code, outcome.message, took_s

    def _succeeds_later(self, known: frozenset[bytes], trial: Trial) -> bool:
        """Return whether the server reports success of a goal that was given up; wait while a goal still runs there."""
        end_s = time.monotonic() + LATE_SUCCESS_S
        while time.monotonic() < end_s and self._observer.running():
            _pause(POLL_S)
        return trial.goal.can_succeed and bool(self._observer.succeeded() - known)

    def _rest(self, trial: Trial) -> None:
        """Wait until measurements of the former motion have arrived, then note any motion without a goal."""
        _pause(SETTLE_S)
        self._observer.clear_motion()
        _pause(SETTLE_S)
        motion = self._observer.motion()
        if motion is not None:
            self._findings.motions.append(UnaskedMotion(trial.index, *motion))

    def recovered(self) -> float | None:
        """Wait until every node is active; return the time [s], or None when one does not come back."""
        begin_s, signs = time.monotonic(), self._stack.client.signs
        while time.monotonic() - begin_s < RECOVERY_BOUND_S:
            if all(signs.is_active(name) for name in NODES) and self._stack.client.wait_ready(0.1):
                return time.monotonic() - begin_s
            _pause(POLL_S)
        return None

    def _reset(self, seed: int) -> None:
        from handiwork_msgs.srv import ResetWorld

        with contextlib.suppress(StackError):
            self._stack.call(ResetWorld, "sim/reset", ResetWorld.Request(seed=seed, randomize=True))

    def _position(self, name: str) -> Place3 | None:
        from simulation_interfaces.srv import GetEntityState

        try:
            return position_from(
                self._stack.call(GetEntityState, "get_entity_state", GetEntityState.Request(entity=name))
            )
        except StackError:
            return None

    def _shift(self, distance_m: float) -> None:
        """Move the object, like a person who reaches in."""
        from simulation_interfaces.srv import GetEntityState, SetEntityState

        name = self._target.object
        answer = self._stack.call(GetEntityState, "get_entity_state", GetEntityState.Request(entity=name))
        answer.state.pose.position.x += distance_m
        self._stack.call(
            SetEntityState, "set_entity_state", SetEntityState.Request(entity=name, state=answer.state)
        )

    def _is_holding(self) -> bool:
        place = self._position(self._target.object)
        table = self._position(self._target.container)
        return place is not None and table is not None and place[2] - table[2] > 0.1

    def _send_lifted(self) -> None:
        from .rogue import send_lifted_tolerance

        send_lifted_tolerance(self._stack.client.node, self._lifted, self._joints, lambda _handle: None)

    def _observe(self, robot: str) -> Observer:
        from .observer import Observer

        fixtures = frozenset({"table", "floor", "pedestal", "bin", "can"})
        return Observer(self._stack.client.node, robot, fixtures, WALL)


def _pause(seconds: float) -> None:
    time.sleep(seconds)  # noqa: TID251 - a chosen moment of the run
