"""The arm of a skill as the loop of a policy needs it."""

from __future__ import annotations

import math

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

LAG_S = 0.06
"""Time by which the arm follows behind the end of a step, s: a schedule that comes later by less changes no motion."""
LATE_S = 0.04
"""A step that begins later than this, and than half of it, is missed, s; the rest of the lag is for the transport."""
ALIKE = 1e-6
"""A reference that is farther from the one before than its velocity says has been taken back to the arm, rad or m."""
JOIN_SHARE = 0.5
"""Share of the velocity limits with which the controller goes to such a reference."""
PEAK = 1.5
"""Greatest velocity of a cubic from rest to rest, as a factor on the mean."""
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
        self._velocity = _velocities(context)
        self._begin_s = math.nan
        self._rows: tuple[Array, Array] | None = None
        """Positions and velocities that were sent last: the end of the step, then the brake."""
        self._missed = 0
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

    def send(self, q: Array, v: Array) -> str:
        """See ``PolicyPort``.

        Args:
            q: Positions, (n, dof), rad or m.
            v: Velocities, (n, dof), rad/s or m/s.
        """
        if self._context.token.is_set():  # the arm brakes by the last schedule
            return self.why_stop()
        if math.isnan(self._begin_s):
            self._begin_s = self.now_s()
        before = self._before(q[0] - self._step_s * v[0], v[0])
        due_s = LAG_S + self._step_s * np.arange(1, len(q) + 1)
        if before is None:
            self._missed = self._steps_to_join(q[0])
            due_s = due_s + self._missed * self._step_s
        else:
            q_all, v_all = np.vstack([before[0], q]), np.vstack([before[1], v])
            due_s = np.concatenate([[LAG_S], due_s])
        rows = (q, v) if before is None else (q_all, v_all)
        self._rows = q, v
        self._reactive.send(rows[0] - 0.5 * self._step_s * rows[1], rows[1], self._begin_s, due_s)
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
        self._shift(missed)
        return missed

    def why_stop(self) -> str:
        """See ``PolicyPort``."""
        token = self._context.token
        if token.is_set():
            return token.detail or token.reason.name.lower()
        fault = self.fingers.fault() if self.fingers is not None else ""
        return fault or self._why_stop

    def _before(self, q: Array, v: Array) -> tuple[Array, Array] | None:
        """Return the reference of the beginning of this step; None if it was taken back to the arm since."""
        if self._rows is None:
            still = np.zeros_like(v)
            return q, still
        place, speed = self._rows[0][0], self._rows[1][0]
        return (place, speed) if float(np.abs(place - q).max()) <= ALIKE else None

    def _shift(self, missed: int) -> None:
        """Begin the rows with the reference of now: the arm has braked in the steps that were missed."""
        if self._rows is not None and missed:
            first = min(missed, len(self._rows[0]) - 1)
            self._rows = self._rows[0][first:], self._rows[1][first:]

    def _steps_to_join(self, q: Array) -> int:
        """Return the steps that the controller needs to come from wherever it is on the last schedule."""
        assert self._rows is not None
        far = np.abs(self._rows[0] - q).max(axis=0)
        return math.ceil(float((PEAK * far / (JOIN_SHARE * self._velocity)).max()) / self._step_s)


def _velocities(context: Context) -> Array:
    joints = context.robot.joints
    return np.array([joints[name].velocity for name in context.arm_spec.joint_names])


def _has_fingers(arm: ArmSpec) -> bool:
    return arm.gripper is not None and arm.gripper.suction is None
