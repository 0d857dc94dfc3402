"""Bodies with moving parts in scene files: their content, their random draws, and the refused files."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.scene.layout import Scene, SceneObject
from handiwork_core.scene.loader import load_scene
from support.paths import ROOT

SCENES = ROOT / "config" / "scenes"
GOOD: dict[str, Any] = {
    "name": "small",
    "objects": {
        "pen": {
            "mass": 0.1,
            "pose": {"position": [-1.0, 0.0, 0.0]},
            "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}],
        }
    },
    "articulations": {
        "chest": {
            "pose": {"position": [1.0, 0.0, 0.0]},
            "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}],
            "randomize": {"yaw": [-1.0, 1.0]},
            "parts": {
                "lid": {
                    "pose": {"position": [0.0, 0.0, 0.15]},
                    "mass": 0.5,
                    "shapes": [{"type": "box", "size": [0.2, 0.2, 0.02]}],
                    "joint": {
                        "type": "revolute",
                        "axis": [0, 2, 0],
                        "range": [0.0, 1.5],
                        "randomize": [0.2, 0.4],
                    },
                    "handle": {"head": [0, 0, 0], "tail": [0, 0.1, 0], "approach": [0, 0, -2], "width": 0.02},
                }
            },
        }
    },
}


def load(tmp_path: Path, change: dict[str, Any] | None = None) -> Scene:
    """Load the good scene with values set at dotted keys; ``None`` removes a key.

    Args:
        tmp_path: Folder of the file.
        change: Dotted key -> value.
    """
    data = copy.deepcopy(GOOD)
    for key, value in (change or {}).items():
        *way, last = key.split(".")
        holder = data
        for step in way:
            holder = holder[step]
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(data))
    return load_scene(path)


def measured(scene: Scene, part: SceneObject) -> float:
    """Return the position of a part's joint by its pose, and check that the pose is on the joint's path.

    Args:
        scene: The scene.
        part: The part.
    """
    joint = part.body.articulation
    assert joint is not None
    body = next(item for item in scene.objects if item.name == joint.body)
    there = body.world_T_object.inverse() @ part.world_T_object
    assert joint.at(joint.position(there)).almost_equal(there, within_m=1e-9, within_rad=1e-6)
    return joint.position(there)


def test_a_part_is_an_object_on_its_joint(tmp_path: Path) -> None:
    scene = load(tmp_path)
    assert [item.name for item in scene.objects] == ["pen", "chest", "lid"]
    lid = scene.objects[2]
    joint = lid.body.articulation
    assert joint is not None
    assert joint.handle is not None
    assert (joint.body, joint.kind, joint.lower, joint.upper) == ("chest", JointKind.REVOLUTE, 0.0, 1.5)
    assert joint.axis == pytest.approx([0.0, 1.0, 0.0])
    assert joint.handle.approach == pytest.approx([0.0, 0.0, -1.0])
    assert not lid.body.is_static
    assert measured(scene, lid) == 0.0


def test_a_seed_draws_body_and_joint_and_the_part_stays_on_it(tmp_path: Path) -> None:
    scene = load(tmp_path)
    found = []
    for seed in range(8):
        drawn = scene.randomized(seed)
        lid = drawn.objects[2]
        assert lid.drive is not None
        found.append(measured(drawn, lid))
        assert found[-1] == pytest.approx(lid.drive.start)
    assert min(found) >= 0.2
    assert max(found) <= 0.4
    assert np.ptp(found) > 0.02


def test_what_stands_in_the_way_of_an_open_part_is_seen(tmp_path: Path) -> None:
    wide = {"objects.pen.pose": {"position": [1.0, 0.0, 0.2]}}
    with pytest.raises(ValueError, match=r"objects\.chest\.randomize: no free place"):
        load(tmp_path, wide).randomized(0)


CHEST, LID = "articulations.chest", "articulations.chest.parts.lid"
BAD = {
    f"{LID}.joint.axis": ([0, 0, 0], f"{LID}.joint.axis: is zero"),
    f"{LID}.joint.range": ([1.0, 1.0], f"{LID}.joint.range: runs from 1 to 1"),
    f"{LID}.joint.range ": ([0.0, 7.0], f"{LID}.joint.range: spans 7 rad"),
    f"{LID}.joint.start": (2.0, f"{LID}.joint.start: is 2"),
    f"{LID}.joint.randomize": ([0.5, 0.2], f"{LID}.joint.randomize: is"),
    f"{LID}.joint.damping": (-1.0, f"{LID}.joint.damping: is -1"),
    f"{LID}.joint.type": ("screw", f"{LID}.joint.type: is 'screw'"),
    f"{LID}.joint.stifness": (1.0, f"{LID}.joint.stifness: unknown key"),
    f"{LID}.joint": (None, f"{LID}.joint: missing"),
    f"{LID}.mass": (0.0, f"{LID}.mass: is 0"),
    f"{LID}.shapes": (None, f"{LID}: needs shapes"),
    f"{LID}.handle.tail": ([0, 0, 0], f"{LID}.handle.tail: equals head"),
    f"{LID}.handle.approach": ([0, 1, 0], f"{LID}.handle.approach: runs along the bar"),
    f"{LID}.handle.approach ": ([0, 0, 0], f"{LID}.handle.approach: is zero"),
    f"{LID}.handle.width": (0.0, f"{LID}.handle.width: is 0"),
    f"{CHEST}.parts": ({}, f"{CHEST}.parts: is empty"),
    f"{CHEST}.shapes": ([], f"{CHEST}.shapes: is empty"),
    f"{CHEST}.randomize": ({"size_scale": [0.9, 1.1]}, f"{CHEST}.randomize: has size_scale"),
    f"{CHEST}.color": ([2, 0, 0, 1], "must lie in 0..1"),
    "articulations.pen": (GOOD["articulations"]["chest"], "'pen' appears twice"),
}


@pytest.mark.parametrize("key", BAD)
def test_what_cannot_be_is_refused_by_its_key(tmp_path: Path, key: str) -> None:
    value, text = BAD[key]
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, {key.strip(): value})
    assert any(text in fault for fault in refused.value.faults), refused.value.faults


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, {f"{LID}.joint.axis": [0, 0, 0], f"{LID}.handle.width": -1.0, f"{CHEST}.colour": 1})
    assert len(refused.value.faults) == 3
