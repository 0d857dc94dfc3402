"""The inputs that a user may give to the export: each fault is named, or corrected; assets stay references."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics, UsdUtils

from handiwork_cli.cli import main
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from isaac_bridge.usd.export import OBJECTS, export_scene
from isaac_bridge.usd.prim_names import PrimNames
from isaac_bridge.usd.robot_bodies import robot_bodies
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
ROBOT = load_robot(FR3)

SCENE = """
name: one
objects:
  {name}: {{pose: {{position: [0.5, 0.1, 0.2]}}, {body}, mass: 0.2}}
"""
ASSET = """#usda 1.0
(
    defaultPrim = "thing"
    metersPerUnit = {unit}
    upAxis = "{up}"
)
def Xform "thing" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] )
{{
    float3 xformOp:scale = (1, 2, 1)
    double3 xformOp:translate = (7, 8, 9)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] )
    {{
        double size = {size}
        float3 xformOp:scale = (1, 1, 3)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }}
}}
"""


def exported(folder: Path, body: str, name: str = "crate") -> tuple[Path, Usd.Stage]:
    """Export a scene with one object; return the file and the stage.

    Args:
        folder: Folder of all files.
        body: Keys of the object in the scene file.
        name: Name of the object.
    """
    path, out = folder / "scene.yaml", folder / "made/stage.usda"
    path.write_text(SCENE.format(name=name, body=body), encoding="utf-8")
    export_scene(load_scene(path), ROBOT, FR3, out)
    return out, Usd.Stage.Open(str(out))


def edges(stage: Usd.Stage, path: str, purpose: str) -> np.ndarray:
    """Return the lowest and the highest corner in the frame of the object.

    Args:
        stage: The stage.
        path: Path of the object.
        purpose: Purpose of the prims that are measured.
    """
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [purpose])
    prim, frame = stage.GetPrimAtPath(path), stage.GetPrimAtPath(f"{OBJECTS}/crate")
    found = cache.ComputeRelativeBound(prim, frame).ComputeAlignedRange()
    return np.array([found.GetMin(), found.GetMax()])


@pytest.mark.parametrize(("unit", "size"), [(1.0, 0.1), (0.01, 10.0), (0.001, 100.0)])
@pytest.mark.parametrize("up", ["Y", "Z"])
def test_asset_in_any_unit_and_scale_looks_as_large_as_it_collides(
    tmp_path: Path, unit: float, size: float, up: str
) -> None:
    (tmp_path / "thing.usda").write_text(ASSET.format(unit=unit, up=up, size=size), encoding="utf-8")
    out, stage = exported(tmp_path, "usd: thing.usda")
    wanted = np.array([0.1, 0.2, 0.3] if up == "Z" else [0.1, 0.3, 0.2]) / 2.0
    solid = stage.GetPrimAtPath(f"{OBJECTS}/crate/solid_0")
    assert "xformOp:scale" not in solid.GetPropertyNames()
    assert np.allclose(edges(stage, str(solid.GetPath()), "guide"), [-wanted, wanted], atol=1e-6)
    assert np.allclose(edges(stage, f"{OBJECTS}/crate/asset", "default"), [-wanted, wanted], atol=1e-6)
    reference = stage.GetPrimAtPath(f"{OBJECTS}/crate/asset").GetMetadata("references").prependedItems[0]
    assert reference.assetPath == "./../thing.usda"
    inner = stage.GetPrimAtPath(f"{OBJECTS}/crate/asset/box")
    assert not UsdPhysics.CollisionAPI(inner).GetCollisionEnabledAttr().Get()
    body = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath(f"{OBJECTS}/crate/asset"))
    assert not body.GetRigidBodyEnabledAttr().Get()
    checker = UsdUtils.ComplianceChecker()
    checker.CheckCompliance(str(out))
    assert checker.GetErrors() + checker.GetFailedChecks() == []


def test_drawn_size_goes_for_the_asset_too(tmp_path: Path) -> None:
    (tmp_path / "thing.usda").write_text(ASSET.format(unit=1.0, up="Z", size=0.1), encoding="utf-8")
    path, out = tmp_path / "scene.yaml", tmp_path / "stage.usda"
    body = "usd: thing.usda, randomize: {size_scale: [1.5, 1.5]}"
    path.write_text(SCENE.format(name="crate", body=body), encoding="utf-8")
    export_scene(load_scene(path).randomized(3), ROBOT, FR3, out)
    stage = Usd.Stage.Open(str(out))
    assert np.allclose(
        edges(stage, f"{OBJECTS}/crate/asset", "default"),
        edges(stage, f"{OBJECTS}/crate/solid_0", "guide"),
        atol=1e-6,
    )
    assert np.allclose(edges(stage, f"{OBJECTS}/crate/asset", "default")[1], [0.075, 0.15, 0.225])


def test_missing_asset_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"objects\.crate\.usd: .*none\.usda: cannot be read"):
        exported(tmp_path, "usd: none.usda")


def test_asset_without_default_prim_is_named(tmp_path: Path) -> None:
    text = ASSET.format(unit=1.0, up="Z", size=0.1).replace('defaultPrim = "thing"', "")
    (tmp_path / "thing.usda").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"thing\.usda: has no default prim; write in prim:"):
        exported(tmp_path, "usd: thing.usda")
    _, stage = exported(tmp_path, "usd: thing.usda, prim: /thing")
    assert stage.GetPrimAtPath(f"{OBJECTS}/crate/asset/box")


def test_collider_that_does_not_close_is_named(tmp_path: Path) -> None:
    faces = ("f 1 3 2", "f 1 2 4", "f 2 3 4", "f 1 4 3", "f 1 2 5")  # a tetrahedron with a flap
    text = "\n".join(("v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", "v 0 0 -1", *faces))
    (tmp_path / "open.obj").write_text(text, encoding="utf-8")
    with pytest.raises(
        ConfigError,
        match=r"objects\.crate\.shapes: .*open\.obj has 3 edges with one triangle",
    ):
        exported(tmp_path, "shapes: [{type: mesh, file: open.obj, concave: true}]")


def test_concave_solid_keeps_its_triangles(tmp_path: Path) -> None:
    points = ((0, 0, 0), (2, 0, 0), (2, 2, 0), (1, 0.2, 0), (0, 2, 0))
    rows = [f"v {x} {y} {z + up}" for up in (0, 1) for x, y, z in points]
    rows += [
        "f 5 4 3 2 1".replace("5 4 3 2 1", "1 4 2"),
        "f 2 4 3",
        "f 1 5 4",
        "f 6 7 9",
        "f 7 8 9",
        "f 6 9 10",
    ]
    ring = [1, 2, 3, 4, 5, 1]
    rows += [f"f {a} {b} {b + 5} {a + 5}" for a, b in itertools.pairwise(ring)]
    (tmp_path / "u.obj").write_text("\n".join(rows), encoding="utf-8")
    _, stage = exported(tmp_path, "shapes: [{type: mesh, file: u.obj, concave: true}]")
    solid = stage.GetPrimAtPath(f"{OBJECTS}/crate/solid_0")
    assert UsdPhysics.MeshCollisionAPI(solid).GetApproximationAttr().Get() == "convexDecomposition"
    assert len(UsdGeom.Mesh(solid).GetFaceVertexCountsAttr().Get()) == 16


def test_names_that_would_be_one_prim_are_named(tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    thing = "{pose: {position: [0, 0, 0]}, static: true, shapes: [{type: sphere, size: [0.1]}]}"
    path.write_text(f"name: two\nobjects:\n  red-box: {thing}\n  red_box: {thing}\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"'red_box' and 'red-box' would both be the prim /World/Objects/red_box"
    ):
        export_scene(load_scene(path), ROBOT, FR3, tmp_path / "stage.usda")
    assert not (tmp_path / "stage.usda").exists()


def test_name_that_no_prim_may_have_is_kept_for_ros(tmp_path: Path) -> None:
    _, stage = exported(tmp_path, "shapes: [{type: sphere, size: [0.1]}]", name="7-up")
    prim = stage.GetPrimAtPath(f"{OBJECTS}/_7_up")
    assert prim.GetAttribute("isaac:nameOverride").Get() == "7-up"
    names = PrimNames("/World", ("light",))
    with pytest.raises(ValueError, match="'light' and 'light'"):
        names.take("light")


def test_unknown_joint_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "fr3"
    shutil.copytree(FR3, folder)
    shutil.copytree(FR3.parent / "parts", tmp_path / "parts")
    path = folder / "robot.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("fr3_joint4", "fr3_joint44"), encoding="utf-8")
    status = main(["export-usd", "tabletop", "--robot", str(folder), "-o", str(tmp_path / "stage.usda")])
    assert status == 2
    assert "no joint 'fr3_joint44' in the URDF; did you mean 'fr3_joint4'" in capsys.readouterr().err


def test_command_writes_a_stage_and_tells_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "stage.usdc"
    assert main(["export-usd", "drawer", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "fr3 at /World/fr3" in said
    assert "note: drawer: 1.5 N of joint friction" in said
    assert Usd.Stage.Open(str(out)).GetDefaultPrim().GetName() == "World"
    assert main(["export-usd", "drawer", "-o", str(tmp_path / "stage.obj")]) == 1


@pytest.mark.parametrize("geometry", ["", "<geometry/>"])
def test_a_collision_without_a_shape_is_refused_with_its_link(geometry: str) -> None:
    bare = f'<link name="fr3_link1"><collision>{geometry}</collision>'
    robot = replace(ROBOT, urdf=ROBOT.urdf.replace('<link name="fr3_link1">', bare, 1))
    assert robot.urdf != ROBOT.urdf
    with pytest.raises(
        ValueError, match="link 'fr3_link1': <collision> has no shape in <geometry>; write a box"
    ):
        robot_bodies(robot, FR3)
