"""Meshes that close a solid: the repairs, the refusals, and the forms in files and scenes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.world import ShapeKind
from handiwork_core.scene.loader import load_scene
from handiwork_core.scene.mesh import closed_mesh, signed_volume
from handiwork_core.scene.mesh_file import solid_mesh

CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
CUBE = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])
SCENE = """
name: one
objects:
  thing:
    static: true
    pose: {position: [0.5, 0.0, 0.0]}
    shapes: [{type: mesh, file: FILE, size: [0.1], concave: true}]
"""


def obj_text() -> str:
    rows = [f"v {x} {y} {z}" for x, y, z in CORNERS]
    return "\n".join(
        rows + ["f " + " ".join(f"{i + 1}/1/1" for i in quad) for quad in QUADS[:-1]] + ["f -7 -3 -1 -5"]
    )


def stl_text() -> str:
    facets = []
    for triangle in CORNERS[CUBE]:
        rows = "".join(f"vertex {x} {y} {z}\n" for x, y, z in triangle)
        facets.append(f"facet normal 0 0 0\nouter loop\n{rows}endloop\nendfacet\n")
    return "solid cube\n" + "".join(facets) + "endsolid\n"


def binary_stl() -> bytes:
    record = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows = np.zeros(len(CUBE), record)
    rows["corners"] = CORNERS[CUBE]
    return b"\0" * 80 + len(rows).to_bytes(4, "little") + rows.tobytes()


def assert_unit_cube(vertices: np.ndarray, triangles: np.ndarray) -> None:  # type: ignore[type-arg]
    assert vertices.shape == (8, 3) and triangles.shape == (12, 3)
    assert signed_volume(vertices, triangles) == pytest.approx(1.0)


def test_a_good_mesh_keeps_its_volume_and_cannot_be_written() -> None:
    vertices, triangles = closed_mesh(CORNERS, CUBE)
    assert_unit_cube(vertices, triangles)
    with pytest.raises(ValueError, match="read-only"):
        triangles[0, 0] = 1


def test_doubled_vertices_and_wrongly_facing_triangles_are_repaired() -> None:
    rng = np.random.default_rng(0)
    assert_unit_cube(*closed_mesh(CORNERS[CUBE].reshape(-1, 3), np.arange(36).reshape(-1, 3)))
    assert_unit_cube(*closed_mesh(CORNERS, CUBE[:, ::-1]))
    for _ in range(10):
        turned = np.where(rng.random(12)[:, None] < 0.5, CUBE, CUBE[:, ::-1])
        assert_unit_cube(*closed_mesh(CORNERS, turned))
    assert_unit_cube(*closed_mesh(CORNERS, np.concatenate([CUBE, [[0, 0, 1]]])))


MOEBIUS = np.array([[i, (i + 1) % 5, (i + 2) % 5] for i in range(5)])


@pytest.mark.parametrize(
    ("vertices", "triangles", "words"),
    [
        (CORNERS, CUBE[1:], "3 edges with one triangle"),
        (CORNERS, np.concatenate([CUBE, CUBE[:1]]), "more than two"),
        (CORNERS, np.where(CUBE == 7, 9, CUBE), "but there are 8 vertices"),
        (CORNERS, np.where(CUBE == 7, -1, CUBE), "but there are 8 vertices"),
        (np.where(CORNERS == 1, np.nan, CORNERS), CUBE, "not finite"),
        (CORNERS[:, :2], CUBE, "shape"),
        (CORNERS, CUBE[:3], "at least four"),
        (CORNERS * (1, 1, 1e-14), CUBE, "give it a volume"),
        (np.random.default_rng(1).random((5, 3)), MOEBIUS, "edges with one triangle"),
    ],
)
def test_other_faults_are_refused_by_name(
    vertices: np.ndarray,  # type: ignore[type-arg]
    triangles: np.ndarray,  # type: ignore[type-arg]
    words: str,
) -> None:
    with pytest.raises(ValueError, match=words):
        closed_mesh(vertices, triangles)


def test_a_surface_with_one_side_is_refused() -> None:
    # The projective plane with six vertices: every edge has two triangles, yet no orientation fits all.
    plane = np.array(
        [
            (0, 1, 4),
            (0, 1, 5),
            (0, 2, 3),
            (0, 2, 5),
            (0, 3, 4),
            (1, 2, 3),
            (1, 2, 4),
            (1, 3, 5),
            (2, 4, 5),
            (3, 4, 5),
        ]
    )
    with pytest.raises(ValueError, match="one side only"):
        closed_mesh(np.random.default_rng(2).random((6, 3)), plane)


@pytest.mark.parametrize("name", ["cube.obj", "text.stl", "binary.stl"])
def test_files_give_solids(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(
        {"cube.obj": obj_text().encode(), "text.stl": stl_text().encode(), "binary.stl": binary_stl()}[name]
    )
    assert_unit_cube(*solid_mesh(path))
    scene_path = tmp_path / "scene.yaml"
    scene_path.write_text(SCENE.replace("FILE", name))
    (item,) = load_scene(scene_path).objects
    (shape,) = item.body.shapes
    assert shape.kind is ShapeKind.MESH and shape.vertices is not None and shape.triangles is not None
    assert signed_volume(shape.vertices, shape.triangles) == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("text", "shape", "words"),
    [
        (obj_text().rsplit("\n", 1)[0], "", "close it, or load it as its convex hull"),
        (obj_text() + "\nf 1 2 99", "", "no face of 8 vertices"),
        (obj_text() + "\nf 1 b 3", "", "no face"),
        (obj_text(), "{type: box, size: [1, 1, 1], concave: true}", "concave belongs to type mesh"),
    ],
)
def test_bad_files_are_faults_that_name_the_object(tmp_path: Path, text: str, shape: str, words: str) -> None:
    (tmp_path / "bad.obj").write_text(text)
    scene = SCENE.replace("FILE", "bad.obj")
    if shape:
        scene = scene.replace("{type: mesh, file: bad.obj, size: [0.1], concave: true}", shape)
    path = tmp_path / "scene.yaml"
    path.write_text(scene)
    with pytest.raises(ConfigError, match=words):
        load_scene(path)
