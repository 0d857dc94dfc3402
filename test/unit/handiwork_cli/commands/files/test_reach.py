"""``handiwork reach``: its options, its summary, its picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_cli.cli import main
from handiwork_cli.commands.files.reach import summary
from handiwork_core.robot.reach_map import ReachMap, ReachSource, load_reach_map
from handiwork_planning.reach.orientations import sphere_directions
from handiwork_viz.plots.reach_picture import best_sections, draw_reach
from planner_node.engines import CuroboEngine


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["no_such_robot"], "'no_such_robot' has no robot.yaml"),
        (["fr3", "--arm", "fr3_amr"], "'fr3_amr' is no arm of fr3"),
        (["lift2"], "lift2 has several arms; give one of left_arm, right_arm"),
        (["fr3", "--cell", "0"], "--cell is 0; give 0.01 to 0.5 m"),
        (["fr3", "--cell", "nan"], "--cell is nan; give 0.01 to 0.5 m"),
        (["fr3", "--directions", "0"], "--directions is 0; give 1 to 1000"),
        (["fr3", "--rolls", "256"], "--rolls is 256; give 1 to 255"),
        (["fr3", "--workers", "0"], "--workers is 0; give 1 or more"),
        (["fr3", "--seed", "-1"], "--seed is -1; give 0 or more"),
        (["fr3", "--scene", "no_such_scene"], "no_such_scene"),
    ],
)
def test_bad_options_are_named_and_nothing_is_written(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reach", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_gpu_that_is_asked_for_and_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CuroboEngine, "why_not", classmethod(lambda _: "no NVIDIA driver is loaded"))
    assert main(["reach", "fr3", "--engine", "curobo"]) == 2
    assert "no NVIDIA driver is loaded; give --engine cpu" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_map_and_a_picture_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "fr3.npz"
    words = ["fr3", "--cell", "0.4", "--down", "--rolls", "1", "--workers", "1", "--scene", "tabletop"]
    assert main(["reach", *words, "--out", str(out)]) == 0
    found = load_reach_map(out)
    assert (found.source.scene, found.source.frame) == ("tabletop", "world")
    assert found.reached.any()
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    said = capsys.readouterr().out
    assert f"map: {out}" in said
    assert summary(found) in said


def test_the_sections_pass_through_the_most_reached_planes() -> None:
    shares = np.zeros((3, 4, 5))
    shares[1, 2, 3] = shares[1, 1, 3] = shares[0, 2, 3] = 0.5
    assert best_sections(shares) == (1, 2, 3)


def test_a_map_without_a_reached_place_is_drawn(tmp_path: Path) -> None:
    empty = ReachMap(
        ReachSource("fr3", "fr3_arm", "fr3_link0", "", 1, 0),
        np.eye(4),
        np.zeros(3),
        0.1,
        sphere_directions(2),
        np.zeros((3, 3, 3, 2), dtype=np.uint8),
        np.full((3, 3, 3), np.nan, dtype=np.float32),
    )
    draw_reach(empty, tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000
    assert "at best 0%" in summary(empty)
