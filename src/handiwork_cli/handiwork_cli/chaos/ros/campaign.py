"""A chaos run: starts a stack, sends one goal after the other while faults are injected, and collects the findings."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handiwork_cli.chaos.trials import GoalKind, Trial, draw_trial
from handiwork_cli.chaos.verdict import (
    BOUND_S,
    RECOVERY_BOUND_S,
    SETTLE_S,
    Findings,
    Memory,
    TrialEnding,
    UnaskedMotion,
)
from handiwork_cli.stack.demo_cells import robot_of, stack_arguments, target_of
from handiwork_cli.stack.stack import NODES, Stack, StackError

from .goals import Place3, TrialScene, contradiction_of, message_of, position_from
from .injector import Injector

if TYPE_CHECKING:
    from .observer import Observer

POLL_S = 0.02
LATE_SUCCESS_S = 3.0
"""The time for which a goal that the client gave up is watched for a success at the server, s."""
BURN = "while True: pass"
KILO = 1024


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
    """Run the trials.

    Args:
        plan: The settings.
        write: Receives a line for each trial.
        log: Receives the output lines of the stack's processes.

    Returns:
        The findings.

    Raises:
        StackError: The stack did not start.
    """
    arguments = stack_arguments(plan.robot, robot_of(plan.robot), "")
    arguments["real_time_factor"] = str(plan.real_time_factor)
    findings = Findings(plan.seed)
    with burners(plan.load), Stack(arguments, write=log) as stack:
        stack.wait_active()
        campaign = _Campaign(plan, stack, findings)
        end_s = time.monotonic() + 60.0 * plan.minutes
        for index in range(plan.goals):
            if time.monotonic() > end_s:
                break
            ending = campaign.trial(index)
            findings.endings.append(ending)
            faults = "; ".join(fault.text for fault in ending.trial.faults) or "no fault"
            marks = "".join(f"  <-- {fault}" for fault in ending.faults)
            write(
                f"{index + 1} {ending.trial.goal.value} ({faults}): {ending.code.name}, {ending.took_s:.1f} s{marks}"
            )
        campaign.finish()
    return findings


@contextlib.contextmanager
def burners(count: int) -> Iterator[None]:
    """Keep processes busy while the context lasts.

    Args:
        count: Number of processes.
    """
    started = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


class _Campaign:
    """One stack under trial."""

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
        self._memory: dict[tuple[str, int], list[tuple[float, float]]] = {}

    def trial(self, index: int) -> TrialEnding:
        """Send one goal, inject its faults, wait for its end and for the recovery of all nodes."""
        trial = draw_trial(self._plan.seed, index, is_holding=self._holds)
        if not self._holds and trial.goal is GoalKind.PICK:
            self._reset(index)
        self._rest(trial)
        before = self._position(self._target.object)
        ending = replace(self._run(trial, before), recovery_s=self._recovered())
        self._holds = self._is_holding()
        self._sample_memory()
        return ending

    def finish(self) -> None:
        """Write the measurements of the whole run into the findings."""
        self._findings.greatest_force_n = self._observer.greatest_force_n
        self._findings.force_bodies = self._observer.force_bodies
        self._findings.memory = [
            Memory(node, pid, tuple(samples)) for (node, pid), samples in self._memory.items()
        ]

    def _run(self, trial: Trial, before: Place3 | None) -> TrialEnding:
        goal, client = message_of(trial.goal, self._target), self._stack.client
        known, begin_s = self._observer.succeeded(), time.monotonic()
        send: Any = client.send_task if trial.goal is GoalKind.LARGE_TASK else client.send
        sent = send(goal)
        injector = Injector(self._stack, trial, self._joints, sent.cancel, self._send_lifted, self._shift)
        report = sent.result(BOUND_S)
        took_s = time.monotonic() - begin_s
        injector.end()
        failed = {f"trial {trial.index}, {fault}": why for fault, why in injector.failures.items()}
        self._findings.not_injected.update(failed)
        trial = replace(trial, faults=tuple(injector.injected))
        ended_ok = report.outcome.ok
        contradiction = contradiction_of(trial.goal, self._scene, before) if ended_ok else ""
        later = False if ended_ok else self._succeeds_later(known, trial)
        return TrialEnding(trial, report.outcome.code, report.outcome.message, took_s, contradiction, later)

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

    def _recovered(self) -> float | None:
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
        return Observer(self._stack.client.node, robot, fixtures)

    def _sample_memory(self) -> None:
        now_s = time.monotonic()
        for node in NODES:
            pid = self._stack.runner.pid(node)
            size = None if pid is None else resident_bytes(pid)
            if pid is not None and size is not None:
                self._memory.setdefault((node, pid), []).append((now_s, size))


def resident_bytes(pid: int) -> float | None:
    """Return the resident memory of a process.

    Args:
        pid: The process id.

    Returns:
        Memory in bytes; None when the process has ended.
    """
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    rows = [line.split() for line in text.splitlines() if line.startswith("VmRSS:")]
    return float(rows[0][1]) * KILO if rows else None


def _pause(seconds: float) -> None:
    time.sleep(seconds)  # noqa: TID251 - a chosen moment of the run


def load_now() -> float:
    """Return the mean number of processes that were ready to run in the last minute."""
    return os.getloadavg()[0]
