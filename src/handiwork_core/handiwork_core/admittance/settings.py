"""The parameters of an admittance controller: names and ranges of ``admittance_controller`` in ros2_control."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

AXES = ("x", "y", "z", "rx", "ry", "rz")
"""The axes of the control frame, which is that of the EE link."""
LEAST_MASS, GREATEST_MASS = 1e-4, 1e6
GREATEST_STIFFNESS = 1e8
GREATEST_DAMPING = 1e6

Six = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class AdmittanceSettings:
    """Parameters of the law ``mass * a + damping * v + stiffness * x = wrench`` in the axes of the EE link.

    Attributes:
        selected_axes: The axes (x, y, z, rx, ry, rz) in which the arm yields to the wrench; no axis: it does not yield.
        mass: Mass of each axis, kg or kg*m^2.
        damping_ratio: Damping of each axis, as a share of the critical damping: ``damping / (2 sqrt(mass stiffness))``.
        stiffness: Stiffness of each axis, N/m or Nm/rad; 0: nothing pulls the arm back to its reference.
        joint_damping: Deceleration of the joints for each speed, 1/s. It alone damps an axis without stiffness.
    """

    selected_axes: tuple[bool, bool, bool, bool, bool, bool] = (False,) * 6
    mass: Six = (10.0, 10.0, 10.0, 1.0, 1.0, 1.0)
    damping_ratio: Six = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    stiffness: Six = (500.0, 500.0, 500.0, 50.0, 50.0, 50.0)
    joint_damping: float = 5.0

    def __post_init__(self) -> None:
        """Refuse what no controller could follow.

        Raises:
            ValueError: A value has not six numbers, or is out of range; the message names it.
        """
        _check_six("selected_axes", self.selected_axes)
        for name, least, greatest in (
            ("mass", LEAST_MASS, GREATEST_MASS),
            ("damping_ratio", 0.0, GREATEST_DAMPING),
            ("stiffness", 0.0, GREATEST_STIFFNESS),
        ):
            values: Sequence[float] = getattr(self, name)
            _check_six(name, values)
            for axis, value in zip(AXES, values, strict=True):
                if not least <= value <= greatest:
                    raise ValueError(
                        f"admittance.{name} of axis {axis} is {value:g}; give {least:g} to {greatest:g}"
                    )
        if not 0.0 <= self.joint_damping < math.inf:
            raise ValueError(f"admittance.joint_damping is {self.joint_damping:g}; give 0 or more")

    @property
    def yields(self) -> bool:
        """True when at least one axis is selected."""
        return any(self.selected_axes)


PARAMETERS: Mapping[str, str] = {
    f"admittance.{name}": name
    for name in ("selected_axes", "mass", "damping_ratio", "stiffness", "joint_damping")
}
"""Name of the parameter of the controller's node -> field of ``AdmittanceSettings``."""


def _check_six(name: str, values: Sequence[object]) -> None:
    if len(values) != len(AXES):
        text = f"admittance.{name} has {len(values)} values; give one for each of {', '.join(AXES)}"
        raise ValueError(text)
