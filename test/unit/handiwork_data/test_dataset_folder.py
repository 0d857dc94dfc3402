"""Files of episodes, the index of a folder, shards and merges."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import About, DatasetFolder, row_of
from handiwork_data.dataset.generate import Shard, read_range
from handiwork_data.dataset.merge import merge
from handiwork_data.episodes.episode import (
    Episode,
    EpisodeError,
    EpisodeMeta,
    StageSpan,
    digest_of,
    encode,
    read_episode,
)

ABOUT = About("a" * 64, "fr3", "b" * 64, "tabletop", "c" * 64, "0.1.0")
TASK = "name: tidy\n"
STAGES = (StageSpan("pick", "arm", "approach", 0.0, 1.5),)


def episode(number: int, value: float = 0.0) -> Episode:
    """Return an episode of two samples."""
    meta = EpisodeMeta(
        episode=number, task="tidy", task_digest="a" * 64, robot="fr3", scene="tabletop", version="0.1.0",
        instruction="", rate_hz=25, joints=("j",), arms=("arm",), objects=("cube",), conditions=("x",),
        stages=STAGES, ok=True, code="OK", failed_stage="", reason="", success=True, verdict="yes", margin=None,
        duration_s=1.5,
    )  # fmt: skip
    return Episode(meta, {"time": np.array([0.0, 0.04]), "joint_position": np.array([[value], [np.nan]])})


def filled(path: Path, numbers: list[int]) -> DatasetFolder:
    """Return a folder with these episodes."""
    folder = DatasetFolder(path)
    folder.begin(ABOUT, TASK)
    for number in numbers:
        folder.append("00000-of-00001", row_of(episode(number), folder.write(episode(number)), 0.5))
    return folder


def test_an_episode_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = filled(tmp_path, [7])
    there = folder.read(7)
    assert there.meta == episode(7).meta
    assert np.array_equal(there.columns["joint_position"], [[0.0], [np.nan]], equal_nan=True)
    assert folder.rows()[7].digest == digest_of(encode(episode(7)))
    assert encode(episode(7)) == encode(episode(7)) != encode(episode(7, 1.0))


@pytest.mark.parametrize("keep", [0, 10, -1])
def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, keep: int) -> None:
    folder = filled(tmp_path, [1])
    path = folder.file_of(1)
    path.write_bytes(path.read_bytes()[:keep] if keep >= 0 else b"\0" * 5000)
    with pytest.raises(EpisodeError, match=r"is damaged .*; delete it, then generate it again"):
        read_episode(path)


def test_a_folder_takes_no_episodes_of_another_task(tmp_path: Path) -> None:
    folder = filled(tmp_path, [1])
    folder.begin(ABOUT, TASK)
    with pytest.raises(ConfigError, match=r"version is '0.1.0' there and '0.2.0' here; give another folder"):
        folder.begin(dataclasses.replace(ABOUT, version="0.2.0"), TASK)


def test_a_line_of_the_index_that_was_cut_is_left_out(tmp_path: Path) -> None:
    folder = filled(tmp_path, [1, 2])
    index = next(tmp_path.glob("index-*.jsonl"))
    index.write_text(index.read_text()[:-20])
    assert list(folder.rows()) == [1]
    assert folder.episodes() == [1, 2]


def test_two_runs_of_one_shard_do_not_share_a_folder(tmp_path: Path) -> None:
    folder = DatasetFolder(tmp_path)
    refused = pytest.raises(ConfigError, match="another process writes shard a")
    with folder.locked("a"), folder.locked("b"), refused, folder.locked("a"):
        pass
    with folder.locked("a"):
        pass


def test_a_full_disk_leaves_no_half_file(tmp_path: Path) -> None:
    place = tmp_path / "000000"
    place.write_text("a file where the folder should be")
    with pytest.raises(EpisodeError, match=r"was not written: .*; make room"):
        DatasetFolder(tmp_path).write(episode(1))
    assert not list(tmp_path.glob("**/*.part"))


def test_shards_are_equal_parts_without_overlap() -> None:
    parts = [list(Shard(i, 3).part(10, 20)) for i in range(3)]
    assert sorted(itertools.chain(*parts)) == list(range(10, 20))
    assert {len(part) for part in parts} == {3, 4}


@pytest.mark.parametrize(("number", "count"), [(-1, 2), (2, 2), (0, 0)])
def test_a_shard_that_is_none_is_refused(number: int, count: int) -> None:
    with pytest.raises(ConfigError, match="give --shard-id from 0"):
        Shard(number, count)


@pytest.mark.parametrize(("text", "wanted"), [("3:9", (3, 9)), ("5", (0, 5)), ("0:1", (0, 1))])
def test_a_range_is_read(text: str, wanted: tuple[int, int]) -> None:
    assert read_range(text) == wanted


@pytest.mark.parametrize("text", ["", "a", "5:5", "9:3", "-1:3", "0:99999999999", "1:2:3"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="write BEGIN:END"):
        read_range(text)


def test_a_merge_joins_and_leaves_doubles_out(tmp_path: Path) -> None:
    one, two = filled(tmp_path / "a", [1, 2]), filled(tmp_path / "b", [2, 3])
    out = DatasetFolder(tmp_path / "out")
    done = merge(out, [one, two])
    assert (done.added, done.doubles, out.episodes(), sorted(out.rows())) == (3, 1, [1, 2, 3], [1, 2, 3])
    again = merge(out, [one, two])
    assert (again.added, again.doubles) == (0, 4)


def test_a_merge_of_episodes_that_differ_writes_nothing(tmp_path: Path) -> None:
    one, two = filled(tmp_path / "a", [1, 2]), filled(tmp_path / "b", [3])
    two.write(episode(2, value=5.0))
    out = DatasetFolder(tmp_path / "out")
    with pytest.raises(EpisodeError, match=r"episode 2 differs between .*a and .*b"):
        merge(out, [one, two])
    assert out.episodes() == []


def test_a_merge_of_other_versions_is_refused(tmp_path: Path) -> None:
    one, two = filled(tmp_path / "a", [1]), DatasetFolder(tmp_path / "b")
    two.begin(dataclasses.replace(ABOUT, version="0.2.0"), TASK)
    with pytest.raises(ConfigError, match=r"version is '0.2.0' there and '0.1.0' here; merge equals only"):
        merge(DatasetFolder(tmp_path / "out"), [one, two])
    with pytest.raises(ConfigError, match="is no data set"):
        merge(DatasetFolder(tmp_path / "out"), [one, DatasetFolder(tmp_path / "c")])
