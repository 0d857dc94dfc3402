"""OpenUSD files: unit, scale, shear, up axis, instances, purposes, gprims, and broken files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conditionals_node.spaces.hulls import GeometryError, hull, hull_of
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.world import WorldObject
from handiwork_core.scene.loader import load_scene
from handiwork_core.scene.usd import usd_parts, usd_shapes
from support.paths import DATA

VECTORS = DATA / "conditionals" / "usd_scale.npz"
CORNERS = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (0.0, 0.08)])
FACES = "int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]\n" + (
    "int[] faceVertexIndices = [0,1,3,2, 4,6,7,5, 0,4,5,1, 2,3,7,6, 0,2,6,4, 1,5,7,3]\n"
)
SHEAR = "matrix4d xformOp:transform = ((1,0,0,0), (0.5,2,0,0), (0,0,1,0), (0,0,0,1))"


def mesh(points: np.ndarray, more: str = "", name: str = "mesh") -> str:
    rows = ", ".join(f"({x:.9g}, {y:.9g}, {z:.9g})" for x, y, z in points)
    return f'def Mesh "{name}" {{ point3f[] points = [{rows}]\n{FACES}\n{more} }}\n'


def op(kind: str, value: str) -> str:
    type_name = "float3" if kind.startswith("rotate") else "double3"
    return f'{type_name} xformOp:{kind} = {value}\nuniform token[] xformOpOrder = ["xformOp:{kind}"]\n'


def spaced(text: str) -> str:
    """Put braces on lines of their own, as the format requires."""
    return text.replace("{", "{\n").replace("}", "\n}\n")


def write(
    folder: Path, inner: str, ops: str = "", unit: str = "1", up: str = "Z", outer: tuple[str, str] = ("", "")
) -> Path:
    path = folder / "thing.usda"
    text = (
        f'#usda 1.0\n(\n defaultPrim = "world"\n metersPerUnit = {unit}\n upAxis = "{up}"\n)\n'
        f'def Xform "world" {{ {outer[0]}\n def Xform "box" {{ {ops}\n {inner} }} {outer[1]} }}\n'
    )
    path.write_text(spaced(text), encoding="utf-8")
    return path


def corners(path: Path, prim: str = "/world/box") -> np.ndarray:
    points = np.vstack([part.points for part in usd_parts(path, prim)])
    return np.unique(points.round(6) + 0.0, axis=0)


AUTHORED = {
    "metres_scale1": (mesh(CORNERS), "", "1", ""),
    "cm_scale001": (mesh(CORNERS * 100.0), op("scale", "(0.01, 0.01, 0.01)"), "1", ""),
    "nonuniform": (mesh(CORNERS / (0.1, 0.2, 0.5)), op("scale", "(0.1, 0.2, 0.5)"), "1", ""),
    "mesh_child_scale": (mesh(CORNERS / 0.01, op("scale", "(0.01, 0.01, 0.01)")), "", "1", ""),
    "both_scales": (
        mesh(CORNERS / 0.05, op("scale", "(0.1, 0.1, 0.1)")),
        op("scale", "(0.5, 0.5, 0.5)"),
        "1",
        "",
    ),
    "rotated_xform": (mesh(CORNERS), op("rotateXYZ", "(30, 40, 50)"), "1", ""),
    "shift_pivot": (mesh(CORNERS, op("translate", "(0, 0, 10)")), "", "1", ""),
    "ancestor_scale": (mesh(CORNERS * 100.0), "", "1", op("scale", "(0.01, 0.01, 0.01)")),
}


@pytest.mark.parametrize("name", sorted(AUTHORED))
def test_every_way_of_writing_a_size_gives_the_same_box(tmp_path: Path, name: str) -> None:
    inner, ops, unit, outer = AUTHORED[name]
    found = corners(write(tmp_path, inner, ops, unit, outer=(outer, "")))
    with np.load(VECTORS) as vectors:
        wanted = np.unique(vectors[f"usd_{name}"].round(4) + 0.0, axis=0)
    assert found == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("unit", "factor"), [("0.01", 100.0), ("0.001", 1000.0), ("0.0254", 1 / 0.0254)])
def test_the_unit_of_the_file_counts(tmp_path: Path, unit: str, factor: float) -> None:
    path = write(tmp_path, mesh(CORNERS * factor), op("translate", "(7, 8, 9)"), unit)
    assert corners(path) == pytest.approx(np.unique(CORNERS, axis=0), abs=1e-6)


def test_a_y_up_file_stands_upright(tmp_path: Path) -> None:
    y_up = CORNERS[:, [0, 2, 1]] * (1.0, 1.0, -1.0)
    assert corners(write(tmp_path, mesh(y_up), up="Y")) == pytest.approx(np.unique(CORNERS, axis=0), abs=1e-6)


def test_a_mirrored_box_keeps_its_open_side_up(tmp_path: Path) -> None:
    path = write(tmp_path, mesh(CORNERS), op("scale", "(-1, 1, 1)"))
    assert corners(path)[:, 2].min() == pytest.approx(0.0)
    assert corners(path) == pytest.approx(np.unique(CORNERS, axis=0), abs=1e-6)


def test_shear_is_part_of_the_shape(tmp_path: Path) -> None:
    ops = SHEAR + '\nuniform token[] xformOpOrder = ["xformOp:transform"]\n'
    found = corners(write(tmp_path, mesh(CORNERS, ops)))
    wanted = CORNERS @ np.array([[1, 0, 0], [0.5, 2, 0], [0, 0, 1]])
    assert found == pytest.approx(np.unique(wanted.round(6), axis=0), abs=1e-6)


def test_instances_are_read(tmp_path: Path) -> None:
    inner = 'def "copy" (instanceable = true\n prepend references = </kept>) { }\n'
    path = write(tmp_path, inner)
    kept = spaced(f'def Xform "kept" {{ {mesh(CORNERS)} }}\n')
    path.write_text(path.read_text(encoding="utf-8") + kept, encoding="utf-8")
    assert corners(path) == pytest.approx(np.unique(CORNERS, axis=0), abs=1e-6)


@pytest.mark.parametrize(
    ("inner", "parts"),
    [
        (mesh(CORNERS) + mesh(CORNERS * 2.0, 'uniform token purpose = "guide"', "g"), ["mesh"]),
        (mesh(CORNERS) + mesh(CORNERS * 2.0, 'uniform token purpose = "proxy"', "p"), ["mesh"]),
        (mesh(CORNERS) + mesh(CORNERS * 2.0, 'token visibility = "invisible"', "i"), ["mesh"]),
        (mesh(CORNERS, 'uniform token purpose = "render"', "r"), ["r"]),
        (mesh(CORNERS, 'uniform token purpose = "proxy"', "p"), ["p"]),
    ],
)
def test_what_counts(tmp_path: Path, inner: str, parts: list[str]) -> None:
    found = usd_parts(write(tmp_path, inner), "/world/box")
    assert [part.path.rpartition("/")[2] for part in found] == parts


@pytest.mark.parametrize(
    ("gprim", "size"),
    [
        ('def Cube "c" { double size = 0.2 }', (0.2, 0.2, 0.2)),
        ('def Sphere "s" { double radius = 0.1 }', (0.2, 0.2, 0.2)),
        (
            'def Cylinder "c" { double radius = 0.1 double height = 0.5 uniform token axis = "X" }',
            (0.5, 0.2, 0.2),
        ),
        (
            'def Capsule "c" { double radius = 0.1 double height = 0.3 uniform token axis = "Y" }',
            (0.2, 0.5, 0.2),
        ),
        (
            'def Cone "c" { double radius = 0.1 double height = 0.3 uniform token axis = "Z" }',
            (0.2, 0.2, 0.3),
        ),
        ('def Cube "c" { }', (2.0, 2.0, 2.0)),
    ],
)
def test_gprims(tmp_path: Path, gprim: str, size: tuple[float, float, float]) -> None:
    text = gprim.replace(" double", "\n double").replace(" uniform", "\n uniform")
    (shape,) = usd_shapes(write(tmp_path, text), "/world/box")
    assert shape.vertices is not None
    assert np.ptp(shape.vertices, axis=0) == pytest.approx(size, rel=1e-6)


FLAT = mesh(CORNERS * (1.0, 1.0, 0.0))


@pytest.mark.parametrize(
    ("inner", "prim", "words"),
    [
        ("", "/world/box", ["/world/box", "no visible mesh"]),
        (mesh(CORNERS), "/nothing", ["/nothing", "no prim", "/world/box"]),
        (FLAT, "/world/box", ["/world/box/mesh", "flat"]),
        (mesh(CORNERS[:4]), "/world/box", ["/world/box/mesh", "vertex 7 of 4"]),
        (
            mesh(CORNERS).replace("(-0.1, -0.05, 0)", "(nan, 0, 0)"),
            "/world/box",
            ["/world/box/mesh", "no numbers"],
        ),
        ('def Mesh "m" { }', "/world/box", ["/world/box/m"]),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, inner: str, prim: str, words: list[str]) -> None:
    with pytest.raises(ValueError, match=r"thing\.usda") as caught:
        usd_shapes(write(tmp_path, inner), prim)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="check the path"):
        usd_parts(tmp_path / "none.usda")
    (tmp_path / "x.usda").write_text("hello", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.usda.*broken"):
        usd_parts(tmp_path / "x.usda")


def test_a_flat_part_beside_a_solid_one_does_no_harm(tmp_path: Path) -> None:
    flat = FLAT.replace('"mesh"', '"sheet"')
    path = write(tmp_path, mesh(CORNERS) + flat)
    assert len(usd_parts(path, "/world/box")) == 2
    shapes = usd_shapes(path, "/world/box")
    assert len(shapes) == 1
    assert hull(WorldObject("box", shapes)).centroid == pytest.approx((0.0, 0.0, 0.04), abs=1e-7)


def test_sheets_that_stand_around_a_room_make_one_solid(tmp_path: Path) -> None:
    sheets = "".join(
        mesh(np.where(np.arange(3) == axis, side, CORNERS), name=f"s{axis}{int(side > 0)}")
        for axis in range(3)
        for side in (-0.1, 0.1)
    )
    assert len(usd_shapes(write(tmp_path, sheets), "/world/box")) == 1


def test_the_hull_does_not_depend_on_how_a_mesh_is_cut() -> None:
    rng = np.random.default_rng(0)
    fine = np.vstack(
        [CORNERS, np.column_stack([np.full(2000, 0.1), rng.uniform((-0.05, 0), (0.05, 0.08), (2000, 2))])]
    )
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned = (fine @ turn.T).astype(np.float32).astype(np.float64)
    centre = hull_of(turned, "fine").centroid @ turn
    assert centre == pytest.approx((0.0, 0.0, 0.04), abs=1e-6)
    with pytest.raises(GeometryError, match=r"'sheet'.*flat"):
        hull_of(CORNERS * (1.0, 1.0, 0.0), "sheet")


SCENE = """
name: shelf
objects:
  crate: {pose: {position: [0.5, 0.0, 0.0]}, usd: %s, prim: %s, mass: 0.2}
"""


def test_a_scene_may_name_a_file(tmp_path: Path) -> None:
    write(tmp_path, mesh(CORNERS * 100.0), unit="0.01")
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE % ("thing.usda", "/world/box"), encoding="utf-8")
    (crate,) = load_scene(path).objects
    assert hull(crate.body).centroid == pytest.approx((0.0, 0.0, 0.04), abs=1e-7)
    for file, prim, words in (("none.usda", "/world/box", "check the path"), ("thing.usda", "/lid", "/lid")):
        path.write_text(SCENE % (file, prim), encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_scene(path)
        assert caught.value.faults[0].startswith("objects.crate.usd: ")
        assert words in caught.value.faults[0]
