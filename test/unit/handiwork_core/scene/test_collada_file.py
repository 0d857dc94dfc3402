"""COLLADA meshes: units, transforms of nodes, polygons, and faults in a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.scene.collada_file import collada_mesh
from handiwork_core.scene.mesh_file import hull_vertices, surface_mesh

CORNERS = "0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1"
QUADS = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
TEXT = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="x" meter="{meter}"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="box"><mesh>
    <source id="p"><float_array id="a" count="24">{corners}</float_array>
      <technique_common><accessor source="#a" count="8" stride="3"/></technique_common></source>
    <source id="n"><float_array id="b" count="3">0 0 1</float_array></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    {faces}
  </mesh></geometry></library_geometries>
  {scene}
</COLLADA>"""
INPUTS = '<input semantic="NORMAL" source="#n" offset="0"/><input semantic="VERTEX" source="#v" offset="1"/>'
SCENE = """<library_visual_scenes><visual_scene id="s"><node><translate>10 0 0</translate>
    <rotate>0 0 1 90</rotate><node><scale>2 1 1</scale><instance_geometry url="#box"/></node></node>
  </visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene>"""


def polylist() -> str:
    rows = " ".join(f"0 {index}" for quad in QUADS for index in quad)
    return f'<polylist count="6">{INPUTS}<vcount>{"4 " * 6}</vcount><p>{rows}</p></polylist>'


def triangles() -> str:
    fans = [(a, b, c) for a, b, c, _ in QUADS] + [(a, c, d) for a, _, c, d in QUADS]
    rows = " ".join(f"0 {index}" for fan in fans for index in fan)
    return f'<triangles count="12">{INPUTS}<p>{rows}</p></triangles>'


def polygons() -> str:
    rows = "".join(f"<p>{' '.join(f'0 {index}' for index in quad)}</p>" for quad in QUADS)
    return f'<polygons count="6">{INPUTS}{rows}</polygons>'


def text(faces: str, *, scene: str = "", meter: str = "0.001") -> bytes:
    return TEXT.format(faces=faces, scene=scene, meter=meter, corners=CORNERS).encode()


def volume(points: np.ndarray, faces: np.ndarray) -> float:
    corners = points[faces]
    return float(np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0)


@pytest.mark.parametrize("faces", [polylist(), triangles(), polygons()])
def test_each_kind_of_face_makes_the_same_solid_in_metres(faces: str) -> None:
    points, found = collada_mesh(text(faces))
    assert found.shape == (12, 3)
    assert volume(points, found) == pytest.approx(1e-9)


def test_transforms_of_nodes_count_in_their_order_and_the_up_axis_does_not() -> None:
    points, found = collada_mesh(text(polylist(), scene=SCENE, meter="1"))
    # (x, y, z) -> scaled (2x, y, z) -> turned (-y, 2x, z) -> moved (10 - y, 2x, z)
    np.testing.assert_allclose(points.min(axis=0), (9.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), (10.0, 2.0, 1.0), atol=1e-12)
    assert volume(points, found) == pytest.approx(2.0)


def test_files_are_read_by_their_ending(tmp_path: Path) -> None:
    path = tmp_path / "Box.DAE"
    path.write_bytes(text(polylist(), meter="1"))
    assert len(hull_vertices(path)) == 8
    assert surface_mesh(path)[1].shape == (12, 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no xml", "is no COLLADA that can be read"),
        (text(polylist()).replace(b"#p", b"#q"), "is no COLLADA that can be read: '#q'"),
        (text(triangles().replace("0 7", "0 9")), "a triangle names vertex 9 of 8"),
        (text(polylist(), scene=SCENE.replace("10 0 0", "10 0")), "is no COLLADA that can be read"),
        (text(""), "holds 0 usable vertices"),
    ],
)
def test_faults_are_a_sentence_that_names_the_file(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "box.dae"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"mesh .*box\.dae") as caught:
        surface_mesh(path)
    assert words in str(caught.value)
    assert str(caught.value).endswith("export it again")
