"""Rows and folders of evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from handiwork_data.dataset.folder import About
from handiwork_data.evaluation.folder import EvaluationAbout, ResultFolder
from handiwork_data.evaluation.rows import EpisodeRow
from handiwork_policy.verdicts.result import PolicyEvent, SubtaskResult

SHARD = "00000-of-00001"
TASK = About("aa" * 32, "fr3", "bb" * 32, "tabletop", "cc" * 32, "0.1.0")
ABOUT = EvaluationAbout("pi0", {"action_dim": 8}, {"gripper": "width"}, "fr3_arm", 0, "0.1.0")


def row(episode: int, *, success: bool, name: str = "tidy-fr3", **changes: Any) -> EpisodeRow:
    """Return a row.

    Args:
        episode: Number of the episode.
        success: It succeeded.
        name: Name of the task.
        changes: Further values.
    """
    found = EpisodeRow(
        env_name=name,
        policy="pi0",
        episode=episode,
        instruction="Put the cube into the bin.",
        success=success,
        success_at_peak=success,
        score=1.0 if success else 0.5,
        score_peak=1.0 if success else 0.5,
        success_first_hold_s=4.0 if success else None,
        success_confirmed_s=5.0 if success else None,
        end="success" if success else "time_over",
        reason="why",
        verdict="what the monitor says",
        duration=6.0,
        episode_step=150,
        dt=0.04,
        chunks=20,
        late_steps=1,
        subtasks=(SubtaskResult("object_grabbed(object=cube)", 1.5, success),),
        events={"grasped": 1},
        event_log=(PolicyEvent("grasped", "cube", 1.5),),
        metrics={"ee_path_length": 0.8, "ee_speed_mean": 0.1, "ee_sparc": -2.0},
        inference_ms=(5.0, 7.0),
        guard={"velocity": 2},
        wall_s=1.0,
    )
    return replace(found, **changes)


def folder_of(
    path: Path, results: Mapping[str, Mapping[int, bool]], about: EvaluationAbout = ABOUT, task: About = TASK
) -> ResultFolder:
    """Write a folder of results.

    Args:
        path: The folder.
        results: Successes by episode, by task.
        about: What the results are of.
        task: What the tasks are of.
    """
    folder = ResultFolder(path)
    folder.begin(about)
    for name, episodes in results.items():
        folder.task(name).begin(task, "name: tidy\n")
        for number, success in episodes.items():
            folder.append(SHARD, row(number, success=success, name=name))
    return folder
