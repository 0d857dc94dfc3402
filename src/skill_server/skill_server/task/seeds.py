"""Seeds of skills: they follow from the task's seed and from the place, not from the skills that ran before."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from .model import Entry


def placed(entry: Entry, place: str, seed: int) -> Entry:
    """Return a skill at the place at which it runs, which a loop changes with each turn.

    Args:
        entry: The skill.
        place: Label with its number in the arm's list.
        seed: Seed of the task.

    Returns:
        The skill with the label of its step, and the seed that follows from its place unless it has one of its own.
    """
    step, _, number = place.rpartition(".")
    params = entry.params
    if entry.draws_seed:
        params = replace(params, seed=derived_seed(seed, step, entry.arm, int(number) - 1))
    return replace(entry, step=step, params=params)


def derived_seed(seed: int, step: str, arm: str, index: int) -> int:
    """Return the seed of one skill.

    It depends on the task's seed and on the skill's place, not on the skills that ran before.

    Args:
        seed: Seed of the task.
        step: Label of the step.
        arm: Name of the arm.
        index: Index of the skill in the arm's list.

    Returns:
        A number of at most 63 bits.
    """
    digest = hashlib.sha256(f"{seed}/{step}/{arm}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
