"""The prims of an exported stage by our names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.geometry import Pose
from isaac_bridge.graph.ros_graph import GraphPaths

if TYPE_CHECKING:
    from pxr import Usd

OBJECTS, CAMERA = "/World/Objects", "/World/camera"
BELT = "physxSurfaceVelocity:surfaceVelocity"

Velocity = tuple[float, float, float]


class BadStage(Exception):
    """The stage is not one that ``handiwork export-usd`` writes; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class StageIndex:
    """The prims of an exported stage.

    Attributes:
        robot: Path of the articulation.
        bodies: Path of the prim -> our name of the body.
        objects: Name of the object -> path.
        grippers: Name of the gripper -> path.
        places: Name of the object -> world_T_object at the start.
        fixed: Paths of prims that never move by themselves.
        belts: Name of the object -> velocity at the start in its own frame, m/s.
    """

    robot: str
    bodies: dict[str, str]
    objects: dict[str, str]
    grippers: dict[str, str]
    places: dict[str, Pose] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    belts: dict[str, Velocity] = field(default_factory=dict)

    def cell(self) -> GraphPaths:
        """Return the paths that the graph needs."""
        return GraphPaths(self.robot, tuple(self.objects.values()), self.fixed)

    def body_at(self, path: str) -> str:
        """Return the body that a prim belongs to; empty when it is not ours.

        Args:
            path: Path of the prim.
        """
        while path:
            if path in self.bodies:
                return self.bodies[path]
            path = path.rpartition("/")[0]
        return ""


def read_stage(stage: Usd.Stage) -> StageIndex:
    """Read the prims of a stage.

    Args:
        stage: The open stage.

    Returns:
        Its prims by our names.

    Raises:
        BadStage: It has other units or axes, or not exactly one robot.
    """
    from pxr import UsdGeom, UsdPhysics

    unit, up = UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.GetStageUpAxis(stage)
    if abs(unit - 1.0) > 1e-9 or up != UsdGeom.Tokens.z:
        raise BadStage(
            f"The stage has {unit:g} m per unit and {up} up, not 1 and Z: make it by `handiwork export-usd`."
        )
    robots = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    if len(robots) != 1:
        raise BadStage(
            f"The stage has {len(robots)} articulations, not 1: make it by `handiwork export-usd`."
        )
    robot = str(robots[0].GetPath())
    things = {_name(prim): prim for prim in stage.GetPrimAtPath(OBJECTS).GetChildren()}
    bodies = {str(prim.GetPath()): name for name, prim in things.items()}
    links = [prim for prim in robots[0].GetChildren() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]
    bodies |= {str(prim.GetPath()): f"{_name(robots[0])}/{_name(prim)}" for prim in links}
    grippers = [prim for prim in stage.Traverse() if prim.GetTypeName() == "IsaacSurfaceGripper"]
    return StageIndex(
        robot,
        bodies,
        {name: str(prim.GetPath()) for name, prim in things.items()},
        {_name(prim): str(prim.GetPath()) for prim in grippers},
        {name: _place(prim) for name, prim in things.items()},
        (CAMERA,) if stage.GetPrimAtPath(CAMERA) else (),
        {name: _velocity(prim) for name, prim in things.items() if prim.HasAttribute(BELT)},
    )


def _name(prim: Usd.Prim) -> str:
    given = prim.GetAttribute("isaac:nameOverride")
    return str(given.Get()) if given and given.Get() else str(prim.GetName())


def _place(prim: Usd.Prim) -> Pose:
    from pxr import Usd, UsdGeom

    world = UsdGeom.Imageable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default())
    return Pose.from_matrix(np.array(world).T)


def _velocity(prim: Usd.Prim) -> Velocity:
    x, y, z = prim.GetAttribute(BELT).Get()
    return float(x), float(y), float(z)


def run_belt(stage: Usd.Stage, path: str, velocity: Velocity) -> None:
    """Set the velocity of a belt from now on.

    Args:
        stage: The open stage.
        path: Path of the belt.
        velocity: Velocity in the belt's frame, m/s.
    """
    from pxr import Gf

    stage.GetPrimAtPath(path).GetAttribute(BELT).Set(Gf.Vec3f(*velocity))


def put(stage: Usd.Stage, path: str, pose: Pose) -> None:
    """Put an object at a pose, at rest. Its parents are at the origin.

    Args:
        stage: The open stage.
        path: Path of the object.
        pose: world_T_object.
    """
    from pxr import Gf

    prim = stage.GetPrimAtPath(path)
    w, *xyz = pose.rotation.wxyz.tolist()
    prim.GetAttribute("xformOp:translate").Set(Gf.Vec3d(*pose.translation_m.tolist()))
    prim.GetAttribute("xformOp:orient").Set(Gf.Quatd(w, *xyz))
    for name in ("physics:velocity", "physics:angularVelocity"):
        if prim.HasAttribute(name):
            prim.GetAttribute(name).Set(Gf.Vec3f(0.0))
