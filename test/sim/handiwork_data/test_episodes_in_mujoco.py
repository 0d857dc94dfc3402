"""Episodes of a real task in physics: the same bytes however they are made, honest labels, two processes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import Shard, Sources, generate, make_studio
from handiwork_data.episodes.action_replay import replay_actions
from handiwork_data.episodes.episode import encode
from handiwork_data.episodes.run import Studio, run_episode
from handiwork_data.episodes.settings import TaskFile
from support.paths import ROBOTS, ROOT

TASK = ROOT / "config/tasks/tidy_episodes.yaml"
SOURCES = Sources(TASK, ROOT / "config/scenes/tabletop.yaml", ROBOTS / "fr3")


@pytest.fixture(scope="module")
def studio() -> Studio:
    return make_studio(SOURCES)


def changed(studio: Studio, old: str, new: str, **settings: object) -> Studio:
    """Return the studio with another task."""
    assert old in studio.task.text
    text = studio.task.text.replace(old, new)
    task = TaskFile(studio.task.path, text, dataclasses.replace(studio.task.settings, **settings))
    return dataclasses.replace(studio, task=task)


def test_an_episode_succeeds_and_its_record_is_whole(studio: Studio) -> None:
    made = run_episode(studio, 0)
    meta, columns = made.meta, made.columns
    assert (meta.ok, meta.success, meta.code, meta.failed_stage) == (True, True, "OK", "")
    assert meta.margin is not None and meta.margin > 0.0
    times = columns["time"]
    assert np.allclose(np.diff(times), 1.0 / meta.rate_hz, atol=1e-6)
    assert times[-1] >= meta.duration_s + studio.task.settings.settle_s - 2.0 / meta.rate_hz
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


def test_bytes_do_not_depend_on_the_episodes_before_nor_on_processes(studio: Studio, tmp_path: Path) -> None:
    after_others = encode(run_episode(studio, 1))
    folder = DatasetFolder(tmp_path)
    rows = list(generate(SOURCES, folder, range(1, 3), Shard(), 2))
    assert sorted(row.episode for row in rows) == [1, 2]
    assert folder.file_of(1).read_bytes() == after_others
    assert list(generate(SOURCES, folder, range(1, 3), Shard(), 1)) == []


def test_recorded_actions_alone_reach_the_same_and_wrong_ones_do_not(studio: Studio) -> None:
    made = run_episode(studio, 2)
    found = replay_actions(studio, made)
    assert found.success, found.verdict
    assert found.joint_error < 0.02 and found.object_error_m < 0.005
    frozen = {
        **made.columns,
        "joint_command": np.repeat(made.columns["joint_command"][:1], len(made.columns["time"]), 0),
    }
    assert not replay_actions(studio, dataclasses.replace(made, columns=frozen)).success


def test_a_failure_is_kept_with_its_reason(studio: Studio) -> None:
    far = changed(studio, "{name: place, container: bin}", "{name: goto_pose, position: [3.0, 0.0, 0.5]}")
    meta = run_episode(far, 0).meta
    assert (meta.ok, meta.success) == (False, False)
    assert meta.code not in ("OK", "UNSET") and meta.reason and meta.verdict


def test_a_task_whose_time_is_over_ends_with_the_arm_at_rest(studio: Studio) -> None:
    hurried = changed(studio, "rate_hz: 25", "rate_hz: 25 ", limit_s=1.0)
    made = run_episode(hurried, 0)
    assert made.meta.code == "TIMED_OUT"
    assert "of the episode are over" in made.meta.reason
    assert np.abs(made.columns["joint_velocity"][-1]).max() < 0.01


def test_a_condition_that_is_wrong_is_named_before_anything_moves(studio: Studio) -> None:
    wrong = changed(studio, "rate_hz: 25", "rate_hz: 25 ", success="object_in_kontainer(object=cube)")
    with pytest.raises(ConfigError, match="object_in_kontainer"):
        run_episode(wrong, 0)
