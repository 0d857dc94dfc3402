"""Smallest distance of two arms, measured by MuJoCo on the solids of the URDF: no sphere, no planner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import Robot

FAR_M = 0.5
OPTIONS = '<mujoco><compiler fusestatic="false" discardvisual="true" balanceinertia="true"/></mujoco>'


@dataclass(frozen=True)
class Gap:
    """Distance [m] and the two links; FAR_M if they are farther apart."""

    distance_m: float = FAR_M
    a: str = ""
    b: str = ""


class ArmGap:
    """The distance of two arms of a robot."""

    def __init__(self, robot: Robot, one: str, other: str) -> None:
        self._robot = robot
        urdf = re.sub(r"(<robot\b[^>]*>)", lambda found: found.group(1) + OPTIONS, robot.urdf, count=1)
        self._model: Any = mujoco.MjSpec.from_string(urdf).compile()
        self._data: Any = mujoco.MjData(self._model)
        names = (self._model.joint(i).name for i in range(self._model.njnt))
        self._address = {name: int(self._model.joint(name).qposadr[0]) for name in names}
        a, b = (self._geoms(arm) for arm in (one, other))
        self._pairs = np.array([(i, j) for i in a for j in b])

    def at(self, positions: Mapping[str, float]) -> Gap:
        """Return the smallest distance at joint positions.

        Args:
            positions: Measured positions by name, rad or m.
        """
        for name, address in self._address.items():
            self._data.qpos[address] = joint_position(self._robot, name, positions)
        mujoco.mj_kinematics(self._model, self._data)
        places, radii = self._data.geom_xpos, self._model.geom_rbound
        i, j = self._pairs.T
        bounds = np.linalg.norm(places[i] - places[j], axis=1) - radii[i] - radii[j]
        best = Gap()
        for k in np.argsort(bounds):
            if bounds[k] >= best.distance_m:
                break
            pair = self._pairs[k]
            found = mujoco.mj_geomDistance(self._model, self._data, *pair.tolist(), best.distance_m, None)
            if found < best.distance_m:
                best = Gap(float(found), *(self._link(int(geom)) for geom in pair))
        return best

    def _geoms(self, arm: str) -> list[int]:
        moved, names = set[str](), self._robot.arm(arm).joint_names
        for joint in self._robot.joints.values():
            if joint.name in names or joint.parent in moved:
                moved.add(joint.child)
        return [geom for geom in range(self._model.ngeom) if self._link(geom) in moved]

    def _link(self, geom: int) -> str:
        return str(self._model.body(int(self._model.geom_bodyid[geom])).name)
