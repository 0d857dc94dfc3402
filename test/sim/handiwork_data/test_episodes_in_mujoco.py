"""Episodes of a real task in physics: the same bytes however they are made, honest labels, two processes."""

from __future__ import annotations

import dataclasses
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import Shard, Sources, generate, make_setup, processes
from handiwork_data.episodes.action_replay import replay_actions
from handiwork_data.episodes.episode import EpisodeError, encode
from handiwork_data.episodes.run import EpisodeSetup, run_episode
from handiwork_data.episodes.settings import TaskFile
from support.paths import ROBOTS, ROOT

TASK = ROOT / "config/tasks/tidy_episodes.yaml"
SOURCES = Sources(TASK, ROOT / "config/scenes/tabletop.yaml", ROBOTS / "fr3")


@pytest.fixture(scope="module")
def setup() -> EpisodeSetup:
    return make_setup(SOURCES)


def changed(setup: EpisodeSetup, old: str, new: str, **settings: object) -> EpisodeSetup:
    """Return the setup with another task."""
    assert old in setup.task.text
    text = setup.task.text.replace(old, new)
    task = TaskFile(setup.task.path, text, dataclasses.replace(setup.task.settings, **settings))
    return dataclasses.replace(setup, task=task)


def test_an_episode_succeeds_and_its_record_is_whole(setup: EpisodeSetup) -> None:
    made = run_episode(setup, 0)
    meta, columns = made.meta, made.columns
    assert (meta.ok, meta.success, meta.code, meta.failed_stage) == (True, True, "OK", "")
    assert meta.margin is not None and meta.margin > 0.0
    times = columns["time"]
    assert np.allclose(np.diff(times), 1.0 / meta.rate_hz, atol=1e-6)
    assert times[-1] >= meta.duration_s + setup.task.settings.settle_s - 2.0 / meta.rate_hz
    assert {len(column) for name, column in columns.items() if not name.startswith("contact_")} == {
        len(times)
    }
    names = [one.stage for one in meta.stages]
    assert names[:2] == ["select", "open"] and {"grasp", "lift", "transit", "release"} <= set(names)
    assert meta.stages[-1].end_s == pytest.approx(meta.duration_s)
    cube, value = meta.objects.index("cube"), columns["condition_value"][:, 0]
    heights = columns["object_pose"][:, cube, 2]
    assert heights.max() > heights[0] + 0.05
    assert value[0] != value[-1] and value[-1] == value.max()
    moved = np.abs(np.diff(columns["joint_command"][:, :7], axis=0)).max()
    assert 0.0 < moved < 0.2


def test_bytes_do_not_depend_on_the_episodes_before_nor_on_processes(
    setup: EpisodeSetup, tmp_path: Path
) -> None:
    after_others = encode(run_episode(setup, 1))
    folder = DatasetFolder(tmp_path)
    rows = list(generate(SOURCES, folder, range(1, 3), Shard(), processes(2)))
    assert sorted(row.episode for row in rows) == [1, 2]
    assert folder.file_of(1).read_bytes() == after_others
    assert list(generate(SOURCES, folder, range(1, 3), Shard(), processes(1))) == []


def test_recorded_actions_alone_reach_the_same_and_wrong_ones_do_not(setup: EpisodeSetup) -> None:
    made = run_episode(setup, 2)
    found = replay_actions(setup, made)
    assert found.success, found.verdict
    assert found.joint_error < 0.02 and found.object_error_m < 0.005
    frozen = {
        **made.columns,
        "joint_command": np.repeat(made.columns["joint_command"][:1], len(made.columns["time"]), 0),
    }
    assert not replay_actions(setup, dataclasses.replace(made, columns=frozen)).success


def test_a_failure_is_kept_with_its_reason(setup: EpisodeSetup) -> None:
    far = changed(setup, "{name: place, container: bin}", "{name: goto_pose, position: [3.0, 0.0, 0.5]}")
    meta = run_episode(far, 0).meta
    assert (meta.ok, meta.success) == (False, False)
    assert meta.code not in ("OK", "UNSET") and meta.reason and meta.verdict


def test_a_task_whose_time_is_over_ends_with_the_arm_at_rest(setup: EpisodeSetup) -> None:
    hurried = changed(setup, "rate_hz: 25", "rate_hz: 25 ", limit_s=1.0)
    made = run_episode(hurried, 0)
    assert made.meta.code == "TIMED_OUT"
    assert "of the episode are over" in made.meta.reason
    assert np.abs(made.columns["joint_velocity"][-1]).max() < 0.01


def test_a_condition_that_is_wrong_is_named_before_anything_moves(setup: EpisodeSetup) -> None:
    wrong = changed(setup, "rate_hz: 25", "rate_hz: 25 ", success="object_in_kontainer(object=cube)")
    with pytest.raises(ConfigError, match="object_in_kontainer"):
        run_episode(wrong, 0)


def test_a_killed_process_loses_no_episode_and_is_one_sentence(tmp_path: Path) -> None:
    folder = DatasetFolder(tmp_path)
    running = generate(SOURCES, folder, range(40), Shard(), processes(2))
    first = next(running)
    for child in multiprocessing.active_children():
        child.kill()
    with pytest.raises(EpisodeError, match="a process ended before its episode"):
        list(running)
    assert first.episode in folder.episodes()
    for number in folder.episodes():
        assert folder.read(number).meta.success


def test_a_fault_that_a_process_finds_is_the_same_sentence(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(TASK.read_text().replace("object: cube}", "object: kube}"))
    sources = dataclasses.replace(SOURCES, task=wrong)
    with pytest.raises(ConfigError, match="kube"):
        list(generate(sources, DatasetFolder(tmp_path / "set"), range(2), Shard(), processes(2)))
