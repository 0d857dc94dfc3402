"""The safety layer in the command path: controllers propose commands, and it decides which are sent to the robot."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from handiwork_core.control.goal_refusal import ErrorCode, GoalRefused
from handiwork_core.control.joint_groups import ArmAxis, GripperAxis, JointArrays
from handiwork_core.control.trajectory_controller import Ending, Reference
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.thresholds import JOINT_REST, REST_TIME_S
from handiwork_core.robot.robot import Robot

from .braking import ControlledStop
from .config import SafetyConfig
from .monitor import SafetyMonitor
from .pace import reduced_scale
from .state import MEASURED, Cause, Mode, SafetyStateMachine, SafetyStatus, Violation

LONGEST_SETTLING_S = 2.0
"""Time after which a stop counts as ended, even if an external force still moves the arms, s."""

CODES = {Mode.PROTECTIVE_STOP: ErrorCode.PROTECTIVE_STOP, Mode.EMERGENCY_STOP: ErrorCode.EMERGENCY_STOP}


class SafetySupervisor:
    """Supervises the commands of the controllers; belongs to the thread that controls the robot.

    Attributes:
        command: Positions that the robot is to take, (n,), rad or m.
        rate: Their velocities, (n,), rad/s or m/s.
        on_change: Functions that are called, on the same thread, with every new status.
        missing: Returns the measurement without which no motion may begin now; None while none is missing.

    Args:
        robot: The robot.
        names: Joints in the order of the joint vector, (n,).
        arms: Controllers of arms and base, by name.
        grippers: Controllers of grippers, by name.
        start: Measured joint positions, (n,), rad or m.
        config: Limits.
        world_T_root: Pose of the root link.
    """

    def __init__(
        self,
        robot: Robot,
        names: Sequence[str],
        arms: Mapping[str, ArmAxis],
        grippers: Mapping[str, GripperAxis],
        start: Array,
        config: SafetyConfig,
        world_T_root: Pose,
    ) -> None:
        self.config = config
        self.monitor = SafetyMonitor(robot, names, config, world_T_root)
        self.monitor.warm_up()
        self.on_change: list[Callable[[SafetyStatus], None]] = []
        self.missing: Callable[[], Violation | None] = lambda: None
        self._machine = SafetyStateMachine()
        self._arms, self._grippers = arms, grippers
        self._index = self.monitor.model.table.place
        self._stop: ControlledStop | None = None
        self._still_s = self._settling_s = 0.0
        self._paced: dict[str, object] = {}
        self._no_effort = np.full(len(names), np.nan)
        self.reset(start, 0.0)

    @property
    def status(self) -> SafetyStatus:
        """The present state."""
        return self._machine.status

    @property
    def is_active(self) -> bool:
        """True while a stop is in force, so that the arms are supervised although no controller works."""
        return self._stop is not None or self.status.is_stopped

    @property
    def commands_all(self) -> bool:
        """True while the safety layer itself commands all arms."""
        return self._stop is not None

    def refusal(self) -> GoalRefused | None:
        """Return the reason why no motion may begin now; None if motions may begin."""
        status = self.status
        if status.is_stopped:
            return GoalRefused(CODES[status.mode], status.reason)
        missing = self.missing()
        return (
            None if missing is None else GoalRefused(ErrorCode.PROTECTIVE_STOP, f"not moved: {missing.text}")
        )

    def reset(self, position: Array, now_s: float) -> None:
        """Take measured positions as commanded, in a world that was reset. A stop stays in force.

        Args:
            position: Measured positions, (n,), rad or m.
            now_s: The plant's time, s.
        """
        self.command, self.rate = position.copy(), np.zeros(len(position))
        self._last, self._last_rate = self.command.copy(), self.rate.copy()
        self._now_s = now_s
        if self._stop is not None:
            self._end_stop()

    def control(self, joints: JointArrays, force: Array | None, step_s: float) -> None:
        """Check the commands of the controllers; afterwards ``command`` and ``rate`` may be sent.

        Update the controllers before, unless ``commands_all``: then their commands are not used.

        Args:
            joints: Measurement, in the order of the joint vector.
            force: Net contact force on each arm, (a, 3), N; None if it is not measured.
            step_s: Control period, s.
        """
        self._now_s = joints.stamp_s
        pressing = None if force is None else self.monitor.check_force(force, step_s)
        if self._stop is None and not self.status.is_stopped:
            self._set_pace()
            self._take_references(joints)
            violation = pressing or self._check(joints, step_s)
            if violation is not None:
                self._trip(violation, joints)
        if self._stop is not None:
            self._brake(self._stop, joints, step_s)
        self._last, self.command = self.command, self._last
        self._last_rate, self.rate = self.rate, self._last_rate
        self.command[:], self.rate[:] = self._last, self._last_rate

    def protective_stop(self, violation: Violation) -> None:
        """Stop the arms for a cause that another component has found.

        Args:
            violation: The cause.
        """
        if self._machine.protective_stop(violation, self._now_s):
            self._begin_stop(self._last[self._index], self._last_rate[self._index], violation)

    def emergency_stop(self, source: str) -> None:
        """Stop the arms on request, in any mode.

        Args:
            source: Name of the node or device that requested it.
        """
        if self._machine.emergency_stop(source, self._now_s):
            self._begin_stop(self._last[self._index], self._last_rate[self._index], self.status.violation)

    def stop_ahead(self, times_s: Array) -> tuple[Array, Array] | None:
        """Return the commands of the running stop at later times.

        Args:
            times_s: Times from now, (r,), s.

        Returns:
            Positions, (r, n), rad or m, and velocities, (r, n), rad/s or m/s; None without a stop.
        """
        if self._stop is None:
            return None
        position, rate = np.tile(self.command, (len(times_s), 1)), np.zeros((len(times_s), len(self.command)))
        position[:, self._index], rate[:, self._index] = self._stop.ahead(times_s)
        return position, rate

    def set_pressed(self, *, pressed: bool) -> None:
        """Record whether an emergency stop is held.

        Args:
            pressed: True while it is held.
        """
        if self.status.pressed != pressed:
            self._machine.set_pressed(pressed=pressed)
            self._tell()

    def reset_emergency_stop(self) -> None:
        """Acknowledge an emergency stop.

        Raises:
            Refusal: The present state does not allow it.
        """
        self._machine.reset(self._now_s)
        self._tell()

    def recover(self, effort: Array) -> None:
        """End a protective stop.

        Args:
            effort: Measured efforts of the drives, (n,), Nm or N; empty if they are unknown.

        Raises:
            Refusal: The present state does not allow it, or the cause lasts.
        """
        violation = self.status.violation
        known = effort if len(effort) else self._no_effort
        lasting = None if violation is None else self.monitor.lasting(violation.cause, known)
        if violation is not None and violation.cause is Cause.FEEDBACK:
            lasting = self.missing()
        self._machine.recover(self._now_s, lasting)
        self._tell()

    def set_speed_scale(self, scale: float) -> None:
        """Reduce the speed of running and new motions; 1 ends that.

        Args:
            scale: Share of the requested speed, (0, 1].

        Raises:
            Refusal: ``scale`` is not in (0, 1].
        """
        self._machine.set_speed_scale(scale, self._now_s)
        self._paced.clear()
        self._tell()

    def _take_references(self, joints: JointArrays) -> None:
        """Take the controllers' references; for grippers, which follow their own law, take measured positions."""
        for arm in self._arms.values():
            reference: Reference = arm.controller.command
            self.command[arm.indices] = reference.position
            self.rate[arm.indices] = reference.velocity if arm.controller.busy else 0.0
        for gripper in self._grippers.values():
            self.command[gripper.indices] = joints.position[gripper.indices]

    def _set_pace(self) -> None:
        """Let controllers slow down in the reduced mode; the limits are supervised nevertheless."""
        scale = self.status.speed_scale
        for name, arm in self._arms.items():
            path = arm.controller.path
            if name in self._paced and self._paced[name] is path:
                continue
            self._paced[name] = path
            limit = self.config.reduced.tool_speed if scale < 1.0 else math.inf
            arm.controller.speed_scale = reduced_scale(self.monitor, arm, self._last, scale, limit)

    def _check(self, joints: JointArrays, step_s: float) -> Violation | None:
        status, reduced = self.status, self.config.reduced
        is_reduced = status.mode is Mode.REDUCED and self._now_s >= status.since_s + reduced.transition_s
        return self.monitor.check(
            self.command,
            self.rate,
            self._last,
            self._last_rate,
            joints.position,
            joints.velocity,
            joints.effort if len(joints.effort) else self._no_effort,
            status.speed_scale if is_reduced else 1.0,
            reduced.tool_speed if is_reduced else self.config.tool_speed,
            step_s,
        )

    def _trip(self, violation: Violation, joints: JointArrays) -> None:
        if violation.cause in MEASURED:
            start, rate = joints.position[self._index], joints.velocity[self._index]
            most = self.monitor.model.table.velocity
            rate = np.clip(rate, -most, most)
        else:
            start, rate = self._last[self._index], self._last_rate[self._index]
        if self._machine.protective_stop(violation, self._now_s):
            self._begin_stop(start, rate, violation)

    def _begin_stop(self, position: Array, rate: Array, violation: Violation | None) -> None:
        """Brake from the last accepted command, or from the measured arm. A running stop continues."""
        if self._stop is None:
            table = self.monitor.model.table
            self._stop = ControlledStop(position, rate, table.deceleration, table.lower, table.upper)
            self._still_s = self._settling_s = 0.0
        text = violation.text if violation is not None else ""
        for gripper in self._grippers.values():
            at = float(self._last[gripper.indices[0]])
            gripper.controller.stop(Ending.ABORTED, at, f"{self.status.reason or text}")
        self._tell()

    def _brake(self, stop: ControlledStop, joints: JointArrays, step_s: float) -> None:
        stop.advance(step_s)
        self.command[:], self.rate[:] = joints.position, 0.0
        self.command[self._index], self.rate[self._index] = stop.position, stop.rate
        if not stop.is_over:
            return
        self._settling_s += step_s
        is_still = bool((np.abs(joints.velocity[self._index]) <= JOINT_REST).all())
        self._still_s = self._still_s + step_s if is_still else 0.0
        if self._still_s >= REST_TIME_S or self._settling_s >= LONGEST_SETTLING_S:
            self._end_stop()

    def _end_stop(self) -> None:
        """End the goals of the arms, which are at rest, with the reason, and hold."""
        status = self.status
        for arm in self._arms.values():
            code = CODES.get(status.mode, ErrorCode.PROTECTIVE_STOP)
            arm.controller.hold(self.command[arm.indices].copy(), status.reason, code)
        self._stop = None
        self._machine.set_at_rest(at_rest=True, now_s=self._now_s)
        self._tell()

    def _tell(self) -> None:
        for callback in self.on_change:
            callback(self.status)


def lost_lease(holder: str, arms: Sequence[str], timeout_s: float) -> Violation:
    """Return the violation of a lease whose holder fell silent.

    Args:
        holder: Name of the holder.
        arms: Arms that followed its goal.
        timeout_s: Silence of the holder, s.
    """
    text = (
        f"the heartbeat of {holder} was lost for {timeout_s:.2f} s while {', '.join(arms)} followed its goal"
    )
    return Violation(Cause.HEARTBEAT, holder, timeout_s, timeout_s, text)
