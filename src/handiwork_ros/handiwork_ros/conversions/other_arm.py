"""Conversions of held objects, and of other arms of the robot as moving obstacles."""

from __future__ import annotations

import numpy as np
from handiwork_msgs.msg import AttachedObject
from handiwork_msgs.msg import OtherArm as OtherArmMsg

from handiwork_core.contracts.planning import NO_Q, Attachment, OtherArm
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState

from .pose import BadMessage, finite, pose_from_msg, pose_to_msg
from .world import joint_state_from_msg, joint_state_to_msg


def attachment_from_msg(msg: AttachedObject, field: str = "attachment") -> Attachment:
    """Read a held object.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: A name is empty or the pose is malformed.
    """
    for name in ("object", "link"):
        if not getattr(msg, name):
            raise BadMessage(f"{field}.{name}", "is empty; name it", Code.BAD_GOAL)
    return Attachment(msg.object, msg.link, pose_from_msg(msg.pose, f"{field}.pose"))


def attachment_to_msg(attachment: Attachment) -> AttachedObject:
    """Write a held object.

    Args:
        attachment: The object.
    """
    pose = pose_to_msg(attachment.link_T_object)
    return AttachedObject(object=attachment.object, link=attachment.link, pose=pose)


def other_arm_from_msg(msg: OtherArmMsg, field: str = "others") -> OtherArm:
    """Read another arm with its path.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: The name is empty, positions are not finite or do not divide into rows, times do not rise or are not
            one for each row, or see ``attachment_from_msg``.
    """
    if not msg.arm:
        raise BadMessage(f"{field}.arm", "is empty; name it", Code.BAD_GOAL)
    flat, rows = finite(np.asarray(msg.positions, dtype=np.float64), f"{field}.positions"), int(msg.count)
    if len(flat) % rows if rows else len(flat):
        text = f"has {len(flat)} numbers for {rows} configurations; send one for each joint of each"
        raise BadMessage(f"{field}.positions", text, Code.BAD_GOAL)
    q = flat.reshape(rows, -1) if rows else NO_Q
    gripper = joint_state_from_msg(msg.gripper, f"{field}.gripper")
    held = tuple(attachment_from_msg(a, f"{field}.attached[{i}]") for i, a in enumerate(msg.attached))
    return OtherArm(msg.arm, q, held, tuple(gripper.position.items()), _times(msg, rows, field))


def other_arm_to_msg(other: OtherArm) -> OtherArmMsg:
    """Write another arm with its path.

    Args:
        other: The arm.
    """
    return OtherArmMsg(
        arm=other.arm,
        count=len(other.q),
        positions=np.ravel(other.q).tolist(),
        attached=[attachment_to_msg(a) for a in other.attached],
        gripper=joint_state_to_msg(JointState(0.0, dict(other.gripper_m))),
        times=[] if other.t_s is None else other.t_s.tolist(),
    )


def _times(msg: OtherArmMsg, rows: int, field: str) -> Array | None:
    if not len(msg.times):
        return None
    t_s = finite(np.asarray(msg.times, dtype=np.float64), f"{field}.times")
    if len(t_s) != rows or not (np.diff(t_s) > 0.0).all():
        text = f"has {len(t_s)} times for {rows} configurations; send one for each, rising, or none"
        raise BadMessage(f"{field}.times", text, Code.BAD_GOAL)
    return t_s
