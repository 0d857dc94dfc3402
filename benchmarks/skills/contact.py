"""Moves that end by contact: ``python -m benchmarks.skills.contact [--episodes 50] [--force 10] [--picture FILE]``.

In every episode a closed hand begins at a drawn place and height over a block of rubber, and moves down until contact,
in physics, without ROS. An episode is good if the goal succeeds, the hand is within 1 mm of the block's top, and the
force on the tool is in no control period (2 ms) more than 20 % above its bound. Intervals are Wilson's, with 95 %
confidence. A failure is printed with its seed, so that ``--seed N --episodes 1`` repeats it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.model.geometry import Pose, frozen  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.skills.contact.move_until_contact import (  # noqa: E402
    MoveUntilContact,
    MoveUntilContactParams,
)
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

PATIENCE_S = 60.0
OVERSHOOT, WITHIN_M = 1.2, 0.001
TOP_M, HAND_M = 0.06, 0.1129
"""Height of the block, and length of the hand from the origin of its frame to the ends of the fingers, m."""
FORCES_N = (5.0, 10.0, 30.0)
CAMERA, VIEW_PX = Camera(frozen([1.35, 0.55, 0.55]), frozen([0.45, 0.0, 0.15]), 30.0), (640, 480)


@dataclass
class Touch:
    """The end of one episode: what failed, if anything, and the greatest force on the tool, N."""

    fault: str
    greatest_n: float


class MeasuredCell(SimulatedCell):
    """A cell that keeps the greatest force on the tool of all control periods, N."""

    greatest_n = 0.0

    def watch(self) -> None:
        """Begin to measure."""
        advance, arm = self.sim.advance, self.spec.name

        def measured(steps: int) -> None:
            for _ in range(steps):
                advance(1)
                self.greatest_n = max(self.greatest_n, float(np.linalg.norm(self.sim.force(arm))))

        self.sim.advance = measured  # type: ignore[method-assign]


def episode(robot: Robot, engine: CpuEngine, force_n: float, seed: int) -> tuple[MeasuredCell, Touch]:
    """Touch the block.

    Args:
        robot: The robot.
        engine: The planner.
        force_n: The bound, N.
        seed: Seed of place and height.

    Returns:
        The cell afterwards, and the end.
    """
    rng, cell = np.random.default_rng(seed), MeasuredCell(robot, engine, "contact", seed)
    cell.move(0.0, should_stop=lambda: False)
    over_m = float(rng.uniform(0.005, 0.025))
    place = (float(rng.uniform(0.40, 0.56)), float(rng.uniform(-0.12, 0.12)), TOP_M + HAND_M + over_m)
    start = GotoPoseParams(position=place, allowed_planning_time=PATIENCE_S, seed=seed)
    began = run_skill(GotoPose(), start, cell.context(seed)).outcome
    if not began.ok:
        return cell, Touch(f"start: {began.message}", 0.0)
    cell.watch()
    goal = MoveUntilContactParams(
        object="block", distance=over_m + 0.02, force_n=force_n, allowed_planning_time=PATIENCE_S
    )
    done = run_skill(MoveUntilContact(), goal, cell.context(seed)).outcome
    off_m = abs(cell.sim.world.body_pose("fr3/fr3_hand").translation_m[2] - TOP_M - HAND_M)
    fault = "" if done.ok else f"{done.code.name}: {done.message}"
    if not fault and off_m > WITHIN_M:
        fault = f"{1e3 * off_m:.2f} mm from the top"
    if not fault and cell.greatest_n > OVERSHOOT * force_n:
        fault = f"{cell.greatest_n:.1f} N"
    return cell, Touch(fault, cell.greatest_n)


def measure(robot: Robot, engine: CpuEngine, force_n: float, seeds: range) -> None:
    """Print the failures and one row of the table.

    Args:
        robot: The robot.
        engine: The planner.
        force_n: The bound, N.
        seeds: Seeds of the episodes.
    """
    ends = {
        seed: episode(robot, engine, force_n, seed)[1]
        for seed in progress(seeds, f"{force_n:g} N", unit="episodes")
    }
    for seed, end in ends.items():
        if end.fault:
            print(f"  {force_n:g} N seed {seed}: {end.fault}", file=sys.stderr, flush=True)
    good = sum(not end.fault for end in ends.values())
    low, high = binomtest(good, len(ends)).proportion_ci(method="wilson")
    half, most = np.percentile([end.greatest_n for end in ends.values()], (50, 100))
    print(
        f"| {force_n:g} | {seeds[0]} to {seeds[-1]} | {good} of {len(ends)} | {100 * low:.1f} to {100 * high:.1f} % |"
        f" {half:.2f} | {most:.2f} | {100 * (most / force_n - 1.0):.0f} % |",
        flush=True,
    )


def draw(cell: SimulatedCell, path: Path, camera: Camera) -> None:
    """Write a picture of the cell.

    Args:
        cell: The cell.
        path: The PNG file.
        camera: The view.
    """
    world = cell.snapshot()
    now = Instant(world.joints.position, {name: state.world_T_object for name, state in world.states.items()})
    recording = FilmRecording(cell.objects, cell.world_T_base(), (now,))
    film = Projection(recording, cell.robot, ROBOTS / cell.robot.name, camera, SUN)
    write_still(film.frames([now], VIEW_PX)[0], path)


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--force", type=float, action="append", help="the bound, N")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--picture", type=Path, help="write a PNG of the first episode")
    wanted = parser.parse_args()
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    if wanted.picture:
        draw(episode(robot, engine, FORCES_N[1], wanted.seed)[0], wanted.picture, CAMERA)
        engine.close()
        return 0
    print(
        "| bound [N] | seeds | good | interval | greatest force p50 [N] | greatest of all [N] | above the bound |\n"
        "|---:|---|---:|---:|---:|---:|---:|"
    )
    for force_n in wanted.force or FORCES_N:
        measure(robot, engine, force_n, range(wanted.seed, wanted.seed + wanted.episodes))
    engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
