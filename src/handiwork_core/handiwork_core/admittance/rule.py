"""The law of an admittance controller, step by step: an offset of the joints that yields to the wrench on the tool.

The same law as in ``admittance_controller`` of ros2_control: the offset is integrated in joint space, and added to the
reference of the controller before it in the chain, which is the joint trajectory controller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handiwork_core.model.geometry import Array, Rotation

from .arm_kinematics import ArmKinematics
from .settings import AdmittanceSettings

TARE_S = 0.02
"""Time after the first axis is selected whose mean wrench counts as that of no contact, s: the arm yields after it."""
SINGULAR = 1e-4
"""Damping of the inverse of the Jacobian, squared: an arm near a singularity yields less, and does not run."""
AT_REST = 1e-4
"""Greatest rate of an offset that is at rest, rad/s or m/s."""
FADE_PER_S = 50.0
"""Deceleration of the offset for each speed, 1/s, once no axis is selected any more."""

NO_WRENCH = np.zeros(6)

MeasureWrench = Callable[[], Array | None]
"""Returns the wrench of the surroundings on the tool in the EE frame, (6,), N and Nm; None if it is not measured."""


class AdmittanceRule:
    """The offset of one arm.

    Attributes:
        settings: The present parameters.
        wrench_reference: Wrench that is added to the measured one, (6,), N and Nm, in the EE frame: the arm moves until
            the surroundings give the opposite.
        offset: Present offset of the joints, (dof,), rad or m.
        rate: Its velocity, (dof,), rad/s or m/s.

    Args:
        kinematics: Kinematics of the arm.
        measure: Measures the wrench.
        fastest: Velocity limits of the joints, (dof,), rad/s or m/s.
        acceleration: Acceleration limits of the joints, (dof,), rad/s^2 or m/s^2.
    """

    def __init__(
        self, kinematics: ArmKinematics, measure: MeasureWrench, fastest: Array, acceleration: Array
    ) -> None:
        self._kinematics, self._measure = kinematics, measure
        self._fastest, self._acceleration = fastest, acceleration
        self.settings = AdmittanceSettings()
        self.wrench_reference: Array = NO_WRENCH
        self.offset: Array = np.zeros(len(fastest))
        self.rate: Array = np.zeros(len(fastest))
        self._tare: Array = np.zeros(6)
        self._count, self._elapsed_s = 0, 0.0
        self._reference: Array = np.full(len(fastest), np.nan)
        self._origin: Array = np.eye(4)

    @property
    def is_active(self) -> bool:
        """True while an axis is selected, or the offset still moves."""
        # An arm at rest is asked several times in a control period: the cheap questions come first.
        return self.settings.yields or (bool(self.rate.any()) and bool(np.abs(self.rate).max() > AT_REST))

    @property
    def is_busy(self) -> bool:
        """True while the offset may move, or is not yet a part of the reference."""
        return self.is_active or bool(self.offset.any())

    @property
    def measures(self) -> bool:
        """True when the wrench is measured."""
        return self._measure() is not None

    def set(self, settings: AdmittanceSettings) -> None:
        """Take new parameters; the arm goes on from where it is.

        Args:
            settings: The parameters.
        """
        if settings.yields and not self.settings.yields:
            self._tare, self._count, self._elapsed_s = np.zeros(6), 0, 0.0
        if not settings.yields:
            self.wrench_reference = NO_WRENCH
        self.settings = settings

    def release(self) -> None:
        """Yield no more, at once; the offset stays."""
        self.set(AdmittanceSettings())
        self.rate = np.zeros(len(self.rate))

    def clear(self) -> None:
        """Yield no more, and forget the offset."""
        self.release()
        self.offset = np.zeros(len(self.offset))

    def update(self, reference: Array, step_s: float) -> None:
        """Advance the offset by one control period.

        Args:
            reference: Reference positions of the joints, (dof,), rad or m.
            step_s: Control period, s.
        """
        if not self.settings.yields:
            self.rate = self.rate * max(0.0, 1.0 - FADE_PER_S * step_s)
            self.offset = self.offset + self.rate * step_s
            return
        wrench = self._measure()
        if wrench is None:
            self.release()
            return
        if self._elapsed_s < TARE_S:
            self._tare, self._count = self._tare + wrench, self._count + 1
            self._elapsed_s += step_s
            return
        wanted = self._acceleration_of(wrench - self._tare / self._count, reference)
        change = np.clip(wanted, -self._acceleration, self._acceleration) * step_s
        self.rate = np.clip(self.rate + change, -self._fastest, self._fastest)
        self.offset = self.offset + self.rate * step_s

    def _acceleration_of(self, wrench: Array, reference: Array) -> Array:
        """Return the acceleration of the joints, (dof,), by the law in the axes of the tool."""
        now = self.settings
        mass, stiffness = np.array(now.mass), np.array(now.stiffness)
        damping = 2.0 * np.array(now.damping_ratio) * np.sqrt(mass * stiffness)
        pose, jacobian = self._kinematics.pose_and_jacobian(reference + self.offset)
        origin = self._origin_at(reference)
        axes = pose[:3, :3]
        jacobian = np.vstack([axes.T @ jacobian[:3], axes.T @ jacobian[3:]])
        apart = np.concatenate([axes.T @ (pose[:3, 3] - origin[:3, 3]), _turn(origin[:3, :3], axes)])
        force = np.where(now.selected_axes, wrench + self.wrench_reference, 0.0)
        twist = jacobian @ self.rate
        wanted = (force - damping * twist - stiffness * apart) / mass
        square = jacobian @ jacobian.T + SINGULAR * np.eye(6)
        return np.asarray(jacobian.T @ np.linalg.solve(square, wanted) - now.joint_damping * self.rate)

    def _origin_at(self, reference: Array) -> Array:
        """Return the pose of the reference, (4, 4); kept while the reference rests."""
        if not np.array_equal(reference, self._reference):
            self._reference = reference.copy()
            self._origin = self._kinematics.pose_and_jacobian(reference)[0]
        return self._origin


def _turn(first: Array, second: Array) -> Array:
    """Return the rotation from one frame to another as a vector in the axes of the second, (3,), rad."""
    quaternion = Rotation.from_matrix(first.T @ second).wxyz
    sine = float(np.linalg.norm(quaternion[1:]))
    if sine < 1e-9:
        return np.zeros(3)
    angle = 2.0 * np.arctan2(sine, quaternion[0])
    if angle > np.pi:
        angle -= 2.0 * np.pi
    return np.asarray(quaternion[1:] * (angle / sine))
