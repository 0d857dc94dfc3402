"""The arm of a skill as the loop of a policy needs it."""

from __future__ import annotations

import math

from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.reactive import Reactive
from handiwork_core.contracts.skill import Context
from handiwork_core.control.trajectory_goal import JointLimits
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec
from handiwork_policy.loop.ports import Pictures
from handiwork_policy.loop.schedule import ScheduleMaker
from skill_server.state import gripper_state

from .fingers import FingerThread
from .pictures import CameraPictures

LAG_S = 0.08
"""Time by which the arm follows behind the end of a step, s: a schedule that comes later by less changes no motion."""
TRANSPORT_S = 0.03
"""Part of the lag that is left for the way of a message to the controller, s."""
LATE_S = 0.04
"""A step that begins later than this is missed, s."""
BACK_S = 1.0
"""A clock that goes back by more than this was reset, s."""


class SkillPort:
    """See ``PolicyPort`` of ``handiwork_policy``.

    Each message is the schedule of a step, see ``ScheduleMaker``; the arm follows it later by ``LAG_S``.

    Args:
        context: Context of the run.
        reactive: Its reactive topic.
        rate_hz: Steps a second.
        cameras: The pictures.
    """

    def __init__(self, context: Context, reactive: Reactive, rate_hz: float, cameras: CameraPictures) -> None:
        self._context, self._reactive, self._cameras = context, reactive, cameras
        self._step_s = 1.0 / rate_hz
        limits = JointLimits.of(context.robot, context.arm_spec)
        self._curve = ScheduleMaker(self._step_s, LAG_S, limits.velocity, limits.acceleration)
        self._begin_s = math.nan
        self._why_stop = ""
        self.fingers = (
            FingerThread(context.gripper, context.clock) if _has_fingers(context.arm_spec) else None
        )

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
        if not self._curve.has_begun:
            self._begin_s = self.now_s()
        made = self._curve.make(q, v)
        first_s = float(made.due_s[0])
        self._reactive.send(made.q, made.v, self._begin_s + LAG_S + first_s, made.due_s - first_s)
        return ""

    def grip(self, width_m: float) -> None:
        """See ``PolicyPort``.

        Args:
            width_m: Opening, m.
        """
        assert self.fingers is not None
        # As late as the arm: fingers that are ahead of it close above what they are to grasp.
        begin_s = self.now_s() if math.isnan(self._begin_s) else self._begin_s
        self.fingers.move(width_m, begin_s + LAG_S)

    def wait_step(self) -> int:
        """See ``PolicyPort``; a step that would begin too late for its message is left out."""
        missed = self._curve.take_missed()
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
        self._curve.advance(missed)
        return missed

    def why_stop(self) -> str:
        """See ``PolicyPort``."""
        token = self._context.token
        if token.is_set():
            return token.detail or token.reason.name.lower()
        fault = self.fingers.fault() if self.fingers is not None else ""
        return fault or self._why_stop


def _has_fingers(arm: ArmSpec) -> bool:
    return arm.gripper is not None and arm.gripper.suction is None
