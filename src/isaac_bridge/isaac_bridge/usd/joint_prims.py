"""Joints of robots and of articulated objects as prims. Their axis is X; local rotations turn it to the real axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

from .joint_drives import JointDrive
from .named_schemas import Value, apply_schema
from .stage_parts import quaternion

if TYPE_CHECKING:
    from pxr import Usd, UsdPhysics


@dataclass(frozen=True, slots=True, eq=False)
class JointPlace:
    """Two bodies, and the joint's frame in each.

    Attributes:
        one: Path of the first body; empty for the world.
        other: Path of the second body; empty for the world.
        one_T_joint: The joint's frame in the first body.
        other_T_joint: The joint's frame in the second body.
    """

    one: str
    other: str
    one_T_joint: Pose
    other_T_joint: Pose

    def turned(self, axis: Array) -> JointPlace:
        """Return the place with the joint's x along an axis.

        Args:
            axis: Unit vector in the joint's frame, (3,).
        """
        turn = Pose.of((0.0, 0.0, 0.0), x_along(axis))
        return JointPlace(self.one, self.other, self.one_T_joint @ turn, self.other_T_joint @ turn)


def x_along(axis: Array) -> Rotation:
    """Return the smallest rotation that brings x to an axis.

    Args:
        axis: Unit vector, (3,).
    """
    turn_axis = np.cross((1.0, 0.0, 0.0), axis)
    sine = float(np.linalg.norm(turn_axis))
    if sine < 1e-12:
        return Rotation.identity() if axis[0] > 0.0 else Rotation.from_axis_angle((0.0, 0.0, 1.0), math.pi)
    return Rotation.from_axis_angle(turn_axis, math.atan2(sine, float(axis[0])))


def fix(stage: Usd.Stage, path: str, place: JointPlace) -> UsdPhysics.Joint:
    """Add a fixed joint.

    Args:
        stage: The stage.
        path: Path of the joint.
        place: Its bodies and frames.
    """
    from pxr import UsdPhysics

    joint = UsdPhysics.FixedJoint.Define(stage, path)
    connect(joint, place)
    return joint


def connect(joint: UsdPhysics.Joint, place: JointPlace) -> None:
    """Set the bodies of a joint, and its frames in them.

    Args:
        joint: The joint.
        place: Its bodies and frames.
    """
    from pxr import Gf

    if place.one:
        joint.CreateBody0Rel().SetTargets([place.one])
    if place.other:
        joint.CreateBody1Rel().SetTargets([place.other])
    joint.CreateLocalPos0Attr(Gf.Vec3f(*place.one_T_joint.translation_m.tolist()))
    joint.CreateLocalRot0Attr(quaternion(place.one_T_joint))
    joint.CreateLocalPos1Attr(Gf.Vec3f(*place.other_T_joint.translation_m.tolist()))
    joint.CreateLocalRot1Attr(quaternion(place.other_T_joint))


class MovingJoint:
    """A joint that slides or turns, whose attributes are in metres or in degrees.

    Args:
        stage: The stage.
        path: Path of the joint.
        place: Its bodies and frames.
        axis: Unit vector in the joint's frame of ``place``, (3,).
        slides: Whether it slides; otherwise it turns.
    """

    def __init__(self, stage: Usd.Stage, path: str, place: JointPlace, axis: Array, *, slides: bool) -> None:
        from pxr import UsdPhysics

        kind = UsdPhysics.PrismaticJoint if slides else UsdPhysics.RevoluteJoint
        self._joint = kind.Define(stage, path)
        self.prim = self._joint.GetPrim()
        self._unit = 1.0 if slides else math.degrees(1.0)
        self._name = "linear" if slides else "angular"
        connect(self._joint, place.turned(axis))
        self._joint.CreateAxisAttr(UsdPhysics.Tokens.x)

    def limit(self, lower: float, upper: float) -> None:
        """Set the limits of the position.

        Args:
            lower: Lowest position, m or rad.
            upper: Highest position, m or rad.
        """
        self._joint.CreateLowerLimitAttr(lower * self._unit)
        self._joint.CreateUpperLimitAttr(upper * self._unit)

    def begin(self, start: float) -> None:
        """Set the position at the start, at rest.

        Args:
            start: Position, m or rad.
        """
        state = f"state:{self._name}:physics"
        values: dict[str, Value] = {f"{state}:position": start * self._unit, f"{state}:velocity": 0.0}
        apply_schema(self.prim, f"PhysicsJointStateAPI:{self._name}", values)

    def gear(self, armature: float, speed: float) -> None:
        """Set the armature and the largest speed of a joint of an articulation.

        PhysX has moved both to a schema of their own; Isaac Sim 5.1 reads the first, later ones only the second.

        Args:
            armature: kg or kg*m^2.
            speed: m/s or rad/s.
        """
        for schema, space in (
            ("PhysxJointAPI", "physxJoint"),
            (f"PhysxJointAxisAPI:{self._name}", f"physxJointAxis:{self._name}"),
        ):
            given: dict[str, Value] = {
                f"{space}:armature": armature,
                f"{space}:maxJointVelocity": speed * self._unit,
            }
            apply_schema(self.prim, schema, given)

    def drive(self, law: JointDrive, target: float) -> None:
        """Add a drive. Values per radian become values per degree, which PhysX expects of accelerations too.

        Args:
            law: Spring and damper.
            target: Position, m or rad.
        """
        from pxr import UsdPhysics

        drive = UsdPhysics.DriveAPI.Apply(self.prim, self._name)
        drive.CreateTypeAttr(
            UsdPhysics.Tokens.acceleration if law.is_acceleration else UsdPhysics.Tokens.force
        )
        drive.CreateStiffnessAttr(law.stiffness / self._unit)
        drive.CreateDampingAttr(law.damping / self._unit)
        drive.CreateMaxForceAttr(law.max_force)
        drive.CreateTargetPositionAttr(target * self._unit)
        drive.CreateTargetVelocityAttr(0.0)

    def follow(self, leader: MovingJoint, multiplier: float, offset: float) -> None:
        """Make the joint mimic another one.

        PhysX keeps this sum at 0: the joint's position, ``gearing`` times the leader's, and ``offset``.

        Args:
            leader: The other joint.
            multiplier: Factor of the leader's position.
            offset: Position at position 0 of the leader, m or rad.
        """
        namespace = "physxMimicJoint:rotX"
        values: dict[str, Value] = {
            f"{namespace}:gearing": -multiplier * self._unit / leader._unit,
            f"{namespace}:offset": -offset * self._unit,
            f"{namespace}:referenceJointAxis": "rotX",
        }
        apply_schema(self.prim, "PhysxMimicJointAPI:rotX", values)
        path = leader.prim.GetPath()
        self.prim.CreateRelationship(f"{namespace}:referenceJoint", custom=False).SetTargets([path])
