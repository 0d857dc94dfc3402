"""What the benchmarks of skills of two arms share: their command line, their planner, and the picture of an episode."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_core.contracts.skill import Progress  # noqa: E402
from handiwork_core.model.geometry import Array, frozen  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_core.scene.loader import Scene, load_scene  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from support.cells.two_arm_cell import TwoArmCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

PLAN_S, SEARCH_S = 120.0, 600.0
"""Steady time for one plan and for one search, s: long, so that a busy machine does not change the result."""
VIEW_PX, VIEW_DEG = (480, 360), 46.0


def engine_of(robot: Robot, scene: str) -> CpuEngine:
    """Return a planner for the robot where a scene has it.

    Args:
        robot: The robot.
        scene: Name of the scene.
    """
    return CpuEngine(robot, _scene(scene).world_T_base, lambda _part, _what: None)


class Moments:
    """Takes the cell at the beginning of some stages of one episode, and draws them and its end in one picture.

    Args:
        cell: The cell.
        stages: Names of three stages.
    """

    def __init__(self, cell: TwoArmCell, stages: Sequence[str]) -> None:
        self._cell, self._stages, self._taken = cell, tuple(stages), dict[str, Instant]()

    def take(self, progress: Progress) -> None:
        """Keep the present moment if one of the stages begins.

        Args:
            progress: Report of the skill.
        """
        if progress.stage in self._stages and progress.stage not in self._taken:
            self._taken[progress.stage] = self._now()

    def place(self, stage: str, name: str) -> Array:
        """Return where an object was as a stage began, (3,), m.

        Args:
            stage: Name of the stage.
            name: The object.
        """
        return np.asarray(self._taken[stage].objects[name].translation_m)

    def write(self, scene: str, middle: Array, from_middle: Array, path: Path) -> None:
        """Write the picture.

        Args:
            scene: Name of the scene.
            middle: Point at which the camera looks, (3,), m.
            from_middle: Place of the camera, seen from there, (3,), m.
            path: The PNG file.
        """
        robot = self._cell.robot
        instants = [*(self._taken[stage] for stage in self._stages), self._now()]
        recording = FilmRecording(self._cell.objects, _scene(scene).world_T_base, tuple(instants))
        camera = Camera(frozen(middle + from_middle), frozen(middle), VIEW_DEG)
        views = Projection(recording, robot, ROBOTS / robot.name, camera, SUN).frames(instants, VIEW_PX)
        write_still(np.vstack([np.hstack(views[:2]), np.hstack(views[2:])]), path)

    def _now(self) -> Instant:
        world = self._cell.snapshot()
        poses = {name: state.world_T_object for name, state in world.states.items()}
        return Instant(world.joints.position, poses)


def run(
    text: str,
    robots: Sequence[str],
    header: str,
    measure: Callable[[Robot, range], None],
    draw: Callable[[Robot, int, Path], None],
) -> int:
    """Read the command line, and measure or draw.

    Args:
        text: Description of the benchmark.
        robots: Names of the robots for which it has a scene.
        header: First two lines of the table.
        measure: Measures the episodes of one robot with these seeds, and prints its row.
        draw: Writes a picture of the episode of a seed.

    Returns:
        Exit status of the process.
    """
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--robot", choices=sorted(robots), action="append")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--picture", type=Path, help="write a PNG of the moments of the first episode")
    wanted = parser.parse_args()
    chosen = [load_robot(ROBOTS / name) for name in wanted.robot or robots]
    if wanted.picture:
        draw(chosen[0], wanted.seed, wanted.picture)
        return 0
    print(header)
    for robot in chosen:
        measure(robot, range(wanted.seed, wanted.seed + wanted.episodes))
    return 0


def _scene(name: str) -> Scene:
    return load_scene(ROOT / f"config/scenes/{name}.yaml")
