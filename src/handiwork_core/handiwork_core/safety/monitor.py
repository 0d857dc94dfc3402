"""Supervises every command to a robot against all limits, in each control period. It trusts no controller."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot

from . import kernels
from .config import SafetyConfig
from .kernel_arrays import Scratch
from .robot_model import RobotModel
from .state import Cause, Violation
from .tool_kinematics import fastest_tool

CAUSES = {
    kernels.POSITION: Cause.POSITION,
    kernels.VELOCITY: Cause.VELOCITY,
    kernels.ACCELERATION: Cause.ACCELERATION,
    kernels.EFFORT: Cause.EFFORT,
    kernels.NOT_FINITE: Cause.COMMAND,
}
TEXTS = {
    Cause.POSITION: "joint {name} would come to rest at {value:.4f} at the earliest, beyond its limit {limit:.4f}",
    Cause.VELOCITY: "joint {name} was sent at {value:.3f} /s; the limit is {limit:.3f} /s",
    Cause.ACCELERATION: "joint {name} was sent with an acceleration of {value:.1f} /s^2; the limit is {limit:.1f} /s^2",
    Cause.EFFORT: "joint {name} gave {value:.1f} N*m or N; the limit is {limit:.1f}",
    Cause.COMMAND: "joint {name} has a command or a measurement that is not finite ({value})",
}


class SafetyMonitor:
    """The monitor of one robot. Call ``check`` with each command before it is sent.

    Args:
        robot: The robot.
        names: Joints in the order of the joint vector, (n,).
        config: Limits.
        world_T_root: Pose of the root link.
    """

    def __init__(self, robot: Robot, names: Sequence[str], config: SafetyConfig, world_T_root: Pose) -> None:
        self.config, self.model = config, RobotModel(robot, names, config, world_T_root)
        self._scratch = Scratch.of(self.model.tree)
        self._over_s = np.zeros(len(self.model.supervised))
        self._found = np.zeros(4)
        self._at_stop = np.zeros(len(names))
        self.force = np.zeros((len(self.model.arms), 3))
        self._mean_force = np.zeros_like(self.force)
        self._pressed_s = np.zeros(len(self.model.arms))

    def warm_up(self) -> None:
        """Load or compile the kernels, so that no control period waits for that."""
        still = np.zeros(len(self.model.names))
        self.check(still, still, still, still, still, still, still, 1.0, math.inf, 0.002)
        self.fastest_tool(still[None], still[None])
        self._over_s[:] = 0.0

    def check(
        self,
        command: Array,
        rate: Array,
        last: Array,
        last_rate: Array,
        measured: Array,
        measured_rate: Array,
        effort: Array,
        scale: float,
        tool_limit: float,
        step_s: float,
    ) -> Violation | None:
        """Compare a command with all limits; vectors are in the order of ``names``.

        Args:
            command: Positions to be sent, (n,), rad or m.
            rate: Their velocities, (n,), rad/s or m/s.
            last: Positions sent a period ago, (n,), rad or m.
            last_rate: Their velocities, (n,), rad/s or m/s.
            measured: Measured positions, (n,), rad or m.
            measured_rate: Measured velocities, (n,), rad/s or m/s.
            effort: Efforts of the drives, (n,), Nm or N; nan if they are unknown.
            scale: Share of the velocity limits, below 1 in the reduced mode.
            tool_limit: Greatest speed of a tool centre point, m/s.
            step_s: Control period, s.

        Returns:
            The first violation; None if all values are within the limits.
        """
        model = self.model
        code = kernels.check(
            model.table,
            model.tree,
            model.body,
            model.zones,
            self._scratch,
            command,
            rate,
            last,
            last_rate,
            measured,
            measured_rate,
            effort,
            self._over_s,
            self._at_stop,
            scale,
            tool_limit,
            self.config.zone_margin,
            step_s,
            self.config.effort_time_s,
            self._found,
        )
        return None if code == kernels.NOTHING else self._violation(code)

    def fastest_tool(self, position: Array, rate: Array) -> float:
        """Return the greatest speed of a tool centre point among joint states.

        Args:
            position: Joint positions, (r, n), rad or m.
            rate: Joint velocities, (r, n), rad/s or m/s.

        Returns:
            Speed, m/s.
        """
        model = self.model
        return fastest_tool(model.tree, model.body, position, rate, self._scratch)

    def check_force(self, force: Array, step_s: float) -> Violation | None:
        """Compare the net contact force on each arm with the limits.

        Forces are averaged over ``contact_filter_s``. The limit of ISO/TS 15066's transient contact applies at once,
        that of quasi-static contact after ``contact_time_s``.

        Args:
            force: Net contact forces, (a, 3), N; nan if they are unknown.
            step_s: Control period, s.

        Returns:
            The first violation; None if all forces are within the limits.
        """
        config = self.config
        if config.contact_force <= 0.0 or not len(force):
            return None
        share = min(1.0, step_s / max(config.contact_filter_s, step_s))
        self._mean_force += share * (force - self._mean_force)
        for i, arm in enumerate(self.model.arms):
            newton = math.sqrt(float(self._mean_force[i] @ self._mean_force[i]))
            self._pressed_s[i] = self._pressed_s[i] + step_s if newton > config.contact_force else 0.0
            limit = config.contact_force
            if self._pressed_s[i] <= config.contact_time_s:
                limit = config.transient_force
            if newton > limit:
                text = f"{arm} presses with {newton:.0f} N; the limit is {limit:.0f} N"
                return Violation(Cause.CONTACT_FORCE, arm, newton, limit, text)
        return None

    def lasting(self, cause: Cause, effort: Array) -> Violation | None:
        """Return the violation that lasts while the arms are at rest; causes of motions end with the motion.

        Args:
            cause: Cause of the stop in force.
            effort: Measured efforts, (n,), Nm or N.

        Returns:
            The violation; None if the cause has ended.
        """
        if cause is Cause.CONTACT_FORCE:
            return self._lasting_force()
        if cause is Cause.EFFORT:
            table = self.model.table
            over = np.nan_to_num(np.abs(effort[table.place])) / table.effort
            j = int(np.argmax(over))
            if over[j] > 1.0:
                value = float(over[j] * table.effort[j])
                self._found[:] = j, value, table.effort[j], 0.0
                return self._violation(kernels.EFFORT)
        return None

    def _lasting_force(self) -> Violation | None:
        newtons = np.linalg.norm(self._mean_force, axis=1)
        i, limit = int(np.argmax(newtons)), self.config.contact_force
        if not newtons[i] > limit:
            return None
        text = f"{self.model.arms[i]} still presses with {newtons[i]:.0f} N; the limit is {limit:.0f} N"
        return Violation(Cause.CONTACT_FORCE, self.model.arms[i], float(newtons[i]), limit, text)

    def _violation(self, code: int) -> Violation:
        model, (number, value, limit, group) = self.model, self._found.tolist()
        if code in CAUSES:
            cause, name = CAUSES[code], model.supervised[int(number)]
            return Violation(
                cause, name, value, limit, TEXTS[cause].format(name=name, value=value, limit=limit)
            )
        if code == kernels.TOOL_SPEED:
            name = model.arms[int(number)]
            text = f"the tool of {name} was sent at {value:.3f} m/s; the limit is {limit:.3f} m/s"
            return Violation(Cause.TOOL_SPEED, name, value, limit, text)
        name, link = model.zone_names[int(number)], model.group_links[int(group)]
        text = f"link {link} would come within {value:.3f} m of zone {name!r}; the limit is {limit:.3f} m"
        return Violation(Cause.ZONE, name, value, limit, text)
