"""Scene files: their content, the refused ones, and the messages of refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import ShapeKind
from handiwork_core.scene.layout import world_boxes
from handiwork_core.scene.loader import ObjectSpec, load_scene
from support.paths import ROOT

DROP_M = 0.005
"""Objects that are put down this near to their support rest at once."""
SCENES = ROOT / "config" / "scenes"

TABLE = """
name: small
objects:
  table:
    static: true
    pose: {position: [0.5, 0.0, -0.05]}
    shapes: [{type: box, size: [1.0, 1.0, 0.1]}]
"""
SMALL = (
    TABLE
    + """
  block:
    mass: 0.2
    pose: {position: [0.5, 0.0, 0.02]}
    shapes: [{type: box, size: [0.04, 0.04, 0.04]}]
    randomize: {x: [0.3, 0.7], y: [-0.2, 0.2], yaw: [-1.0, 1.0], size_scale: [0.5, 1.5]}
"""
)


def write(tmp_path: Path, text: str) -> Path:
    """Write a scene file; return its path.

    Args:
        tmp_path: Folder of the file.
        text: Its content.
    """
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", sorted(p.name for p in SCENES.glob("*.yaml")))
def test_every_shipped_scene_loads_and_scatters(name: str) -> None:
    scene = load_scene(SCENES / name)
    for seed in range(20):
        scattered = scene.randomized(seed)
        assert [o.name for o in scattered.objects] == [o.name for o in scene.objects]
        for item in scattered.objects:
            if not item.body.is_static and item.body.articulation is None:
                others = [other for other in scattered.objects if other.name != item.name]
                assert rests(item, others), (seed, item.name)


def rests(item: ObjectSpec, others: list[ObjectSpec]) -> bool:
    """Return whether an object's lowest point is on another one's box, or inside of it, like a ball in a cup.

    Args:
        item: The object.
        others: The other objects.
    """
    low, high = box_of(item)
    middle = 0.5 * (low + high)
    for other in others:
        bottom, top = box_of(other)
        if (bottom[:2] <= middle[:2]).all() and (middle[:2] <= top[:2]).all():
            inside = bottom[2] < low[2] <= top[2] and (bottom <= low).all() and (high[:2] <= top[:2]).all()
            if inside or -1e-3 <= low[2] - top[2] <= DROP_M:
                return True
    return False


def box_of(item: ObjectSpec) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest corner of an object.

    Args:
        item: The object.
    """
    boxes = world_boxes(item)
    return boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)


def test_an_object_in_the_air_or_half_in_a_container_does_not_rest() -> None:
    scene = load_scene(SCENES / "tabletop.yaml")
    cube = next(item for item in scene.objects if item.name == "cube")
    others = [item for item in scene.objects if item.name != "cube"]
    bin_T = next(item for item in others if item.name == "bin").world_T_object

    def at(x: float, y: float, z: float) -> bool:
        return rests(replace(cube, world_T_object=Pose.of((x, y, z))), others)

    x, y, _ = bin_T.translation_m
    edge = box_of(next(item for item in others if item.name == "bin"))[1]
    assert rests(cube, others)
    assert at(x, y, 0.04)
    assert not at(x, y, float(edge[2]) + 0.05)
    assert not at(float(edge[0]) - 0.005, y, 0.06)
    assert not at(0.5, 0.0, 0.06)


def test_equal_seeds_give_equal_scenes_and_others_do_not(tmp_path: Path) -> None:
    scene = load_scene(write(tmp_path, SMALL))
    first, again, other = (scene.randomized(seed).objects[1] for seed in (3, 3, 4))
    assert first.world_T_object.almost_equal(again.world_T_object, within_m=0.0, within_rad=1e-7)
    assert not first.world_T_object.almost_equal(other.world_T_object, within_m=1e-4, within_rad=1e-4)


