"""Functions that prims of objects and of robots share: poses, solids, masses, materials, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.dynamics.mass_properties import MassProperties, hull_triangles
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import Indices, Shape, ShapeKind

from .named_schemas import Value, apply_schema, write_named

if TYPE_CHECKING:
    from pxr import Gf, Usd, UsdGeom

Color = tuple[float, float, float, float]
CUBE_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def quaternion(pose: Pose) -> Gf.Quatf:
    """Return the rotation in the form that attributes of joints and masses have.

    Args:
        pose: The pose with the rotation.
    """
    from pxr import Gf

    w, *xyz = pose.rotation.wxyz.tolist()
    return Gf.Quatf(w, *xyz)


def place(prim: Usd.Prim, pose: Pose) -> None:
    """Set the pose of a prim in its parent's frame by a translation and a rotation, without a scale.

    Args:
        prim: The prim.
        pose: parent_T_prim.
    """
    from pxr import Gf, UsdGeom

    item = UsdGeom.Xformable(prim)
    w, *xyz = pose.rotation.wxyz.tolist()
    item.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*pose.translation_m.tolist()))
    item.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, *xyz))


def add_frame(stage: Usd.Stage, path: str, pose: Pose) -> Usd.Prim:
    """Add an ``Xform`` at a pose.

    Args:
        stage: The stage.
        path: Path of the new prim.
        pose: parent_T_prim.
    """
    from pxr import UsdGeom

    prim = UsdGeom.Xform.Define(stage, path).GetPrim()
    place(prim, pose)
    return prim


def add_solid(stage: Usd.Stage, path: str, shape: Shape, color: Color, *, is_fixed: bool) -> Usd.Prim:
    """Add a shape as visible geometry that collides, in its own size: no prim is scaled.

    A box with unequal edges is a mesh of eight corners and its convex hull, because a ``Cube`` has one size only.

    Args:
        stage: The stage.
        path: Path of the new prim.
        shape: The shape.
        color: Red, green, blue and opacity, 0 to 1.
        is_fixed: Whether it never moves, so that a concave mesh may collide by its triangles.

    Returns:
        The new prim.
    """
    from pxr import Gf, UsdPhysics, Vt

    geom = _defined(stage, path, shape)
    place(geom.GetPrim(), shape.object_T_shape)
    geom.CreateExtentAttr(type(geom).ComputeExtentFromPlugins(geom, 0))
    geom.CreateDisplayColorAttr(Vt.Vec3fArray([Gf.Vec3f(*color[:3])]))
    geom.CreateDisplayOpacityAttr(Vt.FloatArray([color[3]]))
    prim = geom.GetPrim()
    UsdPhysics.CollisionAPI.Apply(prim)
    if prim.GetTypeName() == "Mesh":
        how = UsdPhysics.Tokens.convexHull
        if shape.kind is ShapeKind.MESH:
            how = UsdPhysics.Tokens.none if is_fixed else UsdPhysics.Tokens.convexDecomposition
        UsdPhysics.MeshCollisionAPI.Apply(prim).CreateApproximationAttr(how)
    return prim


def _defined(stage: Usd.Stage, path: str, shape: Shape) -> UsdGeom.Gprim:
    from pxr import UsdGeom

    if shape.vertices is not None:
        triangles = shape.triangles if shape.triangles is not None else hull_triangles(shape.vertices)
        return _mesh(stage, path, shape.vertices, triangles)
    if shape.kind is ShapeKind.BOX:
        if np.ptp(shape.size) < 1e-12:
            cube = UsdGeom.Cube.Define(stage, path)
            cube.CreateSizeAttr(float(shape.size[0]))
            return cube
        corners = CUBE_CORNERS * shape.size
        return _mesh(stage, path, corners, hull_triangles(corners))
    kinds = {
        ShapeKind.SPHERE: UsdGeom.Sphere,
        ShapeKind.CYLINDER: UsdGeom.Cylinder,
        ShapeKind.CAPSULE: UsdGeom.Capsule,
    }
    solid = kinds[shape.kind].Define(stage, path)
    solid.CreateRadiusAttr(float(shape.size[0]))
    if shape.kind is not ShapeKind.SPHERE:
        solid.CreateHeightAttr(float(shape.size[1]))
        solid.CreateAxisAttr(UsdGeom.Tokens.z)
    return solid


def _mesh(stage: Usd.Stage, path: str, vertices: Array, triangles: Indices) -> UsdGeom.Mesh:
    from pxr import UsdGeom, Vt

    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(vertices, dtype=np.float32)))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(triangles), 3))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(triangles.ravel(), np.int32)))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    return mesh


def make_body(prim: Usd.Prim, mass: MassProperties, *, is_weightless: bool) -> None:
    """Make a prim a rigid body that reports its contacts.

    Args:
        prim: The prim.
        mass: Its mass and inertia.
        is_weightless: Whether gravity does not act on it.
    """
    from pxr import Gf, UsdPhysics

    UsdPhysics.RigidBodyAPI.Apply(prim)
    given = UsdPhysics.MassAPI.Apply(prim)
    given.CreateMassAttr(mass.mass_kg)
    given.CreateCenterOfMassAttr(Gf.Vec3f(*mass.centre.tolist()))
    given.CreateDiagonalInertiaAttr(Gf.Vec3f(*mass.moments.tolist()))
    given.CreatePrincipalAxesAttr(quaternion(Pose.of((0.0, 0.0, 0.0), mass.axes)))
    awake: dict[str, Value] = {
        "physxRigidBody:disableGravity": is_weightless,
        "physxRigidBody:sleepThreshold": 0.0,  # sleeping bodies report no contacts
        "physxRigidBody:solverPositionIterationCount": 16,
    }
    apply_schema(prim, "PhysxRigidBodyAPI", awake)
    apply_schema(prim, "PhysxContactReportAPI", {"physxContactReport:threshold": 0.0})


def label(prim: Usd.Prim, name: str) -> None:
    """Give a prim our name: as its semantic class, and as its ROS name when the prim's own differs.

    Args:
        prim: The prim.
        name: Our name.
    """
    from pxr import UsdSemantics

    UsdSemantics.LabelsAPI.Apply(prim, "class").CreateLabelsAttr([name])
    if prim.GetName() != name:
        write_named(prim, {"isaac:nameOverride": name})


class Frictions:
    """Physics materials of a stage, one for each coefficient of friction; of two in contact the greater one is used.

    Args:
        stage: The stage.
        below: Path of the parent of the materials.
    """

    def __init__(self, stage: Usd.Stage, below: str) -> None:
        self._stage, self._below = stage, below
        self._paths: dict[float, str] = {}

    def bind(self, prim: Usd.Prim, friction: float) -> None:
        """Set the friction of a prim and of the prims below it.

        Args:
            prim: The prim.
            friction: Coefficient of friction.
        """
        from pxr import UsdShade

        material = UsdShade.Material.Get(self._stage, self._path(round(friction, 6)))
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(
            material, UsdShade.Tokens.weakerThanDescendants, materialPurpose="physics"
        )

    def _path(self, friction: float) -> str:
        from pxr import UsdPhysics, UsdShade

        if friction not in self._paths:
            path = f"{self._below}/friction_{len(self._paths)}"
            prim = UsdShade.Material.Define(self._stage, path).GetPrim()
            physics = UsdPhysics.MaterialAPI.Apply(prim)
            physics.CreateStaticFrictionAttr(friction)
            physics.CreateDynamicFrictionAttr(friction)
            physics.CreateRestitutionAttr(0.0)
            modes = ("physxMaterial:frictionCombineMode", "physxMaterial:restitutionCombineMode")
            apply_schema(prim, "PhysxMaterialAPI", dict.fromkeys(modes, "max"))
            self._paths[friction] = path
        return self._paths[friction]
