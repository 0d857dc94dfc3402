"""The recursive Newton-Euler algorithm (Luh, Walker, Paul, 1980) for a chain of joints, in the frames of the links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import inlined, kernel


class ArmBodies(NamedTuple):
    """The n joints of an arm in order, and the rigid body that each of them moves."""

    rotation: Array
    """(n, 3, 3) of the joint's frame at zero in the frame of the body before it."""
    translation: Array
    """(n, 3) its origin there [m]."""
    axis: Array
    """(n, 3) axis of the joint in its own frame."""
    prismatic: Ints
    """(n,) 1 for a prismatic joint, else 0."""
    mass: Array
    """(n,) mass of the body [kg]."""
    centre: Array
    """(n, 3) its centre of mass in the joint's frame [m]."""
    inertia: Array
    """(n, 3, 3) about the centre, in the axes of that frame [kg*m^2]."""


@inlined
def _add_cross(a: Array, b: Array, out: Array) -> None:
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@inlined
def _add_times(m: Array, v: Array, out: Array) -> None:
    for i in range(3):
        out[i] += m[i, 0] * v[0] + m[i, 1] * v[1] + m[i, 2] * v[2]


@inlined
def _add_back(m: Array, v: Array, out: Array) -> None:
    for i in range(3):
        out[i] += m[0, i] * v[0] + m[1, i] * v[1] + m[2, i] * v[2]


@inlined
def _place(bodies: ArmBodies, j: int, q: float, turn: Array, shift: Array) -> None:
    """Write the rotation (3, 3) and the origin (3,) of joint ``j`` at ``q`` in the frame of the body before it."""
    sin, cos = (0.0, 1.0) if bodies.prismatic[j] else (np.sin(q), np.cos(q))
    slide = q if bodies.prismatic[j] else 0.0
    axis, zero = bodies.axis[j], bodies.rotation[j]
    for i in range(3):
        # A row times the rotation by Rodrigues' formula: parallel to the axis it stays.
        row = zero[i]
        along = row[0] * axis[0] + row[1] * axis[1] + row[2] * axis[2]
        turn[i, 0] = (
            cos * row[0] + sin * (row[1] * axis[2] - row[2] * axis[1]) + (1.0 - cos) * along * axis[0]
        )
        turn[i, 1] = (
            cos * row[1] + sin * (row[2] * axis[0] - row[0] * axis[2]) + (1.0 - cos) * along * axis[1]
        )
        turn[i, 2] = (
            cos * row[2] + sin * (row[0] * axis[1] - row[1] * axis[0]) + (1.0 - cos) * along * axis[2]
        )
        shift[i] = bodies.translation[j, i] + slide * along


@kernel
def joint_torques(bodies: ArmBodies, gravity: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the torques that the joints need at samples of a motion, without friction and the inertia of rotors.

    Args:
        bodies: The arm.
        gravity: Acceleration of free fall in the frame in which the first joint's is given, (3,), m/s^2.
        q: Positions, (k, n), rad or m.
        qd: Velocities, (k, n), rad/s or m/s.
        qdd: Accelerations, (k, n), rad/s^2 or m/s^2.

    Returns:
        Torques, (k, n), Nm or N.
    """
    count, n = q.shape
    torque = np.empty((count, n))
    turn, shift = np.empty((n, 3, 3)), np.empty((n, 3))
    force, moment = np.empty((n, 3)), np.empty((n, 3))
    # Angular velocity, its change, and acceleration of the origin, of the body before the joint and of its own.
    before, own, spin = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for k in range(count):
        before[:] = 0.0
        before[2] -= gravity
        for j in range(n):
            _place(bodies, j, q[k, j], turn[j], shift[j])
            axis, centre = bodies.axis[j], bodies.centre[j]
            spin[:] = 0.0
            _add_cross(before[0], shift[j], spin)
            _add_cross(before[1], shift[j], before[2])
            _add_cross(before[0], spin, before[2])
            own[:] = 0.0
            for i in range(3):
                _add_back(turn[j], before[i], own[i])
            if bodies.prismatic[j]:
                spin[:] = 2.0 * qd[k, j] * axis
                _add_cross(own[0], spin, own[2])
                own[2] += qdd[k, j] * axis
            else:
                spin[:] = qd[k, j] * axis
                _add_cross(own[0], spin, own[1])
                own[1] += qdd[k, j] * axis
                own[0] += spin
            spin[:] = 0.0
            _add_cross(own[0], centre, spin)
            force[j] = own[2]
            _add_cross(own[1], centre, force[j])
            _add_cross(own[0], spin, force[j])
            force[j] *= bodies.mass[j]
            spin[:] = 0.0
            _add_times(bodies.inertia[j], own[0], spin)
            moment[j] = 0.0
            _add_times(bodies.inertia[j], own[1], moment[j])
            _add_cross(own[0], spin, moment[j])
            _add_cross(centre, force[j], moment[j])
            before[:] = own
        for j in range(n - 1, -1, -1):
            if j + 1 < n:
                spin[:] = 0.0
                _add_times(turn[j + 1], force[j + 1], spin)
                force[j] += spin
                _add_times(turn[j + 1], moment[j + 1], moment[j])
                _add_cross(shift[j + 1], spin, moment[j])
            taken = force[j] if bodies.prismatic[j] else moment[j]
            axis = bodies.axis[j]
            torque[k, j] = taken[0] * axis[0] + taken[1] * axis[1] + taken[2] * axis[2]
    return torque
