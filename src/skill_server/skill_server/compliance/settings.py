"""Parameters of the admittance controller for searching, inserting and pressing along one axis of the hand."""

from __future__ import annotations

from typing import cast

import numpy as np

from handiwork_core.admittance.settings import AdmittanceSettings, Six
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome

JOINT_DAMPING = 200.0
"""It alone damps the axis of the push, which has no stiffness; the mass then follows from the damping, 1/s."""
PUSH_M_PER_S = 0.0025
"""Speed of a free hand that is pushed: its damping is the force divided by it, m/s."""
LEAST_DAMPING = 2000.0
"""A servo of 100 rad/s and a contact of 2e4 N/m swing with less, Ns/m."""
SIDE_DAMPING, TURN_DAMPING = 1000.0, 60.0
SIDE_STIFFNESS, TURN_STIFFNESS = 1000.0, 50.0
SEARCH_DAMPING, SEARCH_STIFFNESS = 800.0, 2000.0
"""A search carries the peg against friction, so it is stiffer sideways, and does not turn."""
MOST_TILT = np.cos(np.radians(10.0))


def push_axis(way: Array, here: Pose, stage: str) -> Array:
    """Return the axis of the hand along which a push goes, because a controller yields in such axes alone.

    Args:
        way: Direction of the push in ``world``, (3,), of length 1.
        here: world_T_ee.
        stage: Stage for the failure.

    Returns:
        The axis with its sign, (3,), in the EE frame.

    Raises:
        StepFailed: The direction is more than 10 degrees off every axis of the hand.
    """
    local = here.rotation.matrix().T @ way
    index = int(np.argmax(np.abs(local)))
    if abs(local[index]) < MOST_TILT:
        off = np.degrees(np.arccos(abs(local[index])))
        text = f"the direction is {off:.0f} degrees off the nearest axis of the hand, 10 are most; turn the hand first"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, stage, "direction"))
    axis = np.zeros(3)
    axis[index] = np.sign(local[index])
    return axis


def pushing(axis: Array, force_n: float, *, turns: bool = True) -> AdmittanceSettings:
    """Return parameters with which the hand is pushed, and yields to the side and to turns.

    Args:
        axis: Axis of the push in the EE frame, (3,).
        force_n: Force of the push, N.
        turns: True: the hand yields to torques.
    """
    return _settings(axis, force_n, (SIDE_DAMPING, SIDE_STIFFNESS), sides=True, turns=turns)


def searching(axis: Array, force_n: float) -> AdmittanceSettings:
    """Return parameters with which the hand is pushed while it searches to the side.

    Args:
        axis: Axis of the push in the EE frame, (3,).
        force_n: Force of the push, N.
    """
    return _settings(axis, force_n, (SEARCH_DAMPING, SEARCH_STIFFNESS), sides=True, turns=False)


def pressing(axis: Array, force_n: float) -> AdmittanceSettings:
    """Return parameters with which the hand is pushed, and is stiff in all other axes.

    Args:
        axis: Axis of the push in the EE frame, (3,).
        force_n: Force of the push, N.
    """
    return _settings(axis, force_n, (SEARCH_DAMPING, SEARCH_STIFFNESS), sides=False, turns=False)


def _settings(
    axis: Array, force_n: float, side: tuple[float, float], *, sides: bool, turns: bool
) -> AdmittanceSettings:
    along = np.abs(axis) > 0.5
    damping = np.full(6, TURN_DAMPING)
    damping[:3] = np.where(along, max(LEAST_DAMPING, force_n / PUSH_M_PER_S), side[0])
    stiffness = np.full(6, TURN_STIFFNESS)
    stiffness[:3] = np.where(along, 0.0, side[1])
    selected = (*(bool(is_along) or sides for is_along in along), turns, turns, turns)
    return AdmittanceSettings(
        cast("tuple[bool, bool, bool, bool, bool, bool]", selected),
        cast("Six", tuple((damping / JOINT_DAMPING).tolist())),
        (0.0,) * 6,
        cast("Six", tuple(stiffness.tolist())),
        JOINT_DAMPING,
    )
