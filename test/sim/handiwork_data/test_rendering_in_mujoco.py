"""Pictures of recorded states: what is drawn where the camera's own model says, resumed, and faults that are named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import Shard, Sources, about
from handiwork_data.episodes.episode import Episode, EpisodeError
from handiwork_data.episodes.recorder import as_row
from handiwork_data.episodes.settings import draw, read_task_file
from handiwork_data.rendering.image_folder import OUTPUTS, ImageFolder
from handiwork_data.rendering.render import RenderOrder, RenderRow, render
from handiwork_data.rendering.sheet import FAILURE, SUCCESS, check_sheet, draw_sheet
from handiwork_data.rendering.video import read_frames
from support.paths import ROBOTS, ROOT
from support.records.episodes import tiny_episode

TASK = ROOT / "config/tasks/tidy_episodes.yaml"
SOURCES = Sources(TASK, ROOT / "config/scenes/tabletop.yaml", ROBOTS / "fr3")
VIEWS = """
cameras:
  head: {position: [1.2, 0.5, 0.7], look_at: [0.5, 0.1, 0.0], width: 128, height: 96, fov: 0.8}
  hand: {link: fr3_hand, position: [0.06, 0.0, 0.03], rpy: [0.0, -1.3708, 0.0], width: 64, height: 48, fov: 1.2}
