"""Conveyor belts in MuJoCo: heavy bodies on slides that move with the belt, and are put back before each step.

So contacts have a moving surface, and friction does the rest. The simulator's module is an argument, because
``mujoco/world.py`` alone imports it.
"""

# ruff: noqa: ANN401 the simulator's module is an argument

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Array
from handiwork_core.scene.loader import Scene

MASS_KG = 1e6
"""The mass of a belt; all that it carries is light beside this."""

SOFT = (0.02, 1.0)
"""Time constant [s] and damping ratio of contacts with a belt: on stiffer ones the solver lifts sliding objects."""

ACCELERATION = 2.0
"""The acceleration of a belt to another speed [m/s^2]."""


def make_belt(mj: Any, body: Any, name: str) -> None:
    """Put a belt's body on three slides, along its own axes.

    Args:
        mj: The simulator's module.
        body: The body in the specification of the model.
        name: Name of the object.
    """
    body.explicitinertial, body.mass, body.inertia, body.gravcomp = True, MASS_KG, (MASS_KG,) * 3, 1.0
    for axis in range(3):
        body.add_joint(name=f"{name}/slide{axis}", type=mj.mjtJoint.mjJNT_SLIDE, axis=np.eye(3)[axis])


def soften(geom: Any) -> None:
    """Make contacts with a belt's solid soft, with the belt's friction.

    Args:
        geom: The solid in the specification of the model.
    """
    geom.priority, geom.solref = 1, SOFT


def part_fixtures(spec: Any, scene: Scene) -> None:
    """Exclude contacts of belts with other fixtures, which do not touch each other either.

    Args:
        spec: The specification of the model.
        scene: The scene.
    """
    fixed = [item for item in scene.objects if item.body.is_static]
    belts = [item.name for item in fixed if item.belt is not None]
    for i, belt in enumerate(belts):
        for item in fixed:
            if item.name not in belts[: i + 1]:
                spec.add_exclude(bodyname1=belt, bodyname2=item.name)


class Belts:
    """The belts of one compiled model, by the name of their object. Each begins at the velocity of the scene.

    Args:
        model: The compiled model.
        data: Its state.
        scene: The scene.
    """

    def __init__(self, model: Any, data: Any, scene: Scene) -> None:
        self._data = data
        self._velocity = {item.name: item.belt.velocity for item in scene.objects if item.belt is not None}
        joints = [model.joint(f"{name}/slide{axis}") for name in self._velocity for axis in range(3)]
        self._q = np.array([joint.qposadr[0] for joint in joints], dtype=np.intp)
        self._v = np.array([joint.dofadr[0] for joint in joints], dtype=np.intp)
        self._speeds = self._wanted()
        self._changes = False
        """True while some belt has not reached its wanted speed."""

    def __bool__(self) -> bool:
        return bool(self._velocity)

    def hold(self, step_s: float) -> None:
        """Put the bodies back and set their speeds; call this before each step.

        Args:
            step_s: Length of the step, s.
        """
        if self._changes:
            change, wanted = ACCELERATION * step_s, self._wanted()
            self._speeds = self._speeds + np.clip(wanted - self._speeds, -change, change)
            self._changes = bool((self._speeds != wanted).any())
        self._data.qpos[self._q] = 0.0
        self._data.qvel[self._v] = self._speeds

    def run(self, name: str, belt: BeltSpec) -> None:
        """Set the velocity of a belt from now on.

        Args:
            name: Name of the object.
            belt: The velocity, m/s.

        Raises:
            KeyError: There is no such belt; the message lists them.
        """
        if name not in self._velocity:
            raise KeyError(f"belt {name!r} is not one of {sorted(self._velocity)}")
        self._velocity[name], self._changes = belt.velocity, True

    @property
    def velocities(self) -> Mapping[str, tuple[float, float, float]]:
        """The velocity that each belt has, or is being brought to, in the frame of its object, m/s."""
        return dict(self._velocity)

    def run_on(self, before: Belts) -> None:
        """Continue with the velocities of the belts of the same names in another model.

        Args:
            before: The belts of the other model.
        """
        for i, name in enumerate(self._velocity):
            if name in before._velocity:
                j = list(before._velocity).index(name)
                self._velocity[name], self._changes = before._velocity[name], True
                self._speeds[3 * i : 3 * i + 3] = before._speeds[3 * j : 3 * j + 3]

    def _wanted(self) -> Array:
        return np.array([*self._velocity.values()], dtype=np.float64).ravel()
