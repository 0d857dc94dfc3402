"""The arm of a skill as the loop of a policy needs it."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.reactive import Reactive
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from handiwork_policy.loop.ports import Pictures
from skill_server.state import gripper_state

from .fingers import FingerThread
from .pictures import CameraPictures

LAG_S = 0.08
"""Time by which the arm follows behind the end of a step, s: a schedule that comes later by less changes no motion."""
TRANSPORT_S = 0.03
"""Part of the lag that is left for the way of a message to the controller, s."""
LATE_S = 0.04
"""A step that begins later than this is missed, s."""
ALIKE = 1e-6
"""A reference that is farther from the one before than its velocity says has been taken back to the arm, rad or m."""
JOIN_SHARE = 0.5
"""Share of the limits with which the controller goes to such a reference."""
BACK_S = 1.0
"""A clock that goes back by more than this was reset, s."""


class SkillPort:
    """See ``PolicyPort`` of ``handiwork_policy``.

    The arm follows the curve of ``smoothed``, later by ``LAG_S``. Each message has this curve for the step and for the
    brake behind it, which ends at rest: the controller never goes on beyond what the guard has checked.

    Args:
        context: Context of the run.
        reactive: Its reactive topic.
        rate_hz: Steps a second.
        cameras: The pictures.
    """

    def __init__(self, context: Context, reactive: Reactive, rate_hz: float, cameras: CameraPictures) -> None:
        self._context, self._reactive, self._cameras = context, reactive, cameras
        self._step_s = 1.0 / rate_hz
        self._velocity, self._acceleration = _limits(context)
        self._begin_s = math.nan
        self._kept = math.ceil(LAG_S / self._step_s) + 2
        """References that are sent again, since the arm has not passed them."""
        self._past: deque[tuple[Array, Array]] = deque(maxlen=self._kept)
        self._rows: tuple[Array, Array] = (np.empty((0, 0)), np.empty((0, 0)))
        """Positions and velocities from the reference of now on, or from the one that was sent, then the brake."""
        self._is_sent, self._missed = False, 0
        self._why_stop = ""
        self.fingers = FingerThread(context.gripper) if _has_fingers(context.arm_spec) else None

    def now_s(self) -> float:
        """See ``PolicyPort``."""
        return self._context.clock.now_s()

    def snapshot(self) -> World:
        """See ``PolicyPort``."""
        return self._context.world.snapshot()

    def world_T_base(self) -> Pose:
        """See ``PolicyPort``."""
        return self._context.world.world_T_base()

    def held(self) -> tuple[Attachment, ...]:
        """See ``PolicyPort``."""
        robot, arm, world = self._context.robot, self._context.arm_spec, self.snapshot()
        name = gripper_state.held_by_measurement(world, robot, arm)
        return (gripper_state.attachment(world, robot, arm, self.world_T_base(), name),) if name else ()

    def pictures(self) -> Pictures:
        """See ``PolicyPort``."""
        return self._cameras.pictures()

    def lag_s(self, stamp_s: float) -> float:
        """See ``PolicyPort``.

        Args:
            stamp_s: Time at which positions were measured, s.
        """
        begin_s = self.now_s() if math.isnan(self._begin_s) else self._begin_s
        return LAG_S + 0.5 * self._step_s + begin_s - stamp_s

    def is_late(self) -> bool:
        """See ``PolicyPort``."""
        late_s = 0.0 if math.isnan(self._begin_s) else self.now_s() - self._begin_s
        return late_s > LAG_S - TRANSPORT_S

    def send(self, q: Array, v: Array) -> str:
        """See ``PolicyPort``.

        Args:
            q: Positions, (n, dof), rad or m.
            v: Velocities, (n, dof), rad/s or m/s.
        """
        if self._context.token.is_set():  # the arm brakes by the last schedule
            return self.why_stop()
        before = q[0] - self._step_s * v[0]
        if not self._past:
            self._begin_s = self.now_s()
            self._rest_at(before)
        if float(np.abs(self._past[-1][0] - before).max()) > ALIKE:
            self._join(q[-1])
        else:
            self._publish(q, v, np.asarray(self._step_s * np.arange(1, len(q) + 1), dtype=np.float64))
            self._rows, self._is_sent = (q, v), True
        return ""

    def grip(self, width_m: float) -> None:
        """See ``PolicyPort``.

        Args:
            width_m: Opening, m.
        """
        assert self.fingers is not None
        self.fingers.move(width_m)

    def wait_step(self) -> int:
        """See ``PolicyPort``; a step that would begin too late for its message is left out."""
        missed, self._missed = self._missed, 0
        self._begin_s += (1 + missed) * self._step_s
        while not self._context.token.is_set():
            now_s = self.now_s()
            if now_s < self._begin_s - BACK_S - (1 + missed) * self._step_s:
                self._why_stop, self._begin_s = "the clock has jumped back", now_s
            if now_s < self._begin_s:
                self._context.clock.sleep(self._begin_s - now_s, should_stop=self._context.token.is_set)
                continue
            late_s = now_s - self._begin_s
            if late_s <= max(LATE_S, 0.5 * self._step_s):
                break
            late = math.ceil((late_s - LATE_S) / self._step_s)
            missed, self._begin_s = missed + late, self._begin_s + late * self._step_s
        self._advance(missed)
        return missed

    def why_stop(self) -> str:
        """See ``PolicyPort``."""
        token = self._context.token
        if token.is_set():
            return token.detail or token.reason.name.lower()
        fault = self.fingers.fault() if self.fingers is not None else ""
        return fault or self._why_stop

    def _publish(self, q: Array, v: Array, after_s: Array) -> None:
        """Send the curve through the references that the arm has not passed, and through these.

        Args:
            q: Positions, (n, dof), rad or m.
            v: Velocities, (n, dof), rad/s or m/s.
            after_s: Time of each after the beginning of this step, (n,), s.
        """
        rows = np.vstack([[one for one, _ in self._past], q])
        rates = np.vstack([[one for _, one in self._past], v])
        first_s = -(len(self._past) - 1) * self._step_s
        due_s = np.concatenate([first_s + self._step_s * np.arange(len(self._past)), after_s]) - first_s
        stamp_s = self._begin_s + LAG_S + first_s
        self._reactive.send(rows - 0.5 * self._step_s * rates, rates, stamp_s, due_s)

    def _join(self, q: Array) -> None:
        """Let the arm brake, then go back to a reference that was taken back to it; that takes some steps.

        Args:
            q: Positions, (dof,), rad or m.
        """
        brake, rates = self._rows[0][1:], self._rows[1][1:]
        brake, rates = (brake, rates) if len(brake) else (self._rows[0], np.zeros_like(self._rows[1]))
        far = np.abs(brake[-1] - q)
        slow_s = 1.5 * far / (JOIN_SHARE * self._velocity)
        soft_s = np.sqrt(6.0 * far / (JOIN_SHARE * self._acceleration))
        steps = len(brake) + math.ceil(float(np.maximum(slow_s, soft_s).max()) / self._step_s) + 1
        after_s = self._step_s * np.append(np.arange(1, len(brake) + 1), steps)
        self._publish(np.vstack([brake, q]), np.vstack([rates, np.zeros_like(q)]), after_s)
        self._rest_at(q)
        self._is_sent, self._missed = True, steps + self._kept

    def _rest_at(self, q: Array) -> None:
        """Begin with an arm that rests.

        Args:
            q: Positions, (dof,), rad or m.
        """
        still = np.zeros_like(q)
        self._past.extend([(q, still)] * self._kept)
        self._rows = q[None], still[None]

    def _advance(self, missed: int) -> None:
        """Take the references of the steps that are over; in those that were missed the arm has braked.

        Args:
            missed: Number of steps that were missed behind the one that has just ended.
        """
        first, last = int(not self._is_sent), len(self._rows[0]) - 1
        self._is_sent = False
        if not self._past:
            return
        for row in range(first, first + missed + 1):
            self._past.append((self._rows[0][min(row, last)], self._rows[1][min(row, last)]))
        at = min(first + missed, last)
        self._rows = self._rows[0][at:], self._rows[1][at:]


def _limits(context: Context) -> tuple[Array, Array]:
    """Return the velocity and acceleration limits of the arm's joints, (dof,) each."""
    joints = [context.robot.joints[name] for name in context.arm_spec.joint_names]
    return np.array([one.velocity for one in joints]), np.array([one.acceleration for one in joints])


def _has_fingers(arm: ArmSpec) -> bool:
    return arm.gripper is not None and arm.gripper.suction is None
