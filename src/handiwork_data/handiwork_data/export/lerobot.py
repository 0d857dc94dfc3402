"""Exports episodes as a LeRobot data set: the folder is complete, or is not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from handiwork_data.episodes.episode import EpisodeError

from .lerobot_rows import Plan
from .lerobot_v3 import V3Writer
from .lerobot_v21 import V21Writer
from .name_maps import Features
from .source import Source

WRITERS: dict[str, type[V3Writer] | type[V21Writer]] = {"lerobot-v3": V3Writer, "lerobot-v2.1": V21Writer}
VIDEO_KEYS: dict[str, Callable[[str], str]] = {
    "lerobot": lambda camera: f"observation.images.{camera}",
    "interndata_a1": lambda camera: f"images.rgb.{camera}",
}
"""Names of the features of cameras, by name map."""


def export_lerobot(
    source: Source,
    out: Path,
    version: str,
    names: tuple[str, Features],
    tick: Callable[[], None] = lambda: None,
) -> int:
    """Write episodes as a LeRobot data set.

    Args:
        source: The episodes.
        out: The folder, which must not exist.
        version: Format, of ``WRITERS``.
        names: Name map, of ``VIDEO_KEYS``, and what makes its columns.
        tick: Called for each episode.

    Returns:
        The number of rows.

    Raises:
        EpisodeError: An episode is damaged, the folder exists or cannot be written, or a package is missing.
    """
    if out.exists():
        raise EpisodeError(f"{out} exists; name a new folder, or delete it")
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    plan = Plan(source, names[1], VIDEO_KEYS[names[0]], tick)
    try:
        part.mkdir(parents=True)
        total = WRITERS[version](part, plan).write()
        part.replace(out)
    except OSError as error:
        text = f"{out} was not written: {error.strerror or error}"
        raise EpisodeError(f"{text}; make room, then run it again") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return total
