"""Data sets for LeRobot: names, rows, statistics, and the pictures that belong to each row."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.export.lerobot import export_lerobot
from handiwork_data.export.name_maps import InternDataFeatures, lerobot_features
from handiwork_data.export.source import Source, source_of
from handiwork_data.rendering.video import read_frames
from support.paths import ROBOTS, ROOT
from support.records.episodes import SAMPLES, frame_of, tiny_episode, tiny_folder, tiny_images

LEROBOT = ("lerobot", lerobot_features)
KEY = "observation.images.head"
ROWS = SAMPLES - 1


@pytest.fixture
def source(tmp_path: Path) -> Source:
    folder = tiny_folder(tmp_path / "set", *(tiny_episode(number) for number in (1, 2, 5)))
    return source_of(folder, [1, 2, 5], tiny_images(folder))


def test_rows_of_version_3_have_the_values_of_their_samples(source: Source, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert export_lerobot(source, out, "lerobot-v3", LEROBOT) == 3 * ROWS
    info = json.loads((out / "meta/info.json").read_text())
    assert (info["codebase_version"], info["total_episodes"], info["fps"]) == ("v3.0", 3, 25)
    file = pq.ParquetFile(out / "data/chunk-000/file-000.parquet")
    assert file.num_row_groups == 3
    table = file.read().to_pydict()
    assert {*table} == {name for name, one in info["features"].items() if one["dtype"] != "video"}
    assert info["features"]["action"]["names"] == ["one", "arm_gripper"]
    assert np.allclose(table["action"][:3], [[11.0, 0.01], [12.0, 0.02], [13.0, 0.03]])
    assert np.allclose(table["observation.state"][:3], [[0.0, 0.02], [1.0, 0.021], [2.0, 0.022]])
    assert table["index"] == list(range(9)) and table["frame_index"] == [0, 1, 2] * 3
    assert np.allclose(table["timestamp"][:3], [0.0, 0.04, 0.08])
    assert table["next.success"] == [False, False, True, False, False, False, False, False, True]
    assert table["next.done"] == [False, False, True] * 3


def test_the_table_of_episodes_says_where_each_comes_from(source: Source, tmp_path: Path) -> None:
    export_lerobot(source, out := tmp_path / "out", "lerobot-v3", LEROBOT)
    rows = pq.read_table(out / "meta/episodes").to_pylist()
    assert [row["handiwork/seed"] for row in rows] == [1, 2, 5]
    assert [row["handiwork/success"] for row in rows] == [True, False, True]
    assert rows[1]["dataset_from_index"] == ROWS and rows[1]["dataset_to_index"] == 2 * ROWS
    assert rows[0]["tasks"] == ["Put it away."] == [rows[0]["handiwork/instruction"]]
    assert rows[0]["handiwork/scene_digest"] == "c" * 64 and rows[0]["handiwork/version"] == "0.1.0"
    assert np.allclose(rows[0]["stats/action/mean"], [12.0, 0.02])
    tasks = pq.read_table(out / "meta/tasks.parquet")
    assert json.loads(tasks.schema.metadata[b"pandas"])["index_columns"] == ["task"]
    whole = json.loads((out / "meta/stats.json").read_text())["observation.state"]
    assert whole["count"] == [9] and np.allclose(whole["mean"], [1.0, 0.021])
    assert np.allclose(whole["std"][0], np.std([0.0, 1.0, 2.0]))


def test_a_video_of_many_episodes_has_the_picture_of_each_row(source: Source, tmp_path: Path) -> None:
    export_lerobot(source, out := tmp_path / "out", "lerobot-v3", LEROBOT)
    frames = read_frames(out / f"videos/{KEY}/chunk-000/file-000.mp4")
    assert len(frames) == 3 * ROWS
    rows = pq.read_table(out / "meta/episodes").to_pylist()
    for row, number in zip(rows, (1, 2, 5), strict=True):
        begin = round(row[f"videos/{KEY}/from_timestamp"] * 25)
        assert row[f"videos/{KEY}/to_timestamp"] == pytest.approx((begin + ROWS) / 25)
        for sample in range(ROWS):
            error = frames[begin + sample].astype(int) - frame_of(number, sample)
            assert np.abs(error).max() <= 4, (number, sample)
    with av.open(str(out / f"videos/{KEY}/chunk-000/file-000.mp4")) as container:
        times = [float(frame.time) for frame in container.decode(video=0)]
    assert np.allclose(times, np.arange(9) / 25)
    stats = json.loads((out / "meta/stats.json").read_text())[KEY]
    assert np.shape(stats["mean"]) == (3, 1, 1)
    assert np.allclose(np.ravel(stats["max"]), [200 / 255, 70 / 255, 200 / 255], atol=0.02)


def test_version_2_1_has_files_for_each_episode(source: Source, tmp_path: Path) -> None:
    export_lerobot(source, out := tmp_path / "out", "lerobot-v2.1", LEROBOT)
    info = json.loads((out / "meta/info.json").read_text())
    assert (info["codebase_version"], info["total_videos"]) == ("v2.1", 3)
    table = pq.read_table(out / "data/chunk-000/episode_000001.parquet").to_pydict()
    assert table["episode_index"] == [1] * ROWS and table["index"] == [3, 4, 5]
    frames = read_frames(out / f"videos/chunk-000/{KEY}/episode_000002.mp4")
    assert [np.abs(frame.astype(int) - frame_of(5, i)).max() <= 4 for i, frame in enumerate(frames)] == [
        True
    ] * 3
    lines = [json.loads(line) for line in (out / "meta/episodes.jsonl").read_text().splitlines()]
    assert [(row["length"], row["handiwork/seed"]) for row in lines] == [(3, 1), (3, 2), (3, 5)]
    stats = (out / "meta/episodes_stats.jsonl").read_text().splitlines()
    assert json.loads(stats[0])["stats"]["action"]["count"] == [3]
    assert json.loads((out / "meta/tasks.jsonl").read_text()) == {"task_index": 0, "task": "Put it away."}


def test_the_names_of_interndata_are_refused_for_a_robot_that_drives() -> None:
    robot, scene = load_robot(ROBOTS / "fr3_mobile"), load_scene(ROOT / "config/scenes/mobile.yaml")
    with pytest.raises(ConfigError, match=r"'fr3_mobile'.*mobile base.*--names lerobot"):
        InternDataFeatures(robot, scene)


def test_the_names_of_interndata_are_filled_from_the_kinematics(tmp_path: Path) -> None:
    robot, scene = load_robot(ROBOTS / "fr3"), load_scene(ROOT / "config/scenes/tabletop.yaml")
    (spec,) = robot.arms.values()
    assert spec.gripper is not None
    joints = (*spec.joint_names, spec.gripper.joint)
    episode = tiny_episode(1, joints=joints, arm=spec.name)
    folder = tiny_folder(tmp_path / "set", episode)
    source = source_of(folder, [1], tiny_images(folder))
    found = {one.name: one for one in InternDataFeatures(robot, scene)(episode, source)}
    assert {"states.joint.position", "actions.gripper.openness", "master_actions.joint.position",
            "states.tcp_to_robot_pose", "head_camera_intrinsics"} <= {*found}  # fmt: skip
    assert not any(name.startswith("master_") and name.endswith("pose") for name in found)
    assert found["states.joint.position"].values[:, 0].tolist() == [0.0, 1.0, 2.0]
    assert found["actions.joint.position"].values[:, 0].tolist() == [11.0, 12.0, 13.0]
    pose = link_poses(robot, dict.fromkeys(joints, 2.0), (spec.ee_link,))[spec.ee_link]
    assert np.allclose(found["states.ee_to_robot_pose"].values[2, :3], pose.translation_m, atol=1e-6)
    assert found["head_camera_intrinsics"].values[0].tolist() == [50.0, 51.0, 31.5, 23.5]
    share = found["actions.gripper.openness"].values[:, 0]
    assert np.allclose(share, np.array([0.01, 0.02, 0.03]) / spec.gripper.max_width_m)


def test_what_is_there_already_is_not_overwritten(source: Source, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(EpisodeError, match="exists; name a new folder"):
        export_lerobot(source, tmp_path / "out", "lerobot-v3", LEROBOT)


def test_a_damaged_video_is_named_and_leaves_no_folder(source: Source, tmp_path: Path) -> None:
    assert source.images is not None
    path = source.images.video(2, "head")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(EpisodeError, match=r"head.mp4 .*delete it.* then render it again"):
        export_lerobot(source, tmp_path / "out", "lerobot-v3", LEROBOT)
    assert [one.name for one in tmp_path.iterdir()] == ["set"]


def test_pictures_of_an_episode_that_was_made_again_are_refused(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path, tiny_episode(1))
    images = tiny_images(folder)
    folder.write(tiny_episode(1, samples=5))
    with pytest.raises(EpisodeError, match="are of another episode 1; delete them, then render it again"):
        source_of(folder, [1], images)


def test_missing_pictures_are_named(source: Source, tmp_path: Path) -> None:
    assert source.images is not None
    source.images.values(5, "head").unlink()
    with pytest.raises(EpisodeError, match="episode 5 has no pictures of camera 'head'"):
        export_lerobot(source, tmp_path / "out", "lerobot-v3", LEROBOT)


def test_episodes_with_other_columns_are_not_mixed(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "set", tiny_episode(1), tiny_episode(3, joints=("one", "two", "passive")))
    with pytest.raises(EpisodeError, match="episode 3 differs from the first in column 'action'"):
        export_lerobot(source_of(folder, [1, 3]), tmp_path / "out", "lerobot-v3", LEROBOT)
