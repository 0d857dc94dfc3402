"""The key ``episodes`` of a task file, and what the number of an episode draws from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import EpisodeSettings, ObjectVariation, draw, read_task_file
from support.paths import ROOT

SCENE = load_scene(ROOT / "config/scenes/tabletop.yaml")
VARIED = EpisodeSettings(
    success="anything",
    instructions=("one", "two", "three"),
    objects=ObjectVariation((0.5, 2.0), (0.8, 1.2), color=True),
)


def poses(episode: int) -> np.ndarray:
    return np.array(
        [item.world_T_object.translation_m for item in draw(VARIED, SCENE, episode).scene.objects]
    )


def test_an_episode_draws_the_same_every_time_and_another_one_draws_other_things() -> None:
    one, again, other = (draw(VARIED, SCENE, number) for number in (3, 3, 4))
    assert (one.instruction, one.home_seed, one.task_seed) == (
        again.instruction,
        again.home_seed,
        again.task_seed,
    )
    assert np.array_equal(poses(3), poses(3))
    assert not np.array_equal(poses(3), poses(4))
    assert one.task_seed != other.task_seed
    assert {draw(VARIED, SCENE, number).instruction for number in range(30)} == {"one", "two", "three"}


def test_movable_objects_vary_within_their_ranges_and_others_do_not() -> None:
    before = {item.name: item for item in SCENE.objects}
    for number in range(20):
        for item in draw(VARIED, SCENE, number).scene.objects:
            old = before[item.name]
            if item.body.is_static:
                assert (item.body.mass_kg, item.friction, item.color) == (
                    old.body.mass_kg,
                    old.friction,
                    old.color,
                )
            else:
                assert 0.5 <= item.body.mass_kg / old.body.mass_kg <= 2.0
                assert 0.8 <= item.friction / old.friction <= 1.2
                assert item.color[:3] != old.color[:3] and item.color[3] == old.color[3]


def test_without_ranges_the_scene_is_as_declared() -> None:
    plain = draw(EpisodeSettings(success="x", scatter=False, home_spread=False), SCENE, 5)
    assert plain.home_seed is None and plain.instruction == ""
    pairs = zip(plain.scene.objects, SCENE.objects, strict=True)
    assert all(new.body is old.body and new.friction == old.friction for new, old in pairs)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: x\nskills: []\n", "episodes: is missing"),
        ("episodes: {success: ''}", "success is empty"),
        ("episodes: {success: a, rate_hz: 30}", "rate_hz is 30; write 1, 2, 5, 10, 25 or 50"),
        ("episodes: {success: a, limit_s: 0}", "limit_s is 0 s; write 1 to 3600"),
        ("episodes: {success: a, settle_s: -1}", "settle_s is -1 s"),
        ("episodes: {success: a, instructions: ['']}", "instructions has an empty sentence"),
        ("episodes: {success: a, objects: {mass_factor: [2, 1]}}", "mass_factor is [2.0, 1.0]"),
        ("episodes: {success: a, limits: 3}", "limits"),
        ("episodes: 3", "episodes: is missing"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_task_file(path)
    assert words in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_task_file(tmp_path / "none.yaml")


def test_a_sentence_says_what_its_objects_are(tmp_path: Path) -> None:
    text = (ROOT / "config/scenes/tabletop.yaml").read_text()
    forms = "variants: [{label: tin, shapes: [{type: cylinder, size: [0.02, 0.05]}]}]"
    path = tmp_path / "scene.yaml"
    path.write_text(text.replace("  cube:\n", f"  cube:\n    label: red block\n    {forms}\n"))
    scene = load_scene(path)
    settings = EpisodeSettings(success="x", instructions=("Put the {cube} into the {bin}.",))
    said = {draw(settings, scene, number).instruction for number in range(20)}
    assert said == {"Put the red block into the bin.", "Put the tin into the bin."}
    drawn = draw(settings, scene, 1)
    assert drawn.labels(("bin", "cube")) == (
        "bin",
        drawn.instruction.split(" into")[0].removeprefix("Put the "),
    )


def test_a_sentence_about_an_unknown_object_is_refused_in_the_first_episode() -> None:
    settings = EpisodeSettings(success="x", instructions=("Take it.",) * 50 + ("Take the {cubes}.",))
    with pytest.raises(ValueError, match=r"instructions: 'Take the \{cubes\}.' has \{cubes\}.*cube"):
        draw(settings, SCENE, 0)


@pytest.mark.parametrize("sentence", ["Take {", "Take {}.", "Take {cube:d}.", "Take {cube!r}."])
def test_other_braces_are_letters(sentence: str) -> None:
    assert draw(EpisodeSettings(success="x", instructions=(sentence,)), SCENE, 0).instruction == sentence
