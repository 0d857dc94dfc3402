"""Episodes as observations and actions, before any file format: what a policy sees, and what it should command then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_data.episodes.episode import Episode, EpisodeError

OBSERVED = ("joint_position", "joint_velocity", "ee_pose", "gripper_width", "object_pose")
VALIDATION = 10
"""One of so many episodes is for validation."""


@dataclass(frozen=True)
class Transitions:
    """An episode of n + 1 samples as n transitions.

    Attributes:
        observations: Flat vectors by name, (n, ...).
        following: The observations after each action, by name, (n, ...).
        actions: Commands, (n, m): the references of all servos, rad or m, then the opening of each gripper, m.
        action_names: Names of the columns of ``actions``.
        rewards: 1 with the last transition of a success, else 0, (n,).
    """

    observations: Mapping[str, Array]
    following: Mapping[str, Array]
    actions: Array
    action_names: tuple[str, ...]
    rewards: Array


def transitions(episode: Episode) -> Transitions:
    """Return an episode as transitions: the action of a sample is what was commanded up to the next one.

    Args:
        episode: The episode.

    Raises:
        EpisodeError: It has fewer than two samples.
    """
    columns, count = episode.columns, len(episode.columns["time"])
    if count < 2:
        raise EpisodeError(f"episode {episode.meta.episode} has {count} samples; it needs two, leave it out")
    flat = {name: columns[name].reshape(count, -1) for name in OBSERVED}
    commands = columns["joint_command"]
    servos = np.flatnonzero(~np.isnan(commands).any(axis=0))
    widths = columns["gripper_command"]
    grippers = np.flatnonzero(~np.isnan(widths).any(axis=0))
    names = [episode.meta.joints[i] for i in servos] + [f"{episode.meta.arms[i]}_gripper" for i in grippers]
    actions = np.concatenate([commands[1:, servos], widths[1:, grippers]], axis=1)
    rewards = np.zeros(count - 1)
    rewards[-1] = float(episode.meta.success)
    return Transitions(
        {name: value[:-1] for name, value in flat.items()},
        {name: value[1:] for name, value in flat.items()},
        actions,
        tuple(names),
        rewards,
    )


def is_for_validation(number: int) -> bool:
    """Return True for the episodes that no policy is trained on, by their number alone.

    Args:
        number: Number of the episode.
    """
    return number % VALIDATION == VALIDATION - 1
