"""Files of cameras and looks: what they may say, and what a seed draws from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.rendering.textures import drawn_pattern
from handiwork_data.rendering.views import Look, Views, draw_look, read_views
from sim_bridge.cameras.view_model import DAYLIGHT
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "fr3")
SCENE = load_scene(ROOT / "config/scenes/cameras.yaml")
CAMERA = "head: {position: [1.2, 0.5, 0.7], look_at: [0.5, 0.1, 0.0], width: 128, height: 96, fov: 0.8}"


def read(path: Path, text: str) -> Views:
    file = path / "views.yaml"
    file.write_text(text)
    return read_views(str(file), ROBOT, SCENE)


def test_cameras_are_named_or_come_from_a_file(tmp_path: Path) -> None:
    assert [one.name for one in read_views("wrist,overview", ROBOT, SCENE).cameras] == ["wrist", "overview"]
    assert [one.name for one in read(tmp_path, f"cameras:\n  {CAMERA}\n").cameras] == ["head"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cameras: {}", "cameras: is empty"),
        (f"cameras:\n  {CAMERA.replace('96', '95')}", "cameras.head: videos need an even width and height"),
        (f"cameras:\n  {CAMERA.replace('{', '{link: fr3_hnad, ')}", "robot 'fr3' has no link 'fr3_hnad'"),
        (f"cameras:\n  {CAMERA}\nlook: {{light: [2.0, 1.0]}}", "light: is .2.0, 1.0.; give two factors"),
        (f"cameras:\n  {CAMERA}\nlook: {{camera_turn: 7}}", "camera_turn: is 7 rad; give 0 to 1"),
        (
            f"cameras:\n  {CAMERA}\nlook: {{texture_files: [views.yaml]}}",
            r"look.texture_files\[0\]: .*views.yaml cannot be read as an image.*give a PNG or JPEG file",
        ),
        (f"cameras:\n  {CAMERA}\nlook: {{texture_files: [wood.png]}}", "wood.png cannot be read as an image"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_words(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        read(tmp_path, text)


def test_a_name_that_is_no_camera_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"there is no camera 'wirst'; .*'wrist'"):
        read_views("wirst", ROBOT, SCENE)


def test_a_look_is_drawn_from_episode_and_seed() -> None:
    look = Look((0.5, 1.5), 0.4, colors=True, camera_shift=0.02, camera_turn=0.1)
    views = Views(read_views("overview", ROBOT, SCENE).cameras, look, "")
    one, same = (draw_look(views, SCENE, 7, 1) for _ in range(2))
    assert (one.lighting, one.colors) == (same.lighting, same.colors)
    others = [draw_look(views, SCENE, 8, 1), draw_look(views, SCENE, 7, 2)]
    assert all(
        one.lighting != other.lighting and one.colors["table"] != other.colors["table"] for other in others
    )
    assert 0.5 <= one.lighting.factor <= 1.5
    tilt = np.arccos(-np.array(one.lighting.direction)[2])
    assert 0.0 < tilt <= 0.4 and np.linalg.norm(one.lighting.direction) == pytest.approx(1.0)
    moved = one.cameras[0].parent_T_camera.translation_m - views.cameras[0].parent_T_camera.translation_m
    assert 0.0 < np.linalg.norm(moved) <= 0.02 * np.sqrt(3.0)


def test_without_ranges_everything_looks_as_the_scene_says() -> None:
    views = Views(read_views("overview", ROBOT, SCENE).cameras, Look(), "")
    drawn = draw_look(views, SCENE, 7, 1)
    assert drawn.lighting == DAYLIGHT
    assert drawn.cameras == views.cameras
    assert drawn.colors == {item.name: item.color for item in SCENE.objects}
    assert not drawn.textures


def test_textures_are_patterns_of_the_colour_and_another_one_and_change_nothing_else() -> None:
    cameras = read_views("overview", ROBOT, SCENE).cameras
    plain = draw_look(Views(cameras, Look(light=(0.5, 1.5), colors=True), ""), SCENE, 7, 1)
    views = Views(cameras, Look(light=(0.5, 1.5), colors=True, textures=True), "")
    one, same = (draw_look(views, SCENE, 7, 1) for _ in range(2))
    assert (one.lighting, one.colors) == (plain.lighting, plain.colors)
    assert set(one.textures) == {item.name for item in SCENE.objects}
    assert all(np.array_equal(one.textures[name], same.textures[name]) for name in one.textures)
    other = draw_look(views, SCENE, 8, 1)
    assert not np.array_equal(one.textures["table"], other.textures["table"])


def test_every_kind_of_pattern_is_drawn_and_can_be_repeated() -> None:
    rng, counts = np.random.default_rng(1), list[int]()
    for _ in range(60):
        pixels = drawn_pattern(rng, (1.0, 0.0, 0.0, 1.0)).astype(int)
        counts.append(len(np.unique(pixels.reshape(-1, 3), axis=0)))
        inner = np.abs(np.diff(pixels, axis=0)).max()
        assert np.abs(pixels[0] - pixels[-1]).max() <= inner, "no seam where there is none inside"
    assert {1, 2} < set(counts) and max(counts) > 100, "one colour, two colours, and grain"


def test_a_texture_of_a_file_is_drawn_beside_patterns(tmp_path: Path) -> None:
    wood = np.full((8, 16, 3), (120, 80, 40), np.uint8)
    Image.fromarray(wood).save(tmp_path / "wood.png")
    views = read(tmp_path, f"cameras:\n  {CAMERA}\nlook: {{texture_files: [wood.png]}}\n")
    drawn = draw_look(views, SCENE, 7, 1)
    assert all(np.array_equal(one, wood) for one in drawn.textures.values())
    both = read(tmp_path, f"cameras:\n  {CAMERA}\nlook: {{texture_files: [wood.png], textures: true}}\n")
    shapes = {one.shape for number in range(5) for one in draw_look(both, SCENE, number, 1).textures.values()}
    assert shapes == {(8, 16, 3), (128, 128, 3)}
    Image.fromarray(wood // 2).save(tmp_path / "wood.png")
    assert read(tmp_path, (tmp_path / "views.yaml").read_text()).digest != both.digest
