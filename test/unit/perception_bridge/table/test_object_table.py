"""The table of objects: labels, shapes, sources; what is refused, with which sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.scene.loader import load_scene
from perception_bridge.table.object_table import ObjectTable, SourceKind, load_table
from support.paths import ROOT

SCENE = load_scene(ROOT / "config" / "scenes" / "tabletop.yaml")
SOURCE = "sources: [{type: detections, topic: detections}]\n"


def read(tmp_path: Path, text: str) -> ObjectTable:
    path = tmp_path / "table.yaml"
    path.write_text(text)
    return load_table(path, SCENE)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "config" / "perception").glob("*.yaml")), ids=lambda p: p.name
)
def test_every_shipped_table_loads(path: Path) -> None:
    own = ROOT / "config" / "scenes" / path.name
    assert load_table(path, load_scene(own) if own.is_file() else SCENE).sources


TAGS = "sources: [{type: tags, topic: cameras/top/color/image_raw}]\n"


def test_tags_are_those_of_the_label_or_of_the_object_in_the_scene(tmp_path: Path) -> None:
    path = tmp_path / "table.yaml"
    path.write_text(
        TAGS + "labels: {tin: {object: can, tags: [{id: 12, size: 0.05}]}, red: {object: cube}}\n"
    )
    table = load_table(path, load_scene(ROOT / "config" / "scenes" / "tags.yaml"))
    assert {name: [tag.id for tag in tags] for name, tags in table.tags().items()} == {
        "tin": [12],
        "red": [0, 1, 2, 3, 4],
    }
    assert table.sources[0].info_topic == "cameras/top/color/camera_info"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TAGS, "one finds tags, and no label has any"),
        (TAGS + "labels: {a: {object: cube, tags: [{id: 1, size: 0.1}]}, b: {object: can, tags: [{id: 1, size: 0.1}]}}",
         "tag 1 is also on 'a'"),
        (TAGS + "labels: {a: {object: cube, count: 2, tags: [{id: 1, size: 0.1}]}}", "count is 2"),
        ("sources: [{type: tags, topic: i, label: cube}]", "has labels of its own"),
        ("sources: [{type: pose, topic: i, label: cube, camera_info: c}]", "camera_info: belongs to tags"),
    ],
)  # fmt: skip
def test_faulty_tags_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read(tmp_path, text)


def test_movable_objects_of_the_scene_are_labels_of_their_names(tmp_path: Path) -> None:
    table = read(tmp_path, SOURCE)
    assert set(table.labels) == {"cube", "can"}
    assert set(table.objects()) == {"cube", "can"}


def test_a_label_has_shapes_a_count_and_other_names(tmp_path: Path) -> None:
    table = read(
        tmp_path,
        SOURCE
        + """
labels:
  mug: {shapes: [{type: cylinder, size: [0.04, 0.1]}], count: 2, aliases: ["17", cup], mass: 0.3}
  red_block: {object: cube, detected_T_object: {position: [0.0, 0.0, -0.0225]}}
""",
    )
    assert table.labels["17"] is table.labels["mug"]
    assert [item.name for item in table.labels["cup"].objects] == ["mug_1", "mug_2"]
    assert [item.name for item in table.labels["red_block"].objects] == ["cube"]
    assert "cube" not in table.labels
    assert table.labels["red_block"].detected_T_object.translation_m[2] == -0.0225


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sources: []", "sources: has 0"),
        ("sources: [{type: detection, topic: a}]", "write one of detections, pose, pose_array, tags, tf"),
        ("sources: [{type: pose, topic: a}]", "needs a label"),
        ("sources: [{type: detections, topic: a, label: cube}]", "has labels of its own"),
        ("sources: [{type: tf, topic: a, label: cube}]", "needs frame alone"),
        ("sources: [{type: pose, topic: a, label: cub}]", "no label 'cub'; did you mean 'cube'"),
        (SOURCE + "labels: {box: {object: cbe}}", "no movable object 'cbe'"),
        (SOURCE + "labels: {box: {}}", "one of shapes, container and object"),
        (
            SOURCE + "labels: {table: {object: cube}, bin: {shapes: [{type: sphere, size: [0.1]}]}}",
            "rename the label",
        ),
        (SOURCE + "labels: {a: {object: cube}, b: {object: can, aliases: [a]}}", "means two labels"),
        (SOURCE + "labels: {a: {shapes: [{type: mesh, file: nothing.obj}]}}", "labels.a.shapes"),
        (SOURCE + "tracking: {forget_after: 1.0}", "more than unknown_after"),
    ],
)
def test_a_faulty_table_is_refused_with_its_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read(tmp_path, text)


def test_sources_are_of_five_kinds(tmp_path: Path) -> None:
    text = """
sources:
  - {type: detections, topic: a}
  - {type: pose, topic: b, label: cube}
  - {type: pose_array, topic: c, label: can}
  - {type: tags, topic: d}
  - {type: tf, frame: tag_3, label: can}
labels:
  cube: {object: cube, tags: [{id: 3, size: 0.05}]}
"""
    assert [one.kind for one in read(tmp_path, text).sources] == list(SourceKind)
