"""Conversions of the solids of an object's geometry."""

from __future__ import annotations

from typing import Any

import numpy as np
from handiwork_msgs.msg import Shape as ShapeMsg

from handiwork_core.intake.limits import (
    MESH_TRIANGLES,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import (
    Indices,
    Shape,
    ShapeKind,
)
from handiwork_core.scene.mesh import closed_mesh

from .pose import (
    BadMessage,
    at_most,
    finite,
    pose_from_msg,
    pose_to_msg,
)

SIZES = {
    ShapeKind.BOX: 3,
    ShapeKind.SPHERE: 1,
    ShapeKind.CYLINDER: 2,
    ShapeKind.CAPSULE: 2,
    ShapeKind.CONVEX: 0,
    ShapeKind.MESH: 0,
}
"""The number of entries of ``size`` for each kind of shape."""


def shape_from_msg(msg: ShapeMsg, field: str = "shape") -> Shape:
    """Read one solid.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: The kind is unknown, ``size`` has the wrong count, a size is not above zero, there are fewer than
            four vertices, or the triangles do not close a solid.
    """
    try:
        kind = ShapeKind(msg.kind)
    except ValueError:
        kinds = ", ".join(f"{k.name}={k.value}" for k in ShapeKind)
        raise BadMessage(f"{field}.kind", f"is {msg.kind}; use one of {kinds}", Code.BAD_GOAL) from None
    size = finite(msg.size, f"{field}.size")
    if size.shape != (SIZES[kind],) or not (size > 0.0).all():
        raise BadMessage(
            f"{field}.size",
            f"is {size.tolist()}; a {kind.name} has {SIZES[kind]} numbers, each above 0",
            Code.BAD_GOAL,
        )
    vertices: Array | None = None
    triangles: Indices | None = None
    if kind in (ShapeKind.CONVEX, ShapeKind.MESH):
        at_most(f"{field}.vertices", len(msg.vertices), 9 * MESH_TRIANGLES, "numbers")
        flat = finite(msg.vertices, f"{field}.vertices")
        if flat.size < 12 or flat.size % 3:
            raise BadMessage(
                f"{field}.vertices",
                f"has {flat.size} numbers; send x y z of at least four vertices",
                Code.BAD_GOAL,
            )
        vertices = flat.reshape(-1, 3)
    if kind is ShapeKind.MESH:
        vertices, triangles = _mesh(vertices, msg.triangles, f"{field}.triangles")
    return Shape(kind, size, pose_from_msg(msg.pose, f"{field}.pose"), vertices, triangles)


def _mesh(vertices: Any, triangles: Any, field: str) -> tuple[Array, Indices]:
    at_most(field, len(triangles), 3 * MESH_TRIANGLES, "numbers")
    flat = np.asarray(triangles, dtype=np.int64)
    if flat.size % 3:
        raise BadMessage(field, f"has {flat.size} numbers; send three for each triangle", Code.BAD_GOAL)
    try:
        return closed_mesh(vertices, flat.reshape(-1, 3))
    except ValueError as error:
        raise BadMessage(field, str(error), Code.BAD_GOAL) from error


def shape_to_msg(shape: Shape) -> ShapeMsg:
    """Write one solid.

    Args:
        shape: The solid.
    """
    vertices = [] if shape.vertices is None else [float(v) for v in np.ravel(shape.vertices)]
    triangles = [] if shape.triangles is None else [int(i) for i in np.ravel(shape.triangles)]
    size = [float(v) for v in shape.size]
    pose = pose_to_msg(shape.object_T_shape)
    return ShapeMsg(kind=int(shape.kind), size=size, vertices=vertices, triangles=triangles, pose=pose)