look: {light: [0.8, 1.2], light_tilt: 0.3}
"""
STEP_M = 0.08


def real_episode(number: int) -> Episode:
    """Return states of the real robot and scene, in which the cube goes along y."""
    robot, settings = load_robot(SOURCES.robot), read_task_file(TASK).settings
    scene = draw(settings, load_scene(SOURCES.scene), number).scene
    (arm,) = robot.arms.values()
    episode = tiny_episode(number, samples=3, joints=arm.joint_names, arm=arm.name)
    poses = np.array([as_row(item.world_T_object) for item in scene.objects])
    rows = np.tile(poses, (3, 1, 1))
    names = tuple(item.name for item in scene.objects)
    rows[:, names.index("cube"), 1] -= STEP_M * np.arange(3)
    columns = {**episode.columns, "joint_position": np.tile(arm.home_q, (3, 1)), "object_pose": rows}
    return Episode(dataclasses.replace(episode.meta, objects=names), columns)


@pytest.fixture(scope="module")
def order(tmp_path_factory: pytest.TempPathFactory) -> RenderOrder:
    path = tmp_path_factory.mktemp("data")
    folder = DatasetFolder(path / "set")
    folder.begin(about(SOURCES), TASK.read_text())
    for number in (3, 4, 5):
        folder.write(real_episode(number))
    folder.file_of(4).write_bytes(b"nothing")
    (path / "views.yaml").write_text(VIEWS)
    return RenderOrder(SOURCES, folder, "main", str(path / "views.yaml"), OUTPUTS, 0)


@pytest.fixture(scope="module")
def rows(order: RenderOrder) -> list[RenderRow]:
    return sorted(render(order, [3, 4, 5], Shard(), 1), key=lambda row: row.episode)


def test_a_damaged_episode_is_named_and_the_others_are_drawn(
    order: RenderOrder, rows: list[RenderRow]
) -> None:
    assert [(row.episode, row.frames) for row in rows] == [(3, 6), (4, 0), (5, 6)]
    assert "episode_000000004.npz is damaged" in rows[1].fault
    assert not any(row.fault for row in (rows[0], rows[2]))
    assert not list(order.folder.path.rglob("*.part"))


@pytest.mark.parametrize("sample", [0, 2])
def test_the_cube_is_where_the_parameters_of_the_camera_say(
    order: RenderOrder, rows: list[RenderRow], sample: int
) -> None:
    images, episode = ImageFolder(order.folder, "main"), real_episode(5)
    meta, values = images.read_values(5, "head")
    cube = episode.columns["object_pose"][sample, episode.meta.objects.index("cube"), :3]
    row = values["world_T_optical"][sample]
    optical_T_world = Pose.of(row[:3], Rotation.from_wxyz(row[3:])).inverse()
    x, y, depth = (optical_T_world @ Pose.of(cube)).translation_m
    u, v, _ = values["intrinsics"] @ (x / depth, y / depth, 1.0)
    column, line = round(u), round(v)
    assert meta.bodies[values["labels"][sample, line, column] - 1] == "cube"
    assert depth - 0.045 < values["depth_mm"][sample, line, column] / 1000.0 < depth
    seen = np.argwhere(values["labels"][sample] == 1 + meta.bodies.index("cube"))
    assert np.allclose(seen.mean(axis=0), (v, u), atol=2.5)
    frames = read_frames(images.video(5, "head"))
    settings = read_task_file(TASK).settings
    drawn = draw(settings, load_scene(SOURCES.scene), 5).scene
    color = np.array(next(item.color[:3] for item in drawn.objects if item.name == "cube"))
    got = frames[sample][line, column].astype(float)
    assert np.dot(got, color) / np.linalg.norm(got) / np.linalg.norm(color) > 0.98, (got, color)


def test_a_camera_on_the_hand_moves_with_it_and_sees_labels_of_the_robot(
    order: RenderOrder, rows: list[RenderRow]
) -> None:
    meta, values = ImageFolder(order.folder, "main").read_values(3, "head")
    seen = {meta.bodies[label - 1] for label in np.unique(values["labels"]) if label}
    assert {"table", "bin", "fr3/fr3_link0"} <= seen <= {*meta.bodies}
    hand, _ = ImageFolder(order.folder, "main").read_values(3, "hand")
    assert (hand.link, hand.width, hand.rate_hz) == ("fr3_hand", 64, 25)


def test_what_is_there_is_skipped_and_what_is_missing_is_drawn_alike(
    order: RenderOrder, rows: list[RenderRow]
) -> None:
    images = ImageFolder(order.folder, "main")
    before = images.values(3, "hand").read_bytes()
    images.values(3, "hand").unlink()
    again = list(render(order, [3, 5], Shard(), 1))
    assert [(row.episode, row.frames) for row in again] == [(3, 3)]
    assert images.values(3, "hand").read_bytes() == before


def test_pictures_with_other_cameras_need_another_name(order: RenderOrder, rows: list[RenderRow]) -> None:
    other = dataclasses.replace(order, seed=1)
    with pytest.raises(ConfigError, match="holds pictures with other seed; give another --name"):
        list(render(other, [3], Shard(), 1))


def test_a_data_set_of_another_version_is_not_drawn(order: RenderOrder, tmp_path: Path) -> None:
    folder = DatasetFolder(tmp_path)
    folder.begin(dataclasses.replace(about(SOURCES), version="0.0.1"), TASK.read_text())
    with pytest.raises(ConfigError, match=r"was made otherwise: version is '0.0.1' there"):
        list(render(dataclasses.replace(order, folder=folder), [3], Shard(), 1))


def test_a_sheet_frames_each_episode_by_its_verdict(order: RenderOrder) -> None:
    failed = real_episode(6)
    order.folder.write(dataclasses.replace(failed, meta=dataclasses.replace(failed.meta, success=False)))
    sheet = np.asarray(draw_sheet(order, [3, 5, 6], count=7))
    assert sheet.shape == (96, 3 * 128, 3)
    frames = [tuple(sheet[95, 128 * i + 64].tolist()) for i in range(3)]
    assert frames == [SUCCESS, SUCCESS, FAILURE]
    assert sheet[40:60, 40:90].std() > 5.0  # something is drawn within the frame
    assert np.array_equal(sheet, np.asarray(draw_sheet(order, [3, 5, 6], count=7)))
    with pytest.raises(EpisodeError, match=r"episode_000000004\.npz is damaged"):
        draw_sheet(order, [4], count=1)


def test_a_sheet_without_a_place_or_a_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'episodes\.gif': is no picture; end it in \.png"):
        check_sheet(tmp_path / "episodes.gif")
    with pytest.raises(ConfigError, match="is no folder; make it first"):
        check_sheet(tmp_path / "missing" / "episodes.png")


def test_textures_are_drawn_on_the_objects_and_nowhere_else(order: RenderOrder, tmp_path: Path) -> None:
    path = tmp_path / "textured.yaml"
    path.write_text(VIEWS.replace("look: {", "look: {texture_files: [checks.png], "))
    checks = np.zeros((2, 2, 3), np.uint8)
    checks[0, 0] = checks[1, 1] = (255, 0, 255)
    Image.fromarray(checks).save(tmp_path / "checks.png")
    plain = dataclasses.replace(order, name="plain")
    textured = dataclasses.replace(order, name="textured", cameras=str(path))
    seen = list[np.ndarray]()
    for one in (plain, textured):
        list(render(one, [3], Shard(), 1))
        images = ImageFolder(order.folder, one.name)
        seen.append(read_frames(images.video(3, "head"))[0].astype(int))
        meta, labels = images.read_values(3, "head")
    table = labels["labels"][0] == 1 + meta.bodies.index("table")
    robot = np.isin(labels["labels"][0], [1 + i for i, name in enumerate(meta.bodies) if "/" in name])
    change = np.abs(seen[0] - seen[1]).max(axis=2)
    assert np.median(change[table]) > 40, "the table has another picture"
    assert seen[1][table][:, 1].std() < 25 < seen[1][table][:, 0].std(), "of magenta and black"
    assert np.median(change[robot]) < 25, "the links have none"
