"""Conversions of the joints and handles of articulated objects."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point
from handiwork_msgs.msg import Articulation as ArticulationMsg

from handiwork_core.model.articulation import Articulation, Handle
from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.joint_kind import MOVING, JointKind
from handiwork_core.model.outcome import Code

from .pose import BadMessage, finite, pose_from_msg, pose_to_msg, vector_from_msg, vector_to_msg


def articulation_from_msg(msg: ArticulationMsg, field: str = "articulation") -> Articulation | None:
    """Read a part's joint.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Returns:
        The joint; None for an object that is no part of another one.

    Raises:
        BadMessage: The kind is unknown, the body is missing, an axis or approach has length zero, or ``lower`` is not
            below ``upper``.
    """
    if msg.kind == ArticulationMsg.NONE:
        return None
    try:
        kind = JointKind(msg.kind)
    except ValueError:
        kinds = ", ".join(f"{k.name}={k.value}" for k in MOVING)
        text = f"is {msg.kind}; use NONE=0, {kinds}"
        raise BadMessage(f"{field}.kind", text, Code.BAD_GOAL) from None
    if not msg.body:
        raise BadMessage(f"{field}.body", "is empty; name the object that carries the part", Code.BAD_GOAL)
    lower, upper = finite((msg.lower, msg.upper), f"{field}.range").tolist()
    if lower >= upper:
        raise BadMessage(f"{field}.upper", f"is {upper:g}, not above lower, {lower:g}", Code.BAD_GOAL)
    return Articulation(
        msg.body,
        kind,
        pose_from_msg(msg.pose, f"{field}.pose"),
        _direction(vector_from_msg(msg.axis, f"{field}.axis"), f"{field}.axis"),
        vector_from_msg(msg.origin, f"{field}.origin"),
        lower,
        upper,
        _handle(msg, field),
    )


def articulation_to_msg(joint: Articulation | None) -> ArticulationMsg:
    """Write a part's joint.

    Args:
        joint: The joint; None for an object that is no part of another one.
    """
    if joint is None:
        return ArticulationMsg()
    msg = ArticulationMsg(
        kind=int(joint.kind),
        body=joint.body,
        pose=pose_to_msg(joint.body_T_part),
        axis=vector_to_msg(joint.axis),
        origin=_point(joint.origin),
        lower=float(joint.lower),
        upper=float(joint.upper),
    )
    if joint.handle is not None:
        msg.handle_head, msg.handle_tail = _point(joint.handle.head), _point(joint.handle.tail)
        msg.handle_approach = vector_to_msg(joint.handle.approach)
        msg.handle_width = float(joint.handle.width_m)
    return msg


def _handle(msg: ArticulationMsg, field: str) -> Handle | None:
    width = float(finite((msg.handle_width,), f"{field}.handle_width")[0])
    if width == 0.0:
        return None
    if width < 0.0:
        text = f"is {width:g} m; send more than 0, or 0 without a handle"
        raise BadMessage(f"{field}.handle_width", text, Code.BAD_GOAL)
    head = vector_from_msg(msg.handle_head, f"{field}.handle_head")
    tail = vector_from_msg(msg.handle_tail, f"{field}.handle_tail")
    if not np.linalg.norm(tail - head) > 0.0:
        raise BadMessage(f"{field}.handle_tail", "equals handle_head; send both ends", Code.BAD_GOAL)
    approach = vector_from_msg(msg.handle_approach, f"{field}.handle_approach")
    return Handle(head, tail, _direction(approach, f"{field}.handle_approach"), width)


def _direction(vector: Array, field: str) -> Array:
    length = float(np.linalg.norm(vector))
    if not length > 1e-9:
        raise BadMessage(field, f"is {vector.tolist()}; send a direction", Code.BAD_GOAL)
    return frozen(vector / length)


def _point(values: Array) -> Point:
    x, y, z = (float(v) for v in values)
    return Point(x=x, y=y, z=z)