def test_scaling_keeps_the_underside_in_place(tmp_path: Path) -> None:
    scene = load_scene(write(tmp_path, SMALL))
    sizes = []
    for seed in range(10):
        block = scene.randomized(seed).objects[1]
        sizes.append(float(block.body.shapes[0].size[0]))
        assert world_boxes(block)[0, 0, 2] == pytest.approx(0.0, abs=1e-9)
        assert world_boxes(block)[0, 1, 2] == pytest.approx(sizes[-1])
    assert min(sizes) >= 0.02
    assert max(sizes) <= 0.06
    assert max(sizes) - min(sizes) > 0.005


def test_scattered_objects_keep_clear_of_each_other() -> None:
    scene = load_scene(SCENES / "assorted.yaml")
    for seed in range(30):
        objects = {o.name: world_boxes(o) for o in scene.randomized(seed).objects}
        can, ball = objects["can"][0], objects["ball"][0]
        gap = np.maximum(can[0] - ball[1], ball[0] - can[1])[:2].max()
        assert gap > 0.0099


def test_a_scene_without_room_says_so(tmp_path: Path) -> None:
    text = SMALL.replace("position: [0.5, 0.0, -0.05]", "position: [0.5, 0.0, 0.0]")
    with pytest.raises(ValueError, match=r"objects\.block\.randomize: no free place in 200 draws; widen"):
        load_scene(write(tmp_path, text)).randomized(0)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("mass: 0.2", "mass: -0.2", "objects.block: static is False and mass -0.2; give a mass"),
        ("mass: 0.2", "mass: 0.2\n    contact_time: 1.0", "contact_time: is 1 s; give 0.002 to 0.2, or 0"),
        (
            "mass: 0.2",
            "mass: 0.2\n    contact_depth: 0.001",
            "contact_depth: is 0.001 m; give 0.0001 to 0.02 and a",
        ),
        ("mass: 0.2", "mas: 0.2", "objects.block.mas: unknown key; did you mean 'mass'?"),
        (
            "size: [0.04, 0.04, 0.04]",
            "size: [0.04, 0.04]",
            "objects.block.shapes[0]: size [0.04, 0.04] of a box; write edges",
        ),
        ("type: box, size: [0.04", "type: cube, size: [0.04", "objects.block.shapes[0].type: is 'cube'"),
        (
            "type: box, size: [0.04",
            "type: convex, size: [0.04",
            "objects.block.shapes[0].type: is 'convex'; use one of ['box', 'capsule', 'cylinder', 'mesh', 'sphere']",
        ),
        ("type: box, size: [0.04", "type: 1, size: [0.04", "objects.block.shapes[0].type: is 1; use one of"),
        ("size: [1.0,", "size: [.nan,", "objects.table.shapes[0].size[0]: is nan; write a finite number"),
        ("x: [0.3, 0.7]", "x: [0.7, 0.3]", "objects.block.randomize: x runs from 0.7 down to 0.3"),
        (
            "position: [0.5, 0.0, 0.02]",
            "position: [0.5, 0.0]",
            "objects.block.pose.position: has 2 entries; write 3",
        ),
        (
            "position: [0.5, 0.0, 0.02]",
            "position: [0.5, 0.0, 0.02], quaternion_wxyz: [0, 0, 0, 0]",
            "norm 0; make it 1",
        ),
        (
            "position: [0.5, 0.0, 0.02]",
            "position: [0.5, 0.0, 0.02], yaw: 1, quaternion_wxyz: [1, 0, 0, 0]",
            "keep one",
        ),
        ("  block:", "  world:", "'world' is no name"),
    ],
)
def test_faults_name_file_key_and_remedy(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in SMALL
    path = write(tmp_path, SMALL.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_scene(path)
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_container_is_open_above_and_closed_elsewhere() -> None:
    scene = load_scene(SCENES / "tabletop.yaml")
    body = next(o for o in scene.objects if o.name == "bin").body
    assert len(body.shapes) == 5

    def filled(x: float, y: float, z: float) -> bool:
        return any(
            np.all(np.abs(np.array([x, y, z]) - s.object_T_shape.translation_m) <= s.size / 2)
            for s in body.shapes
        )

    assert filled(0.0, 0.0, 0.005)
    assert filled(0.115, 0.0, 0.05)
    assert filled(0.0, -0.115, 0.05)
    assert filled(0.115, 0.115, 0.05)
    assert not filled(0.0, 0.0, 0.02)
    assert not filled(0.1, 0.1, 0.085)


def test_meshes_become_convex_hulls(tmp_path: Path) -> None:
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    rows = [f"v {x} {y} {z}" for x, y, z in [*corners, (0.5, 0.5, 0.5)]]
    (tmp_path / "block.obj").write_text("\n".join(rows))
    text = SMALL.replace(
        "{type: box, size: [0.04, 0.04, 0.04]}", "{type: mesh, file: block.obj, size: [0.04]}"
    )
    shape = load_scene(write(tmp_path, text)).objects[1].body.shapes[0]
    assert shape.kind is ShapeKind.CONVEX
    assert shape.vertices is not None
    assert shape.vertices.shape == (8, 3)
    assert shape.vertices.max() == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("content", "expected"), [(None, "cannot be read"), ("v 0 0 0\nv 1 0 0\n", "2 usable vertices")]
)
def test_bad_meshes_are_faults(tmp_path: Path, content: str | None, expected: str) -> None:
    if content is not None:
        (tmp_path / "bad.obj").write_text(content)
    text = SMALL.replace("{type: box, size: [0.04, 0.04, 0.04]}", "{type: mesh, file: bad.obj}")
    with pytest.raises(ConfigError, match=expected):
        load_scene(write(tmp_path, text))


VARIED = (
    TABLE
    + """
  block:
    mass: 0.2
    pose: {position: [0.5, 0.0, 0.02]}
    shapes: [{type: box, size: [0.04, 0.04, 0.04]}]
    label: red block
    randomize: {x: [0.3, 0.7], y: [-0.2, 0.2]}
    variants:
      - {label: can, shapes: [{type: cylinder, size: [0.03, 0.10]}], mass: 0.3, friction: 0.5, color: [0, 1, 0, 1]}
      - {shapes: [{type: sphere, size: [0.025]}]}
"""
)


def test_a_seed_chooses_the_form_of_an_object_which_stands_on_the_same_ground(tmp_path: Path) -> None:
    scene = load_scene(write(tmp_path, VARIED))
    seen = dict[ShapeKind, int]()
    for seed in range(300):
        (block,) = [item for item in scene.randomized(seed).objects if item.name == "block"]
        kind = block.body.shapes[0].kind
        seen[kind] = seen.get(kind, 0) + 1
        assert world_boxes(block)[:, 0, 2].min() == pytest.approx(0.0, abs=1e-9)
        if kind is ShapeKind.CYLINDER:
            assert (block.words, block.body.mass_kg, block.friction) == ("can", 0.3, 0.5)
            assert block.color == (0, 1, 0, 1)
        else:
            assert (block.words, block.body.mass_kg, block.friction) == ("red block", 0.2, 0.8)
    assert set(seen) == {ShapeKind.BOX, ShapeKind.CYLINDER, ShapeKind.SPHERE}
    assert min(seen.values()) > 70
    (block,) = [item for item in scene.objects if item.name == "block"]
    assert block.body.shapes[0].kind is ShapeKind.BOX, "as declared, nothing is drawn"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{label: nothing}", "variants\\[0\\]: needs one of shapes, container and usd"),
        ("{shapes: [{type: sphere, size: [0.02]}], mass: -1}", "mass: is -1 kg; give a mass above 0"),
        ("{usd: missing.usda}", r"objects.block.variants\[0\].usd: .*missing.usda"),
    ],
)
def test_a_form_with_a_fault_is_named(tmp_path: Path, written: str, said: str) -> None:
    text = f"{VARIED[: VARIED.index('      - {')]}      - {written}\n"
    with pytest.raises(ConfigError, match=said):
        load_scene(write(tmp_path, text))


def test_forms_with_a_mass_of_a_static_object_are_refused(tmp_path: Path) -> None:
    text = VARIED.replace("    mass: 0.2\n", "    static: true\n")
    with pytest.raises(ConfigError, match="variants: have a mass, and the object is static"):
        load_scene(write(tmp_path, text))
