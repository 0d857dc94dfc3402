"""Reads bins and belt of the sorting application from YAML, ``config/sorting/two_bins.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError, load
from handiwork_core.model.geometry import Pose

from .application import DOWN

FASTEST_MPS = 0.2
"""Speed of a belt from which cubes are out of reach before the arm is there, m/s."""


@dataclass(frozen=True, slots=True)
class SortingFile:
    """A sorting task as written; lengths in m, in the frame ``world``, whose origin is the arm's base.

    Attributes:
        bins: Colour, which is the beginning of the names of cubes, to the position of the tip where they are let go.
        belt_velocity: Velocity of the belt, m/s.
        force: Force of a finger, N.
    """

    bins: dict[str, tuple[float, float, float]]
    belt_velocity: tuple[float, float, float]
    force: float = 40.0

    def poses(self) -> dict[str, Pose]:
        """Return the poses of the tip in world where cubes are let go, by colour."""
        return {colour: Pose.of(at, DOWN) for colour, at in self.bins.items()}


def load_sorting(path: Path) -> SortingFile:
    """Return the task in a file.

    Args:
        path: The file.

    Raises:
        ConfigError: The file cannot be read, or a number is out of its range; all faults are listed.
    """
    found, faults = load(SortingFile, path), []
    if not found.bins:
        faults.append("bins: is empty; write one colour or more")
    faults += [f"bins: {c!r} has an _; names of cubes are <colour>_<number>" for c in found.bins if "_" in c]
    if max(map(abs, found.belt_velocity)) > FASTEST_MPS:
        faults.append(f"belt_velocity: is {list(found.belt_velocity)}; write at most {FASTEST_MPS} m/s")
    if found.force <= 0.0:
        faults.append(f"force: is {found.force}; write more than 0 N")
    if faults:
        raise ConfigError(str(path), faults)
    return found
