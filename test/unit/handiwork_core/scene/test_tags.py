"""Tags of scene files: their poses, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.scene.loader import load_scene
from handiwork_core.scene.tags import TagSpec, shared_tags
from support.paths import ROOT

SCENE = ROOT / "config/scenes/tags.yaml"


def test_every_tag_of_the_cube_lies_on_a_face_and_looks_out() -> None:
    cube = next(item for item in load_scene(SCENE).objects if item.name == "cube")
    for tag in cube.tags:
        pose = tag.pose()
        out = pose.rotation.matrix()[:, 2]
        assert np.allclose(out * 0.0225, pose.translation_m, atol=1e-6)
    assert len(cube.tags) == 5


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{id: 10,", "{id: 3,", "tag 3 is also on 'cube'"),
        ("{id: 10,", "{id: 587,", "family 36h11 has 0 to 586"),
        ("{id: 10, size: 0.032", "{id: 10, size: 0.0", "size: is 0 m"),
        ("{x: [0.68, 0.76]", "{size_scale: [0.9, 1.1], x: [0.68, 0.76]", "take size_scale away"),
    ],
)
def test_a_faulty_tag_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        load_scene(path)


def test_a_tag_is_named_once_for_each_further_place() -> None:
    one = TagSpec(1, 0.05)
    assert len(shared_tags({"a": (one, one), "b": (one,)})) == 2
    assert not shared_tags({"a": (one,), "b": (TagSpec(2, 0.05),)})
