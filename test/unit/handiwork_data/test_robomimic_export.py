"""The HDF5 file for robomimic: actions belong to the sample before them, and failures are left out by their label."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import h5py
import numpy as np
import pytest

from handiwork_data.dataset.folder import About, DatasetFolder
from handiwork_data.episodes.episode import Episode, EpisodeError, EpisodeMeta
from handiwork_data.export.robomimic import export_robomimic
from handiwork_data.export.transitions import transitions

ABOUT = About("a" * 64, "fr3", "b" * 64, "tabletop", "c" * 64, "0.1.0")
SAMPLES = 4


def episode(number: int, samples: int = SAMPLES) -> Episode:
    meta = EpisodeMeta(
        episode=number, task="tidy", task_digest="a" * 64, robot="fr3", scene="tabletop", version="0.1.0",
        instruction="Put it away.", rate_hz=25, joints=("one", "passive"), arms=("arm",), objects=("cube", "bin"),
        conditions=("x",), stages=(), ok=True, code="OK", failed_stage="", reason="", success=number != 2,
        verdict="yes", margin=None, duration_s=1.5,
    )  # fmt: skip
    step = np.arange(samples, dtype=np.float64)
    columns = {
        "time": 0.04 * step,
        "joint_position": np.stack([step, step], 1),
        "joint_velocity": np.ones((samples, 2)),
        "joint_command": np.stack([10.0 + step, np.full(samples, np.nan)], 1),
        "ee_pose": np.zeros((samples, 1, 7)),
        "gripper_width": np.zeros((samples, 1)),
        "gripper_command": 0.01 * step[:, None],
        "object_pose": np.zeros((samples, 2, 7)),
    }
    return Episode(meta, columns)


def test_an_action_is_what_was_commanded_up_to_the_next_sample() -> None:
    made = transitions(episode(1))
    assert made.action_names == ("one", "arm_gripper")
    assert np.allclose(made.actions, [[11.0, 0.01], [12.0, 0.02], [13.0, 0.03]])
    assert made.observations["joint_position"][:, 0].tolist() == [0.0, 1.0, 2.0]
    assert made.following["joint_position"][:, 0].tolist() == [1.0, 2.0, 3.0]
    assert made.observations["object_pose"].shape == (3, 14)
    assert made.rewards.tolist() == [0.0, 0.0, 1.0]
    assert transitions(episode(2)).rewards.tolist() == [0.0, 0.0, 0.0]


def test_the_file_has_the_layout_of_robomimic(tmp_path: Path) -> None:
    folder, out = DatasetFolder(tmp_path / "set"), tmp_path / "out" / "set.hdf5"
    folder.begin(ABOUT, "name: tidy\n")
    for number in (1, 9):
        folder.write(episode(number))
    assert export_robomimic(folder, [1, 9], out) == 6
    with h5py.File(out) as file:
        data = file["data"]
        assert (data.attrs["total"], sorted(data)) == (6, ["demo_0", "demo_1"])
        assert '"env_name"' in data.attrs["env_args"]
        demo = data["demo_1"]
        assert (demo.attrs["num_samples"], demo.attrs["episode"]) == (3, 9)
        assert demo["dones"][:].tolist() == [0, 0, 1]
        assert {*demo["obs"]} == {*demo["next_obs"]} >= {"joint_position", "ee_pose"}
        assert [one.decode() for one in file["mask/valid"][:]] == ["demo_1"]
        assert [one.decode() for one in file["mask/train"][:]] == ["demo_0"]


def test_a_damaged_episode_leaves_no_file(tmp_path: Path) -> None:
    folder, out = DatasetFolder(tmp_path / "set"), tmp_path / "set.hdf5"
    folder.begin(ABOUT, "name: tidy\n")
    folder.write(episode(1))
    folder.file_of(1).write_bytes(b"nothing")
    with pytest.raises(EpisodeError, match="is damaged"):
        export_robomimic(folder, [1], out)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_one_sample_is_no_transition() -> None:
    short = episode(1, samples=1)
    with pytest.raises(EpisodeError, match="has 1 samples; it needs two"):
        transitions(dataclasses.replace(short))
