"""What an exported stage holds, by our names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.geometry import Pose
from isaac_bridge.graph.ros_graph import Cell

if TYPE_CHECKING:
    from pxr import Usd

OBJECTS, CAMERA = "/World/Objects", "/World/camera"
BELT = "physxSurfaceVelocity:surfaceVelocity"

Velocity = tuple[float, float, float]


class BadStage(Exception):
    """The stage is none that ``handiwork export-usd`` writes; one sentence."""


@dataclass(frozen=True, slots=True)
class StageIndex:
    """``bodies``: our body names by paths of prims; ``objects`` and ``grippers``: paths by our names.

    ``places``: where the objects stand at the start. ``belts``: how fast they run then, in their own frames [m/s].
    """

    robot: str
    bodies: dict[str, str]
    objects: dict[str, str]
    grippers: dict[str, str]
    places: dict[str, Pose] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    belts: dict[str, Velocity] = field(default_factory=dict)

    def cell(self) -> Cell:
        """What the graph needs."""
        return Cell(self.robot, tuple(self.objects.values()), self.fixed)

    def body_at(self, path: str) -> str:
        """The body that a prim belongs to; empty where it is none of ours."""
        while path:
            if path in self.bodies:
                return self.bodies[path]
            path = path.rpartition("/")[0]
        return ""


def read_stage(stage: Usd.Stage) -> StageIndex:
    """Look through a stage.

    Raises:
        BadStage: it is in other units or axes, or has not exactly one robot.
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
    """Let a belt run so from now on [m/s]."""
    from pxr import Gf

    stage.GetPrimAtPath(path).GetAttribute(BELT).Set(Gf.Vec3f(*velocity))


def put(stage: Usd.Stage, path: str, pose: Pose) -> None:
    """Bring an object to a place in the world, at rest. Its parents stand at the origin."""
    from pxr import Gf

    prim = stage.GetPrimAtPath(path)
    w, *xyz = pose.rotation.wxyz.tolist()
    prim.GetAttribute("xformOp:translate").Set(Gf.Vec3d(*pose.translation_m.tolist()))
    prim.GetAttribute("xformOp:orient").Set(Gf.Quatd(w, *xyz))
    for name in ("physics:velocity", "physics:angularVelocity"):
        if prim.HasAttribute(name):
            prim.GetAttribute(name).Set(Gf.Vec3f(0.0))
