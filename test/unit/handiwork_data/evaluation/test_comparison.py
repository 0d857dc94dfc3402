"""Paired comparisons of two folders, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.evaluation.compare import compare
from handiwork_data.evaluation.statistics import Paired
from support.records.evaluations import ABOUT, TASK, folder_of

A, B = "tidy-fr3", "belt-fr3"
OTHER = replace(ABOUT, policy="act", metadata={})


def test_only_the_common_episodes_count_and_each_with_its_twin(tmp_path: Path) -> None:
    folder_of(tmp_path / "a", {A: {0: True, 1: True, 2: False, 3: False, 9: True}})
    folder_of(tmp_path / "b", {A: {3: False, 2: True, 1: False, 0: True, 8: True}}, OTHER)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert found.tasks == {A: Paired(1, 1, 1, 1)} and (found.a, found.b) == ("pi0", "act")
    assert "no significant difference between pi0 and act: 0.0 points" in found.verdict()
    assert "p = 1, 4 common episodes" in found.verdict()


@pytest.mark.parametrize(
    ("first", "words"), [(False, "act succeeds more often than pi0"), (True, "pi0 succeeds more")]
)
def test_the_better_policy_is_named_once_chance_is_unlikely(tmp_path: Path, first: bool, words: str) -> None:
    folder_of(tmp_path / "a", {A: dict.fromkeys(range(8), first)})
    folder_of(tmp_path / "b", {A: dict.fromkeys(range(8), not first)}, OTHER)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert words in found.verdict() and "p = 0.00781" in found.verdict()


def test_tasks_are_shown_alone_and_together(tmp_path: Path) -> None:
    folder_of(tmp_path / "a", {A: {0: True}, B: {0: False, 1: True}})
    folder_of(tmp_path / "b", {A: {0: False}, B: {0: False, 1: True}}, OTHER)
    found = compare(tmp_path / "a", tmp_path / "b")
    assert found.all == Paired(1, 1, 0, 1)
    assert [line.split("|")[1].strip() for line in found.table().splitlines()[2:]] == [B, A, "all"]


def test_two_folders_of_one_policy_are_called_by_their_folders(tmp_path: Path) -> None:
    folder_of(tmp_path / "monday", {A: {0: True}})
    folder_of(tmp_path / "friday", {A: {0: True}})
    found = compare(tmp_path / "monday", tmp_path / "friday")
    assert (found.a, found.b) == ("monday", "friday")


def test_other_tasks_are_refused(tmp_path: Path) -> None:
    folder_of(tmp_path / "a", {A: {0: True}})
    folder_of(tmp_path / "b", {B: {0: True}})
    with pytest.raises(ConfigError, match=r"have different tasks: tidy-fr3 only in .*, belt-fr3 only in"):
        compare(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize(
    "changes", [{"task_digest": "dd" * 32}, {"scene_digest": "dd" * 32}, {"version": "0.2.0"}]
)
def test_another_task_of_the_same_name_is_refused(tmp_path: Path, changes: dict[str, str]) -> None:
    folder_of(tmp_path / "a", {A: {0: True}})
    folder_of(tmp_path / "b", {A: {0: True}}, OTHER, replace(TASK, **changes))
    with pytest.raises(
        ConfigError, match=f"have another task under the name tidy-fr3: {next(iter(changes))} is"
    ):
        compare(tmp_path / "a", tmp_path / "b")


def test_no_common_episode_is_refused(tmp_path: Path) -> None:
    folder_of(tmp_path / "a", {A: {0: True}})
    folder_of(tmp_path / "b", {A: {1: True}})
    with pytest.raises(
        ConfigError, match="have no episode in common; evaluate both with the same --episodes"
    ):
        compare(tmp_path / "a", tmp_path / "b")


def test_another_limit_of_time_is_refused(tmp_path: Path) -> None:
    folder_of(tmp_path / "a", {A: {0: True}})
    folder_of(tmp_path / "b", {A: {0: True}}, replace(OTHER, settings={"time_limit": 5.0}))
    with pytest.raises(ConfigError, match=r"have another time_limit: None there and 5\.0 here"):
        compare(tmp_path / "a", tmp_path / "b")
