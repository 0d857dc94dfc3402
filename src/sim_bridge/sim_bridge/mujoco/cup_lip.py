"""The soft lip of a simulated suction cup. The simulator's module is an argument."""

# ruff: noqa: ANN401 the simulator's module is an argument

from __future__ import annotations

from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec, Robot
from sim_bridge.mujoco.suction import suction_arms

SMALL_M = 1e-6
MOST_SHARE = 2.0
"""Shapes that go farther into the lip than this many times its reach are no drawing of it, and stay where they are."""


def soften_lips(mj: Any, spec: Any, model: Any, robot: Robot) -> None:
    """Move the shapes of each cup's link back along its axis until none is in the lip.

    Makers draw a cup up to its rim. Rigid bodies that touch there would keep the rim from the object that it must be
    pressed onto. A lip bends instead, so the last part of the cup, as long as the lip's reach, has to be free.

    Args:
        mj: The simulator's module.
        spec: The specification of the model, whose shapes are moved.
        model: The compiled model of that specification.
        robot: The robot.
    """
    data = mj.MjData(model)
    mj.mj_kinematics(model, data)
    for arm, tool, cup in suction_arms(robot):
        body = model.body(f"{robot.name}/{cup.link}").id
        axis = data.xmat[model.body(f"{robot.name}/{arm.ee_link}").id].reshape(3, 3)[:, tool.ee_axis]
        into_m = _end(model, data, body, axis) - _rim(model, data, robot, arm, axis) + cup.reach_m
        if SMALL_M < into_m <= MOST_SHARE * cup.reach_m:
            back = -into_m * data.xmat[body].reshape(3, 3).T @ axis
            for geom in spec.body(f"{robot.name}/{cup.link}").geoms:
                geom.pos = geom.pos + back


def _rim(model: Any, data: Any, robot: Robot, arm: ArmSpec, axis: Array) -> float:
    """Return the place of the rim along an axis of the world, m."""
    return float(data.xpos[model.body(f"{robot.name}/{arm.tcp_link}").id] @ axis)


def _end(model: Any, data: Any, body: int, axis: Array) -> float:
    """Return the place of the farthest point of a body's shapes along an axis of the world, m; -inf without any."""
    first = model.body_geomadr[body]
    ends = [_geom_end(model, data, geom, axis) for geom in range(first, first + model.body_geomnum[body])]
    return max(ends, default=-np.inf)


def _geom_end(model: Any, data: Any, geom: int, axis: Array) -> float:
    own = data.geom_xmat[geom].reshape(3, 3).T @ axis
    mesh = model.geom_dataid[geom]
    if mesh >= 0:
        first = model.mesh_vertadr[mesh]
        reach = (model.mesh_vert[first : first + model.mesh_vertnum[mesh]] @ own).max()
    else:  # exact for boxes, and for cylinders along the axis
        middle, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
        reach = middle @ own + half @ np.abs(own)
    return float(data.geom_xpos[geom] @ axis + reach)
