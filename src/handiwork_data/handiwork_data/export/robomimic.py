"""Writes a data set as an HDF5 file for robomimic: ``data/demo_<i>`` with actions, obs, next_obs, rewards and dones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from handiwork_data.episodes.episode import Episode, EpisodeError

from .source import Source
from .transitions import is_for_validation, transitions

ENVIRONMENT = {"env_name": "handiwork", "type": 2, "env_kwargs": {}}
"""robomimic asks for an environment by which it could roll out; it has none of Handiwork, whose own judge decides."""


def export_robomimic(source: Source, out: Path, tick: Callable[[], None] = lambda: None) -> int:
    """Write episodes to an HDF5 file, which is complete or not there.

    Args:
        source: The episodes.
        out: The file.
        tick: Called for each episode.

    Returns:
        The number of transitions.

    Raises:
        EpisodeError: An episode is damaged, the file cannot be written, or h5py is missing.
    """
    try:
        import h5py
    except ImportError as error:
        raise EpisodeError("h5py is missing; install requirements/data.txt") from error
    part = out.with_name(f".{out.name}.part")
    total, groups = 0, dict[str, list[str]]({"train": [], "valid": []})
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(part, "w") as file:
            data = file.create_group("data")
            for row, number in enumerate(source.numbers):
                name = f"demo_{row}"
                total += _write(data.create_group(name), source.read(number))
                groups["valid" if is_for_validation(number) else "train"].append(name)
                tick()
            data.attrs["total"] = total
            data.attrs["env_args"] = json.dumps(ENVIRONMENT)
            data.attrs["handiwork"] = json.dumps(asdict(source.about))
            for key, names in groups.items():
                file.create_dataset(f"mask/{key}", data=np.array(names, dtype="S16"))
        part.replace(out)
    except OSError as error:
        raise EpisodeError(f"{out} was not written: {error}; make room, then run it again") from error
    finally:
        part.unlink(missing_ok=True)
    return total


def _write(group: Any, episode: Episode) -> int:  # noqa: ANN401 - h5py has no types, and may be missing
    made, meta = transitions(episode), episode.meta
    count = len(made.actions)
    group.attrs["num_samples"] = count
    group.attrs["episode"], group.attrs["success"] = meta.episode, meta.success
    group.attrs["instruction"], group.attrs["verdict"] = meta.instruction, meta.verdict
    group.attrs["action_names"] = json.dumps(made.action_names)
    group.create_dataset("actions", data=made.actions, compression="gzip")
    group.create_dataset("rewards", data=made.rewards)
    group.create_dataset("dones", data=np.eye(1, count, count - 1, dtype=np.int64)[0])
    group.create_dataset("states", data=made.observations["joint_position"], compression="gzip")
    for key, columns in (("obs", made.observations), ("next_obs", made.following)):
        for name, column in columns.items():
            group.create_dataset(f"{key}/{name}", data=column, compression="gzip")
    return count
