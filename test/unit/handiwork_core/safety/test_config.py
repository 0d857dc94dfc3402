"""The file of limits: the accepted values, and the text of each fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig, Zone, ZoneShape, load_safety
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "fr3")


def faults(tmp_path: Path, text: str) -> tuple[str, ...]:
    path = tmp_path / "safety.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_safety(path, ROBOT)
    assert caught.value.source == str(path)
    return caught.value.faults


def test_the_shipped_file_holds_the_defaults() -> None:
    assert load_safety(ROOT / "config/safety.yaml", ROBOT) == SafetyConfig()
    assert load_safety(Path(), ROBOT) == SafetyConfig()


def test_zones_are_read(tmp_path: Path) -> None:
    path = tmp_path / "safety.yaml"
    path.write_text(
        "tool_speed: 1.5\nkeep_clear: [fr3_arm]\nzones:\n"
        "- {name: floor, shape: half_space, center: [0, 0, -0.1], normal: [0, 0, 2]}\n"
        "- {name: post, shape: cylinder, center: [1, 0, 0.5], size: [0.1, 1.0, 0.0], frame: robot}\n",
        encoding="utf-8",
    )
    config = load_safety(path, ROBOT)
    assert [zone.name for zone in config.zones] == ["floor", "post"]
    assert config.tool_speed == 1.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tool_sped: 1", ("tool_sped", "tool_speed")),
        ("velocity_scale: 0", ("velocity_scale", "above 0")),
        ("velocity_scale: .nan", ("velocity_scale", "finite")),
        ("contact_force: -1", ("contact_force", "0 or more")),
        ("contact_force: 300", ("transient_force", "300")),
        ("stop_scale: 9", ("stop_scale", "acceleration_scale")),
        ("keep_clear: [fr3_am]", ("keep_clear", "fr3_arm")),
        ("zones: [{name: a, shape: ball, center: [0, 0, 0]}]", ("shape", "ball")),
        ("zones: [{name: a, shape: box, center: [0, 0, 0]}]", ("size", "above 0")),
        ("zones: [{name: a, shape: box, center: [0, 0], size: [1, 1, 1]}]", ("center", "3")),
        ("zones: [{name: a, shape: half_space, center: [0, 0, 0], normal: [0, 0, 0]}]", ("normal",)),
        ("reduced: {tool_speed: 0}", ("tool_speed", "above 0")),
    ],
)
def test_a_fault_names_key_value_and_what_to_do(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    found = faults(tmp_path, text)
    assert len(found) == 1
    assert all(word in found[0] for word in words), found


def test_two_zones_of_one_name_are_refused(tmp_path: Path) -> None:
    zone = "{name: a, shape: box, center: [0, 0, 0], size: [1, 1, 1]}"
    assert "named twice" in faults(tmp_path, f"zones: [{zone}, {zone}]")[0]


def test_a_half_space_has_its_normal_along_z() -> None:
    pose = Zone("a", ZoneShape.HALF_SPACE, (1.0, 2.0, 3.0), normal=(1.0, 1.0, 0.0)).pose()
    assert np.allclose(pose.rotation.matrix()[:, 2], np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0))
