"""Moving parts of articulated objects in MuJoCo: a part is a child of its body, with a hinge or a slide.

The simulator's module is an argument, because ``mujoco/world.py`` alone imports it.
"""

# ruff: noqa: ANN401 the simulator's module is an argument

from __future__ import annotations

from typing import Any

import numpy as np

from handiwork_core.model.articulation import Articulation
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import ObjectState
from handiwork_core.scene.loader import SceneObject

ON_PATH_M, ON_PATH_RAD = 0.002, 0.01
"""The largest distance of a requested pose from the joint's path; the part is put on the path."""


def add_part(mj: Any, spec: Any, item: SceneObject, joint: Articulation) -> Any:
    """Add a part to its body. The joint guides it: the two do not collide with each other.

    Args:
        mj: The simulator's module.
        spec: The specification of the model.
        item: The part.
        joint: Its joint.

    Returns:
        The part's body in the specification.

    Raises:
        ValueError: The body is not there yet, or the part has no drive.
    """
    carrier, drive = spec.body(joint.body), item.drive
    if carrier is None or drive is None:
        raise ValueError(f"part {item.name!r} needs its body {joint.body!r} before it, and a drive")
    pose = joint.body_T_part
    body = carrier.add_body(name=item.name, pos=pose.translation_m, quat=pose.rotation.wxyz)
    limits = np.array([joint.lower, joint.upper])
    made = body.add_joint(name=item.name, axis=joint.axis, limited=True)
    if joint.kind is JointKind.PRISMATIC:
        made.type, made.range = mj.mjtJoint.mjJNT_SLIDE, limits
    else:
        made.type, made.pos = mj.mjtJoint.mjJNT_HINGE, joint.origin
        made.range = np.degrees(limits) if spec.compiler.degree else limits
    made.damping, made.frictionloss = (drive.damping, 0.0, 0.0), drive.friction
    made.solref_limit = (2.0 * spec.option.timestep, 1.0)  # a hard stop, also of a light part
    spec.add_exclude(bodyname1=joint.body, bodyname2=item.name)
    return body


def put_at_start(data: Any, objects: tuple[SceneObject, ...]) -> None:
    """Set every part to the position that the scene gives it.

    Args:
        data: The state of the model.
        objects: The objects of the scene.
    """
    for item in objects:
        if item.drive is not None:
            data.joint(item.name).qpos[0] = item.drive.start


def part_state(data: Any, name: str, joint: Articulation, world_T_body: Pose, stamp_s: float) -> ObjectState:
    """Return the pose and twist of a part in ``world`` from the joint's position and speed.

    Args:
        data: The state of the model.
        name: Name of the part.
        joint: Its joint.
        world_T_body: The body that carries it.
        stamp_s: Time of the state, s.
    """
    here = data.joint(name)
    position, speed = float(here.qpos[0]), float(here.qvel[0])
    pose = world_T_body @ joint.at(position)
    axis = pose.rotation.matrix() @ joint.axis
    if joint.kind is JointKind.PRISMATIC:
        return ObjectState(pose, frozen(speed * axis), frozen((0.0, 0.0, 0.0)), stamp_s)
    arm = pose.translation_m - pose.apply(joint.origin)
    return ObjectState(pose, frozen(speed * np.cross(axis, arm)), frozen(speed * axis), stamp_s)


def put_part(data: Any, name: str, joint: Articulation, body_T_part: Pose) -> None:
    """Put a part at a pose on its joint's path, at rest.

    Args:
        data: The state of the model.
        name: Name of the part.
        joint: Its joint.
        body_T_part: The pose in the frame of the body that carries it.

    Raises:
        ValueError: The pose is not on the joint's path, or outside of its range.
    """
    position = joint.position(body_T_part)
    gap_m, turn_rad = joint.at(position).distance_to(body_T_part)
    if gap_m > ON_PATH_M or turn_rad > ON_PATH_RAD:
        text = f"part {name!r} cannot leave its joint, and {gap_m * 1e3:.0f} mm and {turn_rad:.2f} rad are asked for"
        raise ValueError(f"{text}; move it along, or move {joint.body!r}")
    if not joint.lower <= position <= joint.upper:
        text = f"part {name!r} would be at {position:.3f} {joint.unit}; keep it within"
        raise ValueError(f"{text} {joint.lower:g} to {joint.upper:g}")
    data.joint(name).qpos[0], data.joint(name).qvel[0] = position, 0.0
