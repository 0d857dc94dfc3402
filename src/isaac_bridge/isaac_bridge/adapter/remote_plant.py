"""A robot behind Isaac Sim's bridge: its controllers, which run at each measurement, and the targets of its drives.

The bridge's commands carry positions alone. A drive then follows late, by damping over stiffness, and holds with a
force of stiffness times distance. So arms are commanded ahead by their speed, and fingers no farther than their grip
force needs. No ROS, no threads.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handiwork_core.control.joint_groups import (
    ArmAxis,
    Indices,
    JointArrays,
    any_busy,
    arm_axes,
    gripper_axes,
)
from handiwork_core.control.trajectory_controller import Phase
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_core.safety.supervisor import SafetySupervisor
from isaac_bridge.adapter.joint_order import moving_joints
from isaac_bridge.adapter.lag_compensation import DriveLead, late_s

LONGEST_STEP = 1.5
"""The largest step of a path after a gap, as a multiple of the usual time between two measurements; a path also
continues to the place of an arm that is ahead. Meanwhile drives moved to their last targets, and waited there."""

STEADY = 0.9
"""The share of its speed below which nothing is learnt from a path."""

AHEAD = 0.8
"""The largest lead as a share of the path tolerance: when the connection ends, an arm moves to its last target."""

PATIENCE_S, PUSH = 0.5, 0.1
"""A path waits for an arm that is behind by nearly the path tolerance, at most for this time of the plant [s]. After
that it continues at least at this share of its speed: a blocked arm then leaves its path, and its goal ends."""

NEWS = 1e-5
"""The least difference from the last command for which a command is sent [rad or m]."""


class RemotePlant:
    """A plant (``joint_groups``). Measurements come by ``take``; after each, ``command`` is called.

    Args:
        robot: The robot.
        first: The first measurement, in the order of ``moving_joints``.
        drive_lag_s: Damping over stiffness of the arms' drives, s: the first estimate of the arms' lead.
        safety: Limits of the safety layer; None for the defaults.
        world_T_base: The robot's base in the world; None for the identity.
    """

    def __init__(
        self,
        robot: Robot,
        first: JointArrays,
        drive_lag_s: float,
        safety: SafetyConfig | None = None,
        world_T_base: Pose | None = None,
    ) -> None:
        names = moving_joints(robot)
        self.arms = arm_axes(robot, names, first.position)
        self.grippers = gripper_axes(robot, names, first.position)
        self.safety = SafetySupervisor(
            robot,
            names,
            self.arms,
            self.grippers,
            first.position,
            # Stiff drives with a new target in each frame saturate in each; that does not measure a load.
            replace(safety or SafetyConfig(), effort_scale=0.0),
            world_T_base or Pose.identity(),
        )
        self._measured, self._step_s = first, 0.0
        self.leads = {name: DriveLead(drive_lag_s) for name in self.arms}
        self._rates, self._waited_s = dict.fromkeys(self.arms, 1.0), dict.fromkeys(self.arms, 0.0)
        self._usual_s = np.inf
        arms, tools = self.arms.values(), self.grippers.values()
        driven = [*(arm.indices for arm in arms), *(tool.indices for tool in tools)]
        self._driven: Indices = np.concatenate(driven)
        self.driven_names = tuple(names[i] for i in self._driven)
        self._target = first.position.copy()
        self._sent: Array | None = None
        self._is_late = True

    def joints(self) -> JointArrays:
        """Return the newest measurement."""
        return self._measured

    def take(self, measured: JointArrays) -> bool:
        """Run the controllers on a measurement.

        Args:
            measured: The measurement, in the order of ``moving_joints``.

        Returns:
            Whether time went back, so the simulation was restarted; then every goal is aborted in place.
        """
        step_s = measured.stamp_s - self._measured.stamp_s
        self._measured = measured
        if step_s < 0.0:
            self.start_over("the simulation was restarted")
            return True
        if step_s > 0.0:
            self._usual_s = min(step_s, 1.02 * self._usual_s)
            self._step_s = min(step_s, LONGEST_STEP * self._usual_s)
            self._control(step_s)
        return False

    def start_over(self, why: str) -> None:
        """Hold the measured positions and abort goals. They are sent, so that they replace a command under way.

        Args:
            why: Reason for the results of the goals.
        """
        position = self._measured.position
        for arm in self.arms.values():
            arm.controller.hold(position[arm.indices], why)
        for gripper in self.grippers.values():
            gripper.controller.hold(float(position[gripper.indices[0]]))
        self.safety.reset(position, self._measured.stamp_s)
        self._target, self._sent, self._is_late = position.copy(), None, False

    def command(self) -> Array | None:
        """Return the positions of ``driven_names``, rad or m; None when there is nothing new to send."""
        if self._is_late and not any_busy(self.arms, self.grippers) and not self.safety.is_active:
            return None  # no goal has moved the robot yet; its drives hold the stage's positions
        self._is_late = False
        self._lead_arms()
        self._press_fingers()
        wanted = self._target[self._driven]
        if self._sent is not None and np.abs(wanted - self._sent).max() < NEWS:
            return None
        self._sent = wanted
        return wanted

    def _control(self, elapsed_s: float) -> None:
        q, qd = self._measured.position, self._measured.velocity
        for name, arm in self.arms.items():
            if arm.controller.busy and not self.safety.commands_all:
                here = q[arm.indices]
                step_s = self._step_of(name, arm, here, elapsed_s)
                self._rates[name] = step_s / elapsed_s
                arm.controller.update(here, qd[arm.indices], step_s)
        self.safety.control(self._measured, None, elapsed_s)
        for gripper in self.grippers.values():
            lead = gripper.indices[0]
            gripper.controller.update(float(q[lead]), float(qd[lead]), self._step_s)

    def _step_of(self, name: str, arm: ArmAxis, here: Array, elapsed_s: float) -> float:
        """Return the time [s] by which a path advances: it waits for a late arm, and follows one that is ahead."""
        step_s, wanted = min(elapsed_s, self._step_s), arm.controller.reference
        if arm.controller.phase not in (Phase.FOLLOW, Phase.BRAKE_ON_PATH):
            return step_s
        behind = wanted.position - here
        late = late_s(behind, wanted.velocity)
        if step_s > STEADY * elapsed_s and self._rates[name] > STEADY:
            self.leads[name].learn(late)
        if late <= 0.0:
            self._waited_s[name] = 0.0
            return min(elapsed_s, step_s - late)
        goes_on_s = waiting(step_s, behind, wanted.velocity, arm.controller.tolerances.path)
        self._waited_s[name] = 0.0 if goes_on_s >= 0.5 * step_s else self._waited_s[name] + elapsed_s
        is_patient = self._waited_s[name] <= PATIENCE_S
        return goes_on_s if is_patient else max(goes_on_s, PUSH * step_s)

    def _lead_arms(self) -> None:
        for name, arm in self.arms.items():
            limits = arm.controller.limits
            # The output of the safety layer, which equals that of the controller unless it stops the arm.
            position, velocity = self.safety.command[arm.indices], self.safety.rate[arm.indices]
            ahead = self.leads[name].seconds * self._rates[name] * velocity
            most = AHEAD * arm.controller.tolerances.path
            place = position + ahead * min(1.0, most / max(float(np.abs(ahead).max()), most))
            self._target[arm.indices] = np.clip(place, limits.lower, limits.upper)

    def _press_fingers(self) -> None:
        q = self._measured.position
        for gripper in self.grippers.values():
            wanted = gripper.positions(gripper.controller.reference)
            stiffness = np.array([drive.stiffness for drive in gripper.drives])
            driven = stiffness > 0.0
            room = np.full(len(wanted), np.inf)
            room[driven] = gripper.forces()[driven] / stiffness[driven]
            here = q[gripper.indices]
            self._target[gripper.indices] = np.clip(wanted, here - room, here + room)


def waiting(step_s: float, behind: Array, velocity: Array, tolerance: float) -> float:
    """Return the time by which a path advances for an arm that is behind.

    The path slows down from half of the tolerance on, and never uses more than half of the rest by itself.

    Args:
        step_s: Largest time, s.
        behind: Reference minus measured positions, (dof,), rad or m.
        velocity: Velocity of the reference, (dof,), rad/s or m/s.
        tolerance: Path tolerance, rad or m.

    Returns:
        Time in s, 0 to ``step_s``.
    """
    room = tolerance - float(np.abs(behind).max())
    speed = float(np.abs(velocity).max())
    if room >= 0.5 * tolerance:
        wanted = min(step_s, 0.9 * room / speed)
    else:
        wanted = min(2.0 * room / tolerance * step_s, 0.5 * room / speed)
    return max(0.0, wanted)
