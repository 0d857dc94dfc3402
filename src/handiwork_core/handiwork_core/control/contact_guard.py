"""Ends a motion when the measured force on the tool has changed by a bound, within one control period."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from handiwork_core.model.geometry import Array

from .goal_refusal import ErrorCode, GoalRefused

FORCE_TOLERANCES = tuple(f"force_torque_sensor/force.{axis}" for axis in "xyz")
"""Names in ``path_tolerance`` of a goal with a bound: those of the sensor's state interfaces in ros2_control."""
TARE_S = 0.02
"""Begin of a motion whose mean force counts as that of no contact, s: the weight of what is held, and an offset."""
LEAST_BOUND_N, GREATEST_BOUND_N = 1.0, 100.0
"""Bounds that a goal may ask for, N: less is lost in the noise of sensors, more is left to the safety layer."""
ALONG = 0.5
"""Share of the force that must point along the bound; else something was touched from the side."""

Measure = Callable[[], Array | None]
"""Returns the force of the surroundings on the tool in the sensor's frame, (3,), N; None if it is not measured."""


def not_measured() -> Array | None:
    """Return None: the force of a robot without a sensor."""
    return None


def bound_of(tolerances: Mapping[str, float]) -> tuple[dict[str, float], Array | None]:
    """Take the bound of the force out of the path tolerances of a goal.

    Args:
        tolerances: Path tolerances by name.

    Returns:
        The tolerances of joints, and the bound in the sensor's frame, (3,), N; None if the goal has none.
    """
    joints = {name: value for name, value in tolerances.items() if name not in FORCE_TOLERANCES}
    if len(joints) == len(tolerances):
        return joints, None
    return joints, np.array([tolerances.get(name, 0.0) for name in FORCE_TOLERANCES])


class ContactGuard:
    """Watches the force on the tool during one motion.

    The force of the first ``TARE_S`` is subtracted, so that an offset of the sensor and the weight of what is held do
    not count. A motion with a guard must not turn the tool, because the weight would turn in the sensor's frame.

    Args:
        bound: The force in the sensor's frame that ends the motion, (3,), N; its direction is that of the contact which
            is expected, and its length counts for forces in every direction.
        measure: Measures the force.

    Raises:
        GoalRefused: The bound is out of range, or no force is measured.
    """

    def __init__(self, bound: Array, measure: Measure) -> None:
        self._length = float(np.linalg.norm(bound)) if np.isfinite(bound).all() else np.nan
        if not LEAST_BOUND_N <= self._length <= GREATEST_BOUND_N:
            text = f"the bound of the force is {self._length:g} N; give {LEAST_BOUND_N:g} to {GREATEST_BOUND_N:g} N"
            raise GoalRefused(ErrorCode.INVALID_GOAL, text)
        if measure() is None:
            text = (
                "the goal bounds the force on the tool, but no force is measured there: this needs a force-torque "
                "sensor; on a robot with ros2_control give its topic as wrench_topic"
            )
            raise GoalRefused(ErrorCode.INVALID_GOAL, text)
        self._axis, self._measure = bound / self._length, measure
        self._sum: Array = np.zeros(3)
        self._count, self._elapsed_s = 0, 0.0

    def update(self, step_s: float) -> tuple[ErrorCode, str] | None:
        """Take the present force into account.

        Args:
            step_s: Duration of the control period, s.

        Returns:
            Code and reason of the end of the motion; None if it goes on.
        """
        force = self._measure()
        if force is None:
            return ErrorCode.INVALID_GOAL, "the force on the tool is not measured any more"
        if self._elapsed_s < TARE_S:
            self._sum += force
            self._count += 1
        self._elapsed_s += step_s
        change = force - self._sum / self._count
        size, along = float(np.linalg.norm(change)), float(change @ self._axis)
        if size < self._length:
            return None
        if along >= ALONG * size:
            return ErrorCode.CONTACT, f"touched with {size:.1f} N, the bound is {self._length:g} N"
        text = f"pushed from the side with {size:.1f} N, of which {along:.1f} N are along the motion"
        return ErrorCode.PATH_TOLERANCE_VIOLATED, f"{text}; the bound is {self._length:g} N"
