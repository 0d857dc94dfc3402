"""A robot with controllers of ros2_control: it is measured, supervised, and sent windows. Without ROS and threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.joint_groups import (
    ArmAxis,
    GripperAxis,
    JointArrays,
    arm_axes,
)
from handiwork_core.control.trajectory_controller import Phase, TrajectoryController
from handiwork_core.control.trajectory_goal import TrajectoryGoal
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_core.safety.monitor import SafetyMonitor
from handiwork_core.safety.state import Violation
from handiwork_core.safety.supervisor import SafetySupervisor

from .windows import FEWEST_ROWS, LEAD_S, Window, grid, window_of
from .wrenches import Wrenches

WINDOW_PERIOD_S = 0.04
"""The period in which new windows are sent, s."""
STREAM_LEAD_S = 0.1
"""The time for which a streamed motion continues before its stop, s."""
LOST_S = LEAD_S
"""The gap between two measurements from which on nothing is commanded any more, s; the arm ends its last window.

During a shorter gap the arm follows its path in that window, and the path's time advances with it.
"""
USUAL_STEP_S = 0.01
"""The largest time between two measurements, unless one is late, s."""
CHECK_S = 0.01
"""The distance of the points at which a goal is checked, s."""


class CheckedController(TrajectoryController):
    """A trajectory controller that refuses a goal if any of its moments violates a limit of the safety layer.

    Attributes:
        robot: The robot that checks goals.
        arm: Name of the arm.
    """

    robot: SupervisedRobot
    arm: str

    def start(self, goal: TrajectoryGoal, measured: Array) -> None:
        """Begin a goal if no moment of it violates a limit; see ``TrajectoryController.start``.

        Args:
            goal: The goal.
            measured: Measured joint positions, (dof,), rad or m.

        Raises:
            GoalRefused: See ``TrajectoryController.start``; or a moment violates a limit of the safety layer.
        """
        super().start(goal, measured)
        path = self.path
        assert path is not None
        times = np.arange(0.0, path.duration_s + CHECK_S, CHECK_S, dtype=np.float64)
        at = np.minimum(times, path.duration_s)
        rows = path.position(at), path.velocity(at)
        violation, when = self.robot.first_violation(self.arm, times, *rows, is_sent_whole=True)
        if violation is not None:
            self.phase = Phase.HOLD
            text = f"{violation.text}, {when:.2f} s after its start; nothing moved"
            raise GoalRefused(ErrorCode.INVALID_GOAL, text)


class SupervisedRobot:
    """A plant (``handiwork_core.control.joint_groups``). Measurements come by ``take``; call ``windows`` after each.

    Args:
        robot: Description of the robot.
        names: Joint names in the order of the joint vector, (n,).
        first: The first measurement.
        config: Limits of the safety layer.
        world_T_root: Pose of the robot's root in the world.
        wrenches: Contact forces of the arms; None if they are not measured.
    """

    def __init__(
        self,
        robot: Robot,
        names: Sequence[str],
        first: JointArrays,
        config: SafetyConfig,
        world_T_root: Pose,
        wrenches: Wrenches | None = None,
    ) -> None:
        self.wrenches = wrenches
        self.grippers: dict[str, GripperAxis] = {}
        self.arms: dict[str, ArmAxis] = {}
        for name, axis in arm_axes(robot, names, first.position).items():
            ready = axis.controller
            controller = CheckedController(ready.limits, first.position[axis.indices], ready.tolerances)
            controller.robot, controller.arm = self, name
            if wrenches is not None and name in robot.arms:
                controller.measure_force = partial(wrenches.newest, name)
            self.arms[name] = ArmAxis(controller, axis.indices)
        self.safety = SafetySupervisor(
            robot, names, self.arms, self.grippers, first.position, config, world_T_root
        )
        if wrenches is not None:
            self.safety.missing = wrenches.fault
        self._judge = SafetyMonitor(robot, names, replace(config, effort_scale=0.0), world_T_root)
        self._measured = first
        self._sent_s = dict.fromkeys(self.arms, -np.inf)
        self._commanded = dict.fromkeys(self.arms, False)
        self._phases = dict.fromkeys(self.arms, Phase.HOLD)

    def joints(self) -> JointArrays:
        """Return the newest measurement."""
        return self._measured

    def take(self, measured: JointArrays) -> None:
        """Update the controllers with a measurement.

        Args:
            measured: The measurement in the order of ``names``.
        """
        before = self._measured
        step_s = measured.stamp_s - before.stamp_s
        self._measured = measured
        if self.wrenches is not None:
            self.wrenches.advance(step_s)
        if step_s < 0.0 or step_s > LOST_S:
            self.start_over("joint_states paused" if step_s > 0.0 else "time went back")
            return
        if step_s == 0.0:
            return
        if not any(self._commanded.values()):
            self._take_place()
        if not self.safety.commands_all:
            self._update(before, measured, step_s)
        if self.safety.is_active or any(arm.controller.busy for arm in self.arms.values()):
            self._miss_wrenches()
            self.safety.control(measured, self._forces(), step_s)

    def _forces(self) -> Array | None:
        return None if self.wrenches is None else self.wrenches.forces(self.safety.monitor.model.arms)

    def _miss_wrenches(self) -> None:
        """Stop arms that move without the wrenches that their limits of contact force need."""
        fault = None if self.wrenches is None else self.wrenches.fault()
        if fault is not None and not self.safety.is_active:
            self.safety.protective_stop(fault)

    def _take_place(self) -> None:
        """Begin the next motion at the measured positions: arms without a command may have been moved by others."""
        if self.safety.commands_all or any(arm.controller.busy for arm in self.arms.values()):
            return
        position = self._measured.position
        for arm in self.arms.values():
            arm.controller.hold(position[arm.indices], "")
        self.safety.reset(position, self._measured.stamp_s)

    def _update(self, before: JointArrays, measured: JointArrays, step_s: float) -> None:
        """Update the controllers; after a gap as often as usual, with interpolated measurements."""
        count = int(np.ceil(step_s / USUAL_STEP_S - 1e-6))
        for arm in self.arms.values():
            for part in range(1, count + 1):
                if not arm.controller.busy:
                    break
                share = part / count
                q = before.position + share * (measured.position - before.position)
                arm.controller.update(q[arm.indices], measured.velocity[arm.indices], step_s / count)

    def start_over(self, why: str) -> None:
        """Hold the arms at their measured positions; goals are aborted.

        Args:
            why: Reason for the goals' results.
        """
        position = self._measured.position
        for arm in self.arms.values():
            arm.controller.hold(position[arm.indices], why)
        self.safety.reset(position, self._measured.stamp_s)
        self._commanded = dict.fromkeys(self.arms, False)

    def windows(self) -> Iterator[tuple[str, Window]]:
        """Make the windows that must be sent now; an arm without a change has none.

        Yields:
            The name of the arm and its window.
        """
        now_s = self._measured.stamp_s
        for name, arm in self.arms.items():
            phase, is_commanded = arm.controller.phase, arm.controller.busy or self.safety.commands_all
            # A brake is sent at once: until then the arm follows its last window, into what it has touched.
            is_new = phase is not self._phases[name] or is_commanded != self._commanded[name]
            is_new = is_new or self.safety.commands_all
            if not (is_commanded or is_new) or not (is_new or now_s - self._sent_s[name] >= WINDOW_PERIOD_S):
                continue
            self._commanded[name], self._sent_s[name], self._phases[name] = is_commanded, now_s, phase
            window = self._window(arm)
            violation = None if self.safety.commands_all else self._judged(name, window)
            if violation is not None:
                self.safety.protective_stop(violation)
                window = self._window(arm)
            yield name, window

    def _window(self, arm: ArmAxis) -> Window:
        safety = self.safety
        times = grid(1.0)
        stop = safety.stop_ahead(times)
        if stop is None:
            position, rate = safety.command[arm.indices], safety.rate[arm.indices]
            return window_of(arm.controller, position, rate, STREAM_LEAD_S)
        rate = stop[1][:, arm.indices]
        moving = np.flatnonzero(np.abs(rate).max(axis=1) > 0.0)
        rows = min(len(times), int(moving[-1]) + 2 if len(moving) else FEWEST_ROWS)
        rate[rows - 1] = 0.0
        return Window(times[:rows], stop[0][:rows, arm.indices], rate[:rows])

    def _judged(self, name: str, window: Window) -> Violation | None:
        rows = window.times_s, window.position, window.rate
        return self.first_violation(name, *rows, is_sent_whole=False)[0]

    def first_violation(
        self, arm: str, times_s: Array, position: Array, rate: Array, *, is_sent_whole: bool
    ) -> tuple[Violation | None, float]:
        """Find the first point of a motion that violates a limit.

        Args:
            arm: Name of the arm that moves; the others stay at their commanded positions.
            times_s: Rising times, (r,), s.
            position: Joint positions, (r, dof), rad or m.
            rate: Joint velocities, (r, dof), rad/s or m/s.
            is_sent_whole: True: check accelerations, too. Not for a window, whose stop along the path may exceed their
                limits.

        Returns:
            The violation and its time, s; None and 0 if there is none.
        """
        indices, safety = self.arms[arm].indices, self.safety
        last, was = safety.command.copy(), safety.rate.copy()
        last[indices], was[indices] = position[0], rate[0]
        nothing = np.full(len(last), np.nan)
        for row in range(len(times_s)):
            q, qd = last.copy(), was.copy()
            q[indices], qd[indices] = position[row], rate[row]
            step_s = float(times_s[row] - times_s[row - 1]) if row else float(times_s[1] - times_s[0])
            before = was if is_sent_whole else qd
            violation = self._judge.check(
                q, qd, last, before, last, before, nothing, 1.0, safety.config.tool_speed, step_s
            )
            if violation is not None:
                return violation, float(times_s[row])
            last, was = q, qd
        return None, 0.0
