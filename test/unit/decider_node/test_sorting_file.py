"""The bins and the belt of the sorting application from YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from decider_node.sorting.sorting_file import load_sorting
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.scene.loader import load_scene
from support.paths import ROOT

GOOD = "bins: {red: [0.1, -0.5, 0.1]}\nbelt_velocity: [0.0, 0.04, 0.0]\n"


def test_the_file_of_the_cell_lets_go_above_the_bins_of_its_scene_and_knows_its_belt() -> None:
    sorting = load_sorting(ROOT / "config/sorting/two_bins.yaml")
    items = {item.name: item for item in load_scene(ROOT / "config/scenes/sorting.yaml").objects}
    belt = items["belt"].belt
    assert belt is not None and belt.velocity == sorting.belt_velocity
    for colour, pose in sorting.poses().items():
        below = items[f"bin_of_{colour}"].world_T_object.translation_m
        assert pose.translation_m[:2].tolist() == below[:2].tolist() and pose.translation_m[2] > below[2]
    cubes = [name for name in items if name.split("_")[0] in sorting.bins]
    assert len(cubes) == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("{red: [0.1, -0.5, 0.1]}", "{}"), "bins: is empty"),
        (GOOD.replace("red", "dark_red"), "'dark_red' has an _"),
        (GOOD.replace("0.04", "0.5"), "belt_velocity: is [0.0, 0.5, 0.0]; write at most 0.2 m/s"),
        (f"{GOOD}force: -1.0\n", "force: is -1.0"),
    ],
)
def test_faults_name_the_key_and_the_remedy(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "sorting.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_sorting(path)
    assert words in str(caught.value)
