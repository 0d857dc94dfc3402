"""Layouts of stacks from YAML: those of the cell, and faults with their remedies."""

from __future__ import annotations

from pathlib import Path

import pytest

from decider_node.stacking.cell import FULL, SMALL
from decider_node.stacking.layout import Layout
from decider_node.stacking.layout_file import load_layout
from handiwork_core.config.dataclass_loader import ConfigError
from support.paths import ROOT

GOOD = "xs: [0.8, 0.5]\nys: [-0.3]\nlayers: 2\nground_z: -0.4\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "layout.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "layout"), [("full", FULL), ("small", SMALL)])
def test_the_files_of_the_cell_are_its_layouts(name: str, layout: Layout) -> None:
    assert load_layout(ROOT / f"config/stacking/{name}.yaml") == layout


def test_every_field_counts(tmp_path: Path) -> None:
    layout = load_layout(written(tmp_path, f"{GOOD}layer_height: 0.15\ngap: 0.01\n"))
    assert layout == Layout((0.8, 0.5), (-0.3,), 2, -0.4, 0.15, 0.01)
    assert layout.place(3).translation_m.tolist() == pytest.approx([0.5, -0.3, -0.4 + 1.5 * 0.15 + 0.01])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace("0.5]", "0.7]"), "xs: 0.7 and 0.8 are 0.100 m apart, and a bin is 0.2 m wide there"),
        (GOOD.replace("[-0.3]", "[-0.3, -0.5]"), "ys: -0.5 and -0.3 are 0.200 m apart, and a bin is 0.3 m"),
        (GOOD.replace("[-0.3]", "[]"), "ys: is empty; write one column or more"),
        (GOOD.replace("layers: 2", "layers: 0"), "layers: is 0; write 1 to 1000"),
        (GOOD.replace("layers: 2", "layers: 900"), "layers: make 1800 places; at most 1000 are allowed"),
        (f"{GOOD}layer_height: 0.1\n", "layer_height: is 0.1; a bin is 0.135 m high"),
        (f"{GOOD}gap: -0.1\n", "gap: is -0.1; write 0 or more"),
        (GOOD.replace("ground_z", "ground"), "ground_z"),
    ],
)
def test_faults_name_the_key_and_the_remedy(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_layout(written(tmp_path, text))
    assert words in str(caught.value)
