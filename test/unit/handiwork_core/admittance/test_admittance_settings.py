"""The parameters of an admittance controller: ranges, and names of the fault."""

from __future__ import annotations

from typing import Any

import pytest

from handiwork_core.admittance.settings import AdmittanceSettings


def test_the_default_yields_in_no_axis() -> None:
    assert not AdmittanceSettings().yields


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"mass": (1.0, 1.0, 0.0, 1.0, 1.0, 1.0)}, "mass of axis z is 0"),
        ({"stiffness": (1.0, -1.0, 0.0, 1.0, 1.0, 1.0)}, "stiffness of axis y is -1"),
        ({"damping_ratio": (float("nan"),) * 6}, "damping_ratio of axis x is nan"),
        ({"stiffness": (1.0, 1.0)}, "stiffness has 2 values"),
        ({"joint_damping": -1.0}, "joint_damping is -1"),
        ({"joint_damping": float("nan")}, "joint_damping is nan"),
    ],
)
def test_a_value_out_of_range_is_named(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        AdmittanceSettings(**fields)
