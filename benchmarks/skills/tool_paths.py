"""A curve of lines, blends and an arc in physics: how far the tool is off its corners, and how fast it passes them.

``python -m benchmarks.skills.tool_paths [--picture FILE]``: one row for each blend radius, by the joints that MuJoCo
measures; the picture shows the path of the largest radius.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.model.geometry import Array, Pose, frozen  # noqa: E402
from handiwork_core.model.outcome import Outcome  # noqa: E402
from handiwork_core.model.trajectory import Trajectory  # noqa: E402
from handiwork_core.model.world import Shape, ShapeKind  # noqa: E402
from handiwork_core.robot.kinematics import link_poses  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import STILL_PX, Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from handiwork_viz.film.solids import BodyTriangles, joined, solid_of  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.params.parsing import parameters_from  # noqa: E402
from skill_server.skills.motion.goto_pose import GotoPose  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

TOOL = "fr3_hand_tcp"
DOWN = [0.0, 1.0, 0.0, 0.0]
HEIGHT_M = 0.2
A, B, C, D = ([0.34, -0.3, HEIGHT_M], [0.34, 0.25, HEIGHT_M], [0.62, 0.25, HEIGHT_M], [0.62, -0.3, HEIGHT_M])
TOP = [0.48, -0.3, HEIGHT_M + 0.14]
RADII_M = (0.0, 0.02, 0.05, 0.1)
BESIDE_M = 0.03
"""Nearer to the ends the tool starts and stops."""
CAMERA = Camera(frozen([2.0, 1.15, 1.25]), frozen([0.30, -0.05, 0.26]), 30.0)
ORANGE, GREY = (0.95, 0.45, 0.05), (0.30, 0.33, 0.38)


class TracedCell(SimulatedCell):
    """A simulated cell that records the measured joints while the arm moves."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.trace: list[tuple[float, dict[str, float]]] = []

    def follow(self, trajectory: Trajectory, *, should_stop: Callable[[], bool]) -> Outcome:
        """Follow a trajectory, and record; see ``Arm.follow``.

        Args:
            trajectory: The motion.
            should_stop: Turns true when the arm is to stop.
        """

        def note() -> bool:
            joints = self.sim.world.joints().position.tolist()
            self.trace.append((self.now_s(), dict(zip(self.sim.world.joint_names, joints, strict=True))))
            return should_stop()

        return super().follow(trajectory, should_stop=note)


@dataclass
class Run:
    """One travelled curve.

    Attributes:
        radius_m: Radius of its blends, m.
        t: Times, (n,), s.
        tool: Places of the tool, (n, 3), m.
        joints: Measured joints of each time.
    """

    radius_m: float
    t: Array
    tool: Array
    joints: list[dict[str, float]] = field(default_factory=list)

    @property
    def off_m(self) -> float:
        """Largest distance from the lines and the arc without blends, m."""
        nominal = sharp()
        return max(float(np.linalg.norm(nominal - point, axis=1).min()) for point in self.tool)

    @property
    def slowest(self) -> float:
        """Least speed of the tool away from the ends of the curve, m/s."""
        speed = np.linalg.norm(np.diff(self.tool, axis=0), axis=1) / np.diff(self.t)
        far = np.linalg.norm(self.tool[:-1] - A, axis=1) > BESIDE_M
        return float(speed[far].min())


def sharp() -> Array:
    """Return points of the curve without blends, (n, 3), m."""
    shares = np.linspace(0.0, 1.0, 1001)[:, None]
    lines = [np.array(a) + shares * (np.array(b) - a) for a, b in pairwise((A, B, C, D))]
    angle = np.pi * shares[:, 0]
    arc = np.array([0.48, -0.3, HEIGHT_M]) + 0.14 * np.stack(
        [np.cos(angle), 0.0 * angle, np.sin(angle)], axis=1
    )
    return np.concatenate([*lines, arc])


def travelled(cell: TracedCell, radius_m: float) -> Run:
    """Bring the tool once around the curve.

    Args:
        cell: The simulation.
        radius_m: Radius of the blends, m.

    Raises:
        RuntimeError: A goal failed.
    """
    way = [{"position": p, "quaternion": DOWN, "blend_radius": radius_m} for p in (B, C, D)]
    goals = ({"position": A}, {"position": A, "motion": "circ", "interim": TOP, "waypoints": way})
    for keys in goals:
        cell.trace.clear()
        given = {"frame": "base", "tool": TOOL, "quaternion": DOWN, **keys}
        result = run_skill(GotoPose(), parameters_from(GotoPose(), given, "", "goal"), cell.context(0))
        if not result.outcome.ok:
            raise RuntimeError(str(result.outcome))
    joints = [one for _, one in cell.trace]
    tool = [link_poses(cell.robot, one, (TOOL,))[TOOL].translation_m for one in joints]
    return Run(radius_m, np.array([t for t, _ in cell.trace]), np.array(tool), joints)


def beads(points: Array, radius_m: float, color: tuple[float, float, float]) -> BodyTriangles:
    """Return small balls.

    Args:
        points: Their places, (n, 3), m.
        radius_m: Their radius, m.
        color: sRGB, 0 to 1.
    """
    ball = solid_of(Shape(ShapeKind.SPHERE, np.array([radius_m]), Pose.identity()), color, 0.0)
    return joined([ball.moved(Pose.of(point)) for point in points])


def draw(cell: TracedCell, run: Run, path: Path) -> None:
    """Write a picture of a run: its path in orange, the curve without blends in grey.

    Args:
        cell: The simulation.
        run: The run.
        path: The PNG file.
    """
    states = cell.sim.world.object_states()
    poses = {name: state.world_T_object for name, state in states.items()}
    instant = Instant(run.joints[int(0.36 * len(run.joints))], poses)
    recording = FilmRecording(cell.objects, cell.world_T_base(), (instant,))
    marks = (beads(sharp()[::12], 0.0025, GREY), beads(spaced(run.tool, 0.004), 0.004, ORANGE))
    projection = Projection(recording, cell.robot, ROBOTS / cell.robot.name, CAMERA, SUN, marks)
    write_still(projection.frames([instant], STILL_PX)[0], path)


def spaced(points: Array, gap_m: float) -> Array:
    """Return points of a path at equal distances along it.

    Args:
        points: Points in order, (n, 3), m.
        gap_m: The distance, m.
    """
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    marks = np.arange(0.0, along[-1], gap_m)
    return np.stack([np.interp(marks, along, points[:, k]) for k in range(3)], axis=1)


def main() -> None:
    """Travel the curve with each radius, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, help="write a PNG of the path of the largest radius")
    args = parser.parse_args()
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    print("| radius [mm] | time [s] | off the corners [mm] | slowest [m/s] |\n|---|---|---|---|")
    for radius in progress(RADII_M, "paths", unit="radii"):
        # A new cell each time: the elbow of a seven-jointed arm is elsewhere after a curve.
        cell = TracedCell(robot, engine, "tabletop", 0)
        run = travelled(cell, radius)
        took_s = run.t[-1] - run.t[0]
        print(f"| {1e3 * radius:.0f} | {took_s:.2f} | {1e3 * run.off_m:.1f} | {run.slowest:.3f} |")
    if args.picture:
        draw(cell, run, args.picture)


if __name__ == "__main__":
    main()
