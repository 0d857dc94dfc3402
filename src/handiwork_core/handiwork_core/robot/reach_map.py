"""The map of what an arm reaches: a grid of places, and a file for it."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array

FORMAT = 1
"""Version of the file's format."""
ARRAYS = ("frame_T_base", "origin_m", "approaches", "reached", "manipulability")


@dataclass(frozen=True, slots=True)
class ReachSource:
    """What a map is of.

    Attributes:
        robot: Name of the robot.
        arm: Name of the arm.
        frame: Frame of the places: ``world``, or a link of the robot.
        scene: Name of the scene whose fixed objects were obstacles; empty for none.
        rolls: Number of angles about each approach direction.
        seed: Seed of the inverse kinematics.
        is_collision_free: Whether configurations that touch something count as not reached.
    """

    robot: str
    arm: str
    frame: str
    scene: str
    rolls: int
    seed: int
    is_collision_free: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ReachMap:
    """Reachability and manipulability over a grid of places of the TCP.

    The share of orientations that have a configuration is the reachability index of Zacharias, Borst and Hirzinger,
    "Capturing robot workspace structure: representing robot capabilities", IROS 2007.

    Attributes:
        source: What the map is of.
        frame_T_base: Pose of the robot's root link in ``source.frame``, (4, 4).
        origin_m: Centre of the first cell in ``source.frame``, (3,), m.
        cell_m: Edge of a cell, m.
        approaches: Unit vectors along which the tool moves towards the place, (d, 3), in ``source.frame``.
        reached: Number of angles about each approach direction that have a configuration, (nx, ny, nz, d).
        manipulability: Mean over these configurations of sqrt(det(J J^T)), (nx, ny, nz); nan where there is none
            (Yoshikawa, "Manipulability of robotic mechanisms", 1985; J in m and rad at the EE link).
    """

    source: ReachSource
    frame_T_base: Array
    origin_m: Array
    cell_m: float
    approaches: Array
    reached: NDArray[np.uint8]
    manipulability: NDArray[np.float32]

    @property
    def shares(self) -> Array:
        """Share of the orientations that are reached in each cell, (nx, ny, nz), 0 to 1."""
        tried = self.source.rolls * len(self.approaches)
        return np.asarray(self.reached.sum(axis=-1, dtype=np.float64) / tried)

    def share(self, points_m: ArrayLike, approach: ArrayLike | None = None) -> Array:
        """Return the share of orientations that the arm reaches at points.

        Args:
            points_m: Places of the TCP in ``source.frame``, (n, 3), m.
            approach: Direction along which the tool comes, (3,); None: all directions. The nearest direction of
                the map answers.

        Returns:
            Shares, (n,), 0 to 1; 0 outside of the map.

        Raises:
            ValueError: A point or the direction is not finite, or the direction has no length.
        """
        shares = self.shares
        if approach is not None:
            towards = np.asarray(approach, dtype=np.float64)
            if towards.shape != (3,) or not np.isfinite(towards).all() or not towards.any():
                raise ValueError(f"approach is {approach!r}; give three finite numbers that are not all zero")
            nearest = int(np.argmax(self.approaches @ towards))
            shares = self.reached[..., nearest] / self.source.rolls
        return self._at(shares, points_m, 0.0)

    def manipulability_at(self, points_m: ArrayLike) -> Array:
        """Return the mean manipulability at points, (n,); nan where the arm does not reach.

        Args:
            points_m: Places of the TCP in ``source.frame``, (n, 3), m.

        Raises:
            ValueError: A point is not finite.
        """
        return self._at(self.manipulability.astype(np.float64), points_m, float("nan"))

    def centers(self) -> Array:
        """Return the centres of all cells in ``source.frame``, (nx, ny, nz, 3), m."""
        index = np.stack(np.meshgrid(*(np.arange(n) for n in self.manipulability.shape), indexing="ij"), -1)
        return np.asarray(self.origin_m + self.cell_m * index)

    def _at(self, values: Array, points_m: ArrayLike, outside: float) -> Array:
        points = np.atleast_2d(np.asarray(points_m, dtype=np.float64))
        if points.shape[1:] != (3,) or not np.isfinite(points).all():
            raise ValueError(f"points have the shape {points.shape}; give finite numbers as (n, 3)")
        index = np.floor((points - self.origin_m) / self.cell_m + 0.5)
        is_inside = ((index >= 0) & (index < np.array(values.shape))).all(axis=1)
        found = np.full(len(points), outside)
        i, j, k = index[is_inside].astype(np.intp).T
        found[is_inside] = values[i, j, k]
        return found

    def save(self, path: Path) -> None:
        """Write the map as a NumPy archive, which appears complete or not at all.

        Args:
            path: The file.

        Raises:
            OSError: It cannot be written.
        """
        about = json.dumps({"format": FORMAT, "cell_m": self.cell_m, **asdict(self.source)}, sort_keys=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                np.savez_compressed(
                    file, about=np.array(about), **{name: getattr(self, name) for name in ARRAYS}
                )
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                Path(file.name).unlink()
                raise
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)


def load_reach_map(path: Path) -> ReachMap:
    """Read a map from its file.

    Args:
        path: A file that ``ReachMap.save`` wrote.

    Returns:
        The map.

    Raises:
        ConfigError: The file cannot be read, is of another format, or its parts do not fit each other.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            about = json.loads(str(archive["about"]))
            arrays = {name: archive[name] for name in ARRAYS}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        fault = f"is no map of `handiwork reach` ({error or type(error).__name__}); make it again"
        raise ConfigError(str(path), [fault]) from error
    found = about.pop("format", None) if isinstance(about, dict) else None
    if found != FORMAT:
        raise ConfigError(
            str(path), [f"has format {found}, and this version reads {FORMAT}; make the map again"]
        )
    cell_m = about.pop("cell_m", None)
    reached, grid = arrays["reached"], arrays["manipulability"].shape
    fits = len(grid) == 3 and reached.shape == (*grid, len(arrays["approaches"]))
    shapes = (arrays["approaches"].shape[1:], arrays["origin_m"].shape, arrays["frame_T_base"].shape)
    fits = fits and shapes == ((3,), (3,), (4, 4))
    try:
        source = ReachSource(**about)
    except TypeError as error:
        raise ConfigError(str(path), [f"has other keys than a map ({error}); make it again"]) from error
    if not fits or not isinstance(cell_m, float) or not cell_m > 0.0:
        raise ConfigError(str(path), ["has parts that do not fit each other; make the map again"])
    return ReachMap(source, cell_m=cell_m, **arrays)
