"""Peg in hole: ``python -m benchmarks.compliance.insertion [--episodes 100] [--seed 0] [--picture FILE]``.

In every episode the robot picks a square peg of 20 mm and inserts it by 30 mm into a hole of 21 mm, in physics, without
ROS. Place (+-40 mm) and yaw (+-1 degree, unknown to the skill) of the socket are drawn, and the skill is given a
place of the hole that is wrong by ``--error`` in a drawn direction. An episode is good if the goal succeeds, the peg is
in the hole by 29 mm, and the force on the tool is in no control period (2 ms) more than 20 % above the bound. Intervals
are Wilson's, with 95 % confidence. A failure is printed with its seed, so that ``--seed N --episodes 1`` repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from benchmarks.skills.contact import draw  # noqa: E402
from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.model.geometry import Pose, Rotation, frozen  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import Camera  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.skills.contact.insert import Insert, InsertParams  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

PATIENCE_S = 60.0
OVERSHOOT = 1.2
DEPTH_M, DEEP_ENOUGH_M, PEG_M = 0.03, 0.029, 0.08
GRASP = Pose.of((0.45, 0.15, 0.165), Rotation.from_rpy(np.pi, 0.0, 0.0))
CAMERA = Camera(frozen([1.15, -0.75, 0.45]), frozen([0.47, -0.12, 0.12]), 30.0)


@dataclass
class Inserted:
    """The end of one episode: what failed, if anything, the greatest force on the tool, N, and simulated time, s."""

    fault: str
    greatest_n: float
    duration_s: float


class MeasuredCell(SimulatedCell):
    """A cell that keeps the greatest force on the tool of all control periods, N, without the weight of the peg."""

    greatest_n = 0.0

    def watch(self) -> None:
        """Begin to measure."""
        advance, arm = self.sim.advance, self.spec.name
        weight = self.sim.force(arm)

        def measured(steps: int) -> None:
            for _ in range(steps):
                advance(1)
                self.greatest_n = max(self.greatest_n, float(np.linalg.norm(self.sim.force(arm) - weight)))

        self.sim.advance = measured  # type: ignore[method-assign]


def episode(
    robot: Robot, engine: CpuEngine, force_n: float, error_m: float, seed: int
) -> tuple[MeasuredCell, Inserted]:
    """Pick the peg and insert it.

    Args:
        robot: The robot.
        engine: The planner.
        force_n: The bound, N.
        error_m: Error of the place of the hole, m.
        seed: Seed of the places and of the planner.

    Returns:
        The cell afterwards, and the end.
    """
    rng, cell = np.random.default_rng(seed), MeasuredCell(robot, engine, "insertion", seed)
    place = (float(rng.uniform(0.46, 0.54)), float(rng.uniform(-0.19, -0.11)), 0.05)
    yaw = Rotation.from_axis_angle((0.0, 0.0, 1.0), float(np.radians(rng.uniform(-1.0, 1.0))))
    cell.sim.world.set_object_pose("socket", Pose.of(place, yaw))
    angle = float(rng.uniform(0.0, 2.0 * np.pi))
    context = cell.context(seed)
    grasp = PickParams(
        object="peg", grasp_poses=(GRASP,), grip_force=30.0, allowed_planning_time=PATIENCE_S, seed=seed
    )
    picked = run_skill(Pick(), grasp, context).outcome
    if not picked.ok:
        return cell, Inserted(f"pick: {picked.message}", 0.0, 0.0)
    again = cell.context(seed)
    again.held.update(context.held)
    cell.watch()
    goal = InsertParams(
        container="socket",
        position=(error_m * float(np.cos(angle)), error_m * float(np.sin(angle)), 0.0),
        depth=DEPTH_M,
        force_n=force_n,
        allowed_planning_time=PATIENCE_S,
        seed=seed,
    )
    begun_s = cell.now_s()
    done = run_skill(Insert(), goal, again).outcome
    depth_m = place[2] - (cell.sim.world.body_pose("peg").translation_m[2] - PEG_M / 2.0)
    fault = "" if done.ok else f"{done.code.name}: {done.message}"
    if not fault and depth_m < DEEP_ENOUGH_M:
        fault = f"{1e3 * depth_m:.1f} mm deep"
    if not fault and cell.greatest_n > OVERSHOOT * force_n:
        fault = f"{cell.greatest_n:.1f} N"
    return cell, Inserted(fault, cell.greatest_n, cell.now_s() - begun_s)


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--force", type=float, default=20.0, help="the bound, N")
    parser.add_argument("--error", type=float, default=0.003, help="error of the place of the hole, m")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument(
        "--limit", type=float, default=float("inf"), help="no episode begins after this time, s"
    )
    parser.add_argument("--picture", type=Path, help="write a PNG of the first episode")
    wanted = parser.parse_args()
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    if wanted.picture:
        draw(episode(robot, engine, wanted.force, wanted.error, wanted.seed)[0], wanted.picture, CAMERA)
        engine.close()
        return 0
    ends, began_s = list[Inserted](), time.monotonic()
    for seed in progress(range(wanted.seed, wanted.seed + wanted.episodes), "insertion"):
        if time.monotonic() - began_s > wanted.limit:
            break
        end = episode(robot, engine, wanted.force, wanted.error, seed)[1]
        ends.append(end)
        print(f"  seed {seed}: {end.fault or 'good'}, {end.greatest_n:.1f} N", file=sys.stderr, flush=True)
    engine.close()
    good = sum(not end.fault for end in ends)
    low, high = binomtest(good, len(ends)).proportion_ci(method="wilson")
    half, most = np.percentile([end.greatest_n for end in ends], (50, 100))
    lasts = np.percentile([end.duration_s for end in ends], (50, 100))
    print(
        "| bound [N] | error [mm] | seeds | good | interval | force p50 [N] | of all [N] | p50 [s] | of all [s] |\n"
        "|---:|---:|---|---:|---:|---:|---:|---:|---:|\n"
        f"| {wanted.force:g} | {1e3 * wanted.error:g} | {wanted.seed} to {wanted.seed + len(ends) - 1} |"
        f" {good} of {len(ends)} | {100 * low:.1f} to {100 * high:.1f} % | {half:.1f} | {most:.1f} |"
        f" {lasts[0]:.0f} | {lasts[1]:.0f} |",
        flush=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
