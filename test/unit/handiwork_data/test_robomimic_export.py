"""The HDF5 file for robomimic: actions belong to the sample before them, and failures are left out by their label."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import h5py
import numpy as np
import pytest

from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.export.robomimic import export_robomimic
from handiwork_data.export.source import source_of
from handiwork_data.export.transitions import transitions
from support.records.episodes import tiny_episode, tiny_folder


def test_an_action_is_what_was_commanded_up_to_the_next_sample() -> None:
    made = transitions(tiny_episode(1))
    assert made.action_names == ("one", "arm_gripper")
    assert np.allclose(made.actions, [[11.0, 0.01], [12.0, 0.02], [13.0, 0.03]])
    assert made.observations["joint_position"][:, 0].tolist() == [0.0, 1.0, 2.0]
    assert made.following["joint_position"][:, 0].tolist() == [1.0, 2.0, 3.0]
    assert made.observations["object_pose"].shape == (3, 14)
    assert made.rewards.tolist() == [0.0, 0.0, 1.0]
    assert transitions(tiny_episode(2)).rewards.tolist() == [0.0, 0.0, 0.0]


def test_the_file_has_the_layout_of_robomimic(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "set", tiny_episode(1), tiny_episode(9))
    out = tmp_path / "out" / "set.hdf5"
    assert export_robomimic(source_of(folder, [1, 9]), out) == 6
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
    folder, out = tiny_folder(tmp_path / "set", tiny_episode(1)), tmp_path / "set.hdf5"
    folder.file_of(1).write_bytes(b"nothing")
    with pytest.raises(EpisodeError, match="is damaged"):
        export_robomimic(source_of(folder, [1]), out)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_one_sample_is_no_transition() -> None:
    short = tiny_episode(1, samples=1)
    with pytest.raises(EpisodeError, match="has 1 samples; it needs two"):
        transitions(dataclasses.replace(short))
