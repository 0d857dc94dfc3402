"""Runs a policy to its end: observe, ask, guard, command, judge."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_policy.actions.chunks import ChunkPlan
from handiwork_policy.actions.spec import ActionDecoder
from handiwork_policy.guard.guard import Guard
from handiwork_policy.guard.joint_filter import Motion
from handiwork_policy.protocol.errors import PolicyError, ServerSilent
from handiwork_policy.protocol.worker import Answer
from handiwork_policy.verdicts import result as ends
from handiwork_policy.verdicts.events import OPENED_M, EventWatch
from handiwork_policy.verdicts.progress import Progress
from handiwork_policy.verdicts.result import PolicyResult

from .ports import Inference, Judge, PolicyPort
from .settings import PolicySettings
from .state_layout import StateLayout

KEPT_STEPS = 2000
"""Steps whose references are kept, to which late deltas refer."""
PAST_STEPS = 200
"""References that are kept to be compared with the arm, which follows behind."""
GRIP_STEP_M = 0.001
"""A change of the opening below this is not sent, m."""
LARGEST_LEAD = 0.08
"""A reference that is this far from the arm goes back to it, since something holds the arm, rad or m."""
REST = 1e-6
TAKE_S = 0.05
"""Wait for an answer between two looks at whether the run is stopped, s."""


@dataclass
class _End(Exception):
    end: str
    message: str


@dataclass
class PolicyRunner:
    """One run of a policy by one arm.

    Attributes:
        robot: The robot.
        arm: The arm.
        settings: The settings.
        port: The arm with its world.
        inference: The policy.
        judge: The monitor.
    """

    robot: Robot
    arm: ArmSpec
    settings: PolicySettings
    port: PolicyPort
    inference: Inference
    judge: Judge

    def __post_init__(self) -> None:
        settings, robot, arm = self.settings, self.robot, self.arm
        self._decoder = ActionDecoder(
            robot, arm, settings.action_space, settings.gripper, settings.chunk, settings.action_scale
        )
        self._layout = StateLayout(robot, arm, settings.state)
        whole = 0 if settings.asynchronous else settings.execute_steps
        self._plan = ChunkPlan(whole, settings.blend_steps)
        self._progress = Progress(settings.subtasks)
        self._events = EventWatch(robot, settings.guard.may_touch)
        self._latency_s, self._late, self._chunks = list[float](), 0, 0
        self._step_s = list[float]()
        self._kept: deque[tuple[int, Array]] = deque(maxlen=KEPT_STEPS)
        self._past: deque[Array] = deque(maxlen=PAST_STEPS)
        self._width, self._next_ask, self._behind = math.nan, 0, 0

    def prepare(self, world_T_root: Pose) -> None:
        """Ask for the first chunk, and check all that can be checked before anything moves.

        Args:
            world_T_root: Pose of the robot's root link in ``world``.

        Raises:
            PolicyError: Something does not fit; names the field.
        """
        world = self.port.snapshot()
        if fault := self._layout.check(world):
            raise PolicyError(fault, "state")
        unknown = [name for name in self.settings.guard.may_touch if name not in world.objects]
        if unknown:
            text = f"may_touch has {unknown[0]!r}; the known objects are {sorted(world.objects)}"
            raise PolicyError(text, "guard.may_touch")
        self.guard = Guard(
            self.robot, self.arm, world_T_root, 1.0 / self.settings.rate_hz, self.settings.guard
        )
        q = np.array([world.joints.position[name] for name in self.arm.joint_names])
        self._motion = Motion.at_rest(q)
        self._note(-1)
        self.guard.update(world, self.port.world_T_base(), self.port.held(), self._motion)
        self.guard.warm_up(self._motion)
        self._ask(-1)
        answer, left = None, math.ceil(self.settings.server_timeout / TAKE_S)
        while answer is None and left > 0 and not self.port.why_stop():
            answer, left = self.inference.take(TAKE_S), left - 1
        if answer is None:
            text = f"the policy server sent no answer within {self.settings.server_timeout:g} s"
            raise ServerSilent(f"{text}; check its load, or raise server_timeout")
        self._take(answer, 0)

    def check_metadata(self, about: Mapping[str, Any]) -> None:
        """Check what a server says about its policy; see ``ActionDecoder``.

        Args:
            about: The server's metadata.

        Raises:
            PolicyError: The policy was made for other actions.
        """
        self._decoder.check_metadata(about)

    def run(self) -> PolicyResult:
        """Run until the condition is confirmed, the time is over, or something fails; then bring the arm to rest."""
        begun_s, step = self.port.now_s(), 0
        try:
            while True:
                time_s, looked_s = self.port.now_s() - begun_s, time.perf_counter()
                self._look(time_s)
                self._check_ends(time_s)
                self._step(step)
                self._step_s.append(time.perf_counter() - looked_s)
                step = self._wait(step + 1)
        except _End as end:
            finished = end
        except PolicyError as error:
            kind = ends.SERVER_SILENT if isinstance(error, ServerSilent) else ends.SERVER_FAULT
            finished = _End(kind, str(error))
        self._rest()
        time_s = self.port.now_s() - begun_s
        self._look(time_s)
        return self._result(finished, step, time_s)

    def look_again(self, found: PolicyResult) -> PolicyResult:
        """Return the result with the verdict of now, after objects have settled.

        Args:
            found: The result at the end of the run.
        """
        self._look(found.duration_s)
        return self._result(_End(found.end, found.message), found.steps, found.duration_s)

    def _look(self, time_s: float) -> None:
        self._progress.update(self.judge.look(), time_s)
        world, held = self.port.snapshot(), self.port.held()
        gripper, is_opening = self.arm.gripper, False
        if gripper is not None and gripper.joint in world.joints.position and not math.isnan(self._width):
            is_opening = self._width > gripper.width(world.joints.position[gripper.joint]) + OPENED_M
        self._events.update(world, held[0].object if held else "", is_opening=is_opening, time_s=time_s)
        self.guard.update(world, self.port.world_T_base(), held, self._motion)

    def _check_ends(self, time_s: float) -> None:
        if self._progress.is_confirmed:
            raise _End(ends.SUCCESS, f"{self.settings.until} is confirmed: {self._progress.verdict}")
        if why := self.port.why_stop():
            raise _End(ends.STOPPED, why)
        if time_s >= self.settings.time_limit:
            text = f"{self.settings.until} was not confirmed within {self.settings.time_limit:g} s"
            raise _End(ends.TIME_OVER, f"{text}: {self._progress.verdict}")

    def _step(self, step: int) -> None:
        if (answer := self.inference.take()) is not None:
            self._take(answer, step)
        if not self.inference.is_busy and (step >= self._next_ask or not self._plan.left(step)):
            self._ask(step)
            if (answer := self.inference.take()) is not None:
                self._take(answer, step)
        self._anchor()
        before, command = self._motion, self._plan.command(step)
        if command is None:
            self._late += 1
            if self.inference.waiting_s() > self.settings.server_timeout:
                text = f"the policy server sent no answer within {self.settings.server_timeout:g} s"
                raise _End(ends.SERVER_SILENT, f"{text}; the arm has braked, check the server's load")
            self._motion = self.guard.brake(self._motion)
        else:
            guarded = self.guard.step(self._motion, command.q)
            self._motion = guarded.motion
            if guarded.refused:
                self._send(before)
                self._wait(step + 1)
                raise _End(ends.GUARD_REFUSED, f"the guard refused a command: {guarded.refused}")
            self._grip(command.width_m)
        self._send(before)
        self._note(step)

    def _wait(self, step: int) -> int:
        """Wait for the next step, and return its number; in steps that were missed the arm has braked."""
        for _ in range(self.port.wait_step()):
            self._late += 1
            self._motion = self.guard.brake(self._motion)
            self._note(step)
            step += 1
        return step

    def _note(self, step: int) -> None:
        """Keep the reference of the end of a step."""
        self._kept.append((step, self._motion.q))
        self._past.append(self._motion.q)

    def _ask(self, step: int) -> None:
        """Send the observation of the beginning of a step; the first action of its chunk is for this step."""
        world, settings = self.port.snapshot(), self.settings
        base = self.port.world_T_base()
        observation: dict[str, Any] = {settings.prompt_key: settings.instruction}
        if settings.state_keys:
            observation |= zip(settings.state_keys, self._layout.parts(world, base), strict=True)
        else:
            observation[settings.state_key] = self._layout.make(world, base)
        try:
            observation |= self.port.pictures() if settings.cameras else {}
        except PolicyError as error:
            if step < 0:
                raise
            raise _End(ends.CAMERA_FAULT, str(error)) from error
        # In lock-step the arm follows half a step behind its reference, as in demonstrations of ``generate``.
        behind = self.port.lag_s(world.joints.stamp_s) * settings.rate_hz - 0.5
        self._behind = max(0, round(behind)) if step >= 0 else 0
        self.inference.ask(max(step - 1, -1), observation)

    def _take(self, answer: Answer, step: int) -> None:
        self._latency_s.append(answer.latency_s)
        if answer.fault is not None:
            raise answer.fault
        chunk = self._decoder.decode(answer.actions or {}, self._kept_at(answer.step))
        # The observed arm was behind its reference, which has passed the first actions. One is left of each chunk.
        late = max(0, step - answer.step - 1)
        observed = answer.step - max(0, min(self._behind, len(chunk) - 1 - late))
        if observed != answer.step and self._decoder.is_relative:
            chunk = self._decoder.decode(answer.actions or {}, self._kept_at(observed))
        self._plan.take(chunk, observed, step)
        self._chunks += 1
        self._next_ask = observed + 1 + (self.settings.execute_steps or len(chunk))

    def _kept_at(self, step: int) -> Array:
        return next((q for at, q in reversed(self._kept) if at <= step), self._motion.q)

    def _anchor(self) -> None:
        """Take the reference back to an arm that something holds: else it would jump once it is free."""
        world = self.port.snapshot()
        q = np.array([world.joints.position[name] for name in self.arm.joint_names])
        if np.abs(self._reference(self.port.lag_s(world.joints.stamp_s)) - q).max() > LARGEST_LEAD:
            self._motion = Motion.at_rest(q)
            self._past.clear()
            self._past.append(q)

    def _reference(self, ago_s: float) -> Array:
        """Return the reference of a moment before the beginning of this step, (dof,)."""
        ago = np.clip(ago_s * self.settings.rate_hz, 0.0, len(self._past) - 1)
        newer = int(ago)
        older, share = min(newer + 1, len(self._past) - 1), ago - newer
        return np.asarray((1.0 - share) * self._past[-1 - newer] + share * self._past[-1 - older])

    def _grip(self, width_m: float) -> None:
        if math.isnan(width_m) or abs(width_m - self._width) < GRIP_STEP_M:
            return
        if self.guard.opening(width_m, self._motion) is None:
            return
        self._width = width_m
        self.port.grip(width_m)

    def _send(self, before: Motion) -> None:
        """Send the reference; where it would come too late, the arm brakes from the one before."""
        if self.port.is_late():
            self._late += 1
            self._motion = self.guard.brake(before)
        elif fault := self.port.send(*self.guard.ahead(self._motion)):
            raise _End(ends.CONTROLLER_REFUSED, f"the controller refused a command: {fault}")

    def _rest(self) -> None:
        """Brake to rest, by commands as all others."""
        while np.abs(self._motion.v).max() > REST:
            before, self._motion = self._motion, self.guard.brake(self._motion)
            try:
                self._send(before)
            except _End:
                return
            self._wait(0)

    def _result(self, end: _End, steps: int, time_s: float) -> PolicyResult:
        progress, counts = self._progress, self.guard.counts
        p50, p95 = np.percentile(self._latency_s, [50, 95]) if self._latency_s else (0.0, 0.0)
        own = np.percentile(self._step_s, [50, 95, 99]) if self._step_s else np.zeros(3)
        return PolicyResult(
            end.end,
            end.message,
            progress.is_confirmed,
            progress.confirmed_s is not None,
            progress.first_true_s,
            progress.confirmed_s,
            progress.peak,
            progress.final,
            progress.verdict,
            progress.subtasks(),
            tuple(self._events.events),
            time_s,
            steps,
            self._chunks,
            self._late,
            (1e3 * float(p50), 1e3 * float(p95), 1e3 * max(self._latency_s, default=0.0)),
            (1e3 * float(own[0]), 1e3 * float(own[1]), 1e3 * float(own[2])),
            counts.shown(),
            counts.changed,
            dict(counts.reasons.most_common(8)),
            tuple(round(1e3 * one, 3) for one in self._latency_s),
        )
