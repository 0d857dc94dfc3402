"""Converts a scene file and a robot to one OpenUSD stage: metres, kilograms, z up, physics by UsdPhysics."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import Scene

from .named_schemas import Value, apply_schema
from .object_prims import ObjectPrims
from .prim_names import PrimNames
from .robot_prims import RobotPrims
from .stage_parts import Frictions, place

if TYPE_CHECKING:
    from pxr import Usd

WORLD, OBJECTS = "/World", "/World/Objects"
SUFFIXES = (".usd", ".usda", ".usdc")
STEPS_PER_S = 200
"""The physics steps in each second; the ROS graph runs once in each."""

EYE_M = (1.9, -1.5, 1.3)
"""Position of the camera in the frame of the robot's base; it looks at a place before the base."""


@dataclass(frozen=True, slots=True)
class Exported:
    """The content of a stage.

    Attributes:
        robot_path: Path of the robot.
        object_paths: Name of the object -> path.
        notes: Sentences on differences between the stage and the scene.
    """

    robot_path: str
    object_paths: dict[str, str]
    notes: tuple[str, ...]


def export_scene(scene: Scene, robot: Robot, robot_folder: Path, out: Path) -> Exported:
    """Write the stage; references to assets are relative to it.

    Args:
        scene: The scene.
        robot: The robot.
        robot_folder: Folder from which the paths of the robot's meshes start.
        out: The file to write.

    Returns:
        The content of the stage.

    Raises:
        ValueError: usd-core is missing, the file's ending is not one of OpenUSD, two names would be the same prim,
            or a file cannot be read.
    """
    if out.suffix not in SUFFIXES:
        raise ValueError(
            f"{out}: the ending {out.suffix!r} is none of {', '.join(SUFFIXES)}; write one of them"
        )
    stage, found = build_stage(scene, robot, robot_folder)
    from pxr import UsdUtils

    layer, folder = stage.GetRootLayer(), out.resolve().parent
    UsdUtils.ModifyAssetPaths(layer, lambda path: f"./{os.path.relpath(path, folder)}")
    folder.mkdir(parents=True, exist_ok=True)
    layer.Export(str(out))
    return found


def build_stage(scene: Scene, robot: Robot, robot_folder: Path) -> tuple[Usd.Stage, Exported]:
    """Build the stage in memory; see ``export_scene``.

    Args:
        scene: The scene.
        robot: The robot.
        robot_folder: Folder from which the paths of the robot's meshes start.

    Returns:
        The stage and its content.

    Raises:
        ValueError: usd-core is missing, two names would be the same prim, or a file cannot be read.
    """
    try:
        from pxr import Usd, UsdGeom
    except ImportError as error:
        raise ValueError("OpenUSD needs usd-core; pip install -r requirements/usd.txt") from error
    stage = Usd.Stage.CreateInMemory()
    _set_up(stage)
    names = PrimNames(WORLD, ("Objects", "Materials", "physics", "light", "camera"))
    frictions = Frictions(stage, f"{WORLD}/Materials")
    UsdGeom.Scope.Define(stage, f"{WORLD}/Materials")
    UsdGeom.Xform.Define(stage, OBJECTS)
    machine = RobotPrims(stage, f"{WORLD}/{names.take(robot.name)}", robot, robot_folder, frictions)
    machine.add(scene.world_T_base)
    objects = ObjectPrims(stage, OBJECTS, frictions)
    for item in scene.objects:
        objects.add(item)
    _add_view(stage, scene.world_T_base)
    return stage, Exported(machine.path, objects.paths, tuple(objects.notes))


def _set_up(stage: Usd.Stage) -> None:
    """Set units, axes, gravity, and physics on the processor: the ROS joint nodes and grippers need it there."""
    from pxr import Gf, UsdGeom, UsdPhysics

    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, WORLD).GetPrim())
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    physics = UsdPhysics.Scene.Define(stage, f"{WORLD}/physics")
    physics.CreateGravityDirectionAttr(Gf.Vec3f(0.0, 0.0, -1.0))
    physics.CreateGravityMagnitudeAttr(9.81)
    where: dict[str, Value] = {
        "physxScene:enableGPUDynamics": False,
        "physxScene:broadphaseType": "MBP",
        "physxScene:timeStepsPerSecond": STEPS_PER_S,
    }
    apply_schema(physics.GetPrim(), "PhysxSceneAPI", where)


def _add_view(stage: Usd.Stage, world_T_base: Pose) -> None:
    """Add a light from above, and a camera that shows the robot and the area before it."""
    from pxr import UsdGeom, UsdLux

    UsdLux.DomeLight.Define(stage, f"{WORLD}/light").CreateIntensityAttr(1000.0)
    camera = UsdGeom.Camera.Define(stage, f"{WORLD}/camera")
    eye, target = world_T_base.apply(EYE_M), world_T_base.apply((0.4, 0.0, 0.2))
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    turn = Rotation.from_matrix(np.column_stack([right, np.cross(back, right), back]))
    place(camera.GetPrim(), Pose.of(eye, turn))
