"""Folders of results: resumed, sharded, and refused in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.evaluation.folder import ResultFolder, plain, read_folder, task_name
from handiwork_data.evaluation.rows import line_of, read_line
from support.records.evaluations import ABOUT, SHARD, TASK, folder_of, row

NAME = "tidy-fr3"


def file_of(path: Path) -> Path:
    return path / NAME / f"episode_results-{SHARD}.jsonl"


def test_a_row_comes_back_as_it_was() -> None:
    made = row(7, success=False)
    assert read_line(line_of(made)) == made


@pytest.mark.parametrize("cut", [0, 1, 40, 200, -2])
def test_a_line_that_was_cut_is_no_row(cut: int) -> None:
    line = line_of(row(7, success=True))
    assert read_line(line[:cut]) is None


@pytest.mark.parametrize("line", ["[]", "7", '{"episode": 1}', "[" * 100000, '{"episode": NaN}', "\x00"])
def test_a_line_of_something_else_is_no_row(line: str) -> None:
    assert read_line(line) is None


def test_an_episode_whose_line_was_cut_is_run_again(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {NAME: {0: True, 1: False}})
    file = file_of(tmp_path)
    file.write_text(file.read_text()[:-30])
    assert list(folder.rows(NAME)) == [0]
    folder.drop_cut_line(NAME, SHARD)
    folder.append(SHARD, row(1, success=True))
    assert {number: one.success for number, one in folder.rows(NAME).items()} == {0: True, 1: True}
    assert len(file.read_text().splitlines()) == 2


def test_the_files_of_all_shards_are_read_as_one_in_order(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {NAME: {4: True}})
    folder.append("00001-of-00002", row(1, success=False))
    folder.append("00000-of-00002", row(0, success=True))
    assert list(folder.rows(NAME)) == [0, 1, 4]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"policy": "act"}, "policy is 'pi0' there and 'act' here"),
        ({"metadata": {"action_dim": 7}}, "metadata 'action_dim' is 8 there and 7 here"),
        ({"settings": {}}, "settings 'gripper' is 'width' there and None here"),
        ({"version": "0.2.0"}, "version is '0.1.0' there and '0.2.0' here"),
        ({"delay_steps": 3}, "delay_steps is 0 there and 3 here"),
    ],
)
def test_another_policy_is_refused_with_what_differs(tmp_path: Path, changes: dict, words: str) -> None:
    folder_of(tmp_path, {})
    with pytest.raises(ConfigError) as refused:
        ResultFolder(tmp_path).begin(replace(ABOUT, **changes))
    assert words in str(refused.value) and "give another --out" in str(refused.value)


def test_another_task_under_the_same_name_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {NAME: {0: True}})
    with pytest.raises(ConfigError, match="holds other episodes: task_digest is"):
        folder.task(NAME).begin(replace(TASK, task_digest="dd" * 32), "name: tidy\n")


def test_the_same_policy_is_taken_also_with_arrays_in_its_metadata(tmp_path: Path) -> None:
    about = replace(ABOUT, metadata=plain({"scale": np.array([1.0, 2.0]), "raw": b"\x01", "type": int}))
    ResultFolder(tmp_path).begin(about)
    ResultFolder(tmp_path).begin(about)
    assert read_folder(tmp_path)[1].metadata["scale"] == [1.0, 2.0]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no results; give a folder"):
        read_folder(tmp_path)
    (tmp_path / "evaluation.json").write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_folder(tmp_path)


def test_tasks_are_called_by_their_folder_and_their_file() -> None:
    assert task_name(Path("config/suites/tidy/fr3.yaml")) == "tidy-fr3"
    assert task_name(Path("/a b/c?.yaml")) == "a_b-c_"
