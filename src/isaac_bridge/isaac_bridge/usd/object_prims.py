"""Objects of a scene as prims: solids, mass, friction, belts, parts on joints, and references to a user's assets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.dynamics.mass_properties import mass_properties
from handiwork_core.model.articulation import Articulation
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.scene.layout import Asset
from handiwork_core.scene.loader import SceneObject
from handiwork_core.scene.usd import Z_FROM_Y_UP, rigid_part

from .joint_drives import JointDrive
from .joint_prims import JointPlace, MovingJoint
from .named_schemas import Value, apply_schema
from .prim_names import PrimNames
from .stage_parts import Frictions, add_frame, add_solid, label, make_body

if TYPE_CHECKING:
    from pxr import Usd


class ObjectPrims:
    """Adds objects below ``/World/Objects``; a part must follow its body.

    Args:
        stage: The stage.
        below: Path of the parent.
        frictions: Materials of the stage.
    """

    def __init__(self, stage: Usd.Stage, below: str, frictions: Frictions) -> None:
        self._stage, self._below, self._frictions = stage, below, frictions
        self._names = PrimNames(below)
        self.paths: dict[str, str] = {}
        self.notes: list[str] = []

    def add(self, item: SceneObject) -> None:
        """Add one object.

        Args:
            item: The object.

        Raises:
            ValueError: Another object has the same prim, or its asset cannot be referenced; the message names it.
        """
        body = item.body
        path = self.paths[item.name] = f"{self._below}/{self._names.take(item.name)}"
        prim = add_frame(self._stage, path, item.world_T_object)
        label(prim, item.name)
        self._frictions.bind(prim, item.friction)
        if not body.is_static:
            make_body(prim, mass_properties(body.shapes, body.mass_kg), is_weightless=False)
        elif item.belt is not None:
            _run(prim, item.belt.velocity)
        for index, shape in enumerate(body.shapes):
            solid = add_solid(
                self._stage, f"{path}/solid_{index}", shape, item.color, is_fixed=body.is_static
            )
            if item.asset is not None:
                _hide(solid)
        if item.asset is not None:
            refer(self._stage, f"{path}/asset", item.asset)
        if body.articulation is not None:
            self._guide(item, body.articulation, path)

    def _guide(self, item: SceneObject, joint: Articulation, path: str) -> None:
        """Add the joint that lets a part move on its body along or about one axis."""
        from pxr import UsdPhysics

        carrier, drive = self.paths.get(joint.body), item.drive
        if carrier is None or drive is None:
            raise ValueError(f"part {item.name!r} needs its body {joint.body!r} before it, and a drive")
        at = Pose.of(joint.origin)
        place = JointPlace(carrier, path, joint.body_T_part @ at, at)
        slides = joint.kind is JointKind.PRISMATIC
        made = MovingJoint(self._stage, f"{path}/joint", place, joint.axis, slides=slides)
        made.limit(joint.lower, joint.upper)
        made.begin(drive.start)
        made.drive(JointDrive(False, 0.0, drive.damping), 0.0)
        UsdPhysics.FilteredPairsAPI.Apply(
            self._stage.GetPrimAtPath(path)
        ).CreateFilteredPairsRel().SetTargets([carrier])
        if drive.friction > 0.0:
            unit = "N" if slides else "N*m"
            self.notes.append(
                f"{item.name}: {drive.friction:g} {unit} of joint friction are omitted; PhysX supports them for "
                "joints of robots alone, so give damping instead"
            )


def _run(prim: Usd.Prim, velocity: tuple[float, float, float]) -> None:
    """Make a prim a belt: a kinematic body whose surface moves."""
    from pxr import UsdPhysics

    UsdPhysics.RigidBodyAPI.Apply(prim).CreateKinematicEnabledAttr(True)
    name = "physxSurfaceVelocity:surfaceVelocity"
    values: dict[str, Value] = {name: velocity, f"{name}Enabled": True, f"{name}LocalSpace": True}
    apply_schema(prim, "PhysxSurfaceVelocityAPI", values)


def _hide(prim: Usd.Prim) -> None:
    """Make a solid a guide, which is not rendered: the asset is the visible geometry."""
    from pxr import UsdGeom

    UsdGeom.Imageable(prim).CreatePurposeAttr(UsdGeom.Tokens.guide)


def refer(stage: Usd.Stage, path: str, asset: Asset) -> None:
    """Add a reference to a user's asset, in metres, z up, at the object. Its own physics is switched off.

    Args:
        stage: The stage.
        path: Path of the new prim.
        asset: The file, its prim and scale.

    Raises:
        ValueError: The asset has no prim that can be referenced.
    """
    from pxr import Gf, Usd, UsdGeom, UsdPhysics

    source = Usd.Stage.Open(str(asset.file))
    root = source.GetPrimAtPath(asset.prim) if asset.prim else source.GetDefaultPrim()
    if not root:
        raise ValueError(f"{asset.file}: has no default prim; write in prim: which prim is meant")
    prim = UsdGeom.Xform.Define(stage, path).GetPrim()
    prim.GetReferences().AddReference(str(asset.file.resolve()), root.GetPath())
    item = UsdGeom.Xformable(prim)
    item.ClearXformOpOrder()
    matrix = np.eye(4)
    matrix[:3, :3] = _in_metres(source, root) * asset.scale
    item.AddTransformOp(UsdGeom.XformOp.PrecisionDouble, "handiwork").Set(Gf.Matrix4d(matrix.tolist()))
    while shared := [each for each in Usd.PrimRange(prim) if each.IsInstance()]:
        for each in shared:
            each.SetInstanceable(False)
    for each in Usd.PrimRange(prim):
        if each.HasAPI(UsdPhysics.RigidBodyAPI):
            UsdPhysics.RigidBodyAPI(each).CreateRigidBodyEnabledAttr(False)
        if each.HasAPI(UsdPhysics.CollisionAPI):
            UsdPhysics.CollisionAPI(each).CreateCollisionEnabledAttr(False)


def _in_metres(source: Usd.Stage, root: Usd.Prim) -> Array:
    """Return the matrix (3, 3), for rows, from points of a prim to the frame and unit in which its solids were read."""
    from pxr import Usd, UsdGeom

    home = np.array(UsdGeom.XformCache(Usd.TimeCode.EarliestTime()).GetLocalToWorldTransform(root))[:3, :3]
    up = Z_FROM_Y_UP if UsdGeom.GetStageUpAxis(source) == UsdGeom.Tokens.y else np.eye(3)
    return np.asarray(home @ rigid_part(home.T) @ up.T * UsdGeom.GetStageMetersPerUnit(source))
