"""Pressing and wiping with a band of force: ``python -m benchmarks.compliance.pressing [--episodes 25] [--force 8]``.

In every episode a closed hand begins at a drawn place over a block of rubber, and wipes a drawn path of three points
with a band of 25 % of the force, in physics, without ROS. An episode is good if the goal succeeds, the normal force
that MuJoCo computes is within its band in 90 % of the control periods (2 ms) of the path, and in none of them above the
bound of the tool. Intervals are Wilson's, with 95 % confidence. A failure is printed with its seed.
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

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.control.trajectory_controller import Phase  # noqa: E402
from handiwork_core.model.geometry import Pose  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from skill_server.compliance.force_band import ENOUGH  # noqa: E402
from skill_server.compliance.pressing import BOUND_FACTOR, BOUND_N  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.skills.contact.wipe import Wipe, WipeParams  # noqa: E402
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

PATIENCE_S = 60.0
BAND = 0.25
OVER_M = 0.20
TOP_M = 0.03
"""Height of the block's top over its origin, m."""


@dataclass
class Wiped:
    """The end of one episode.

    Attributes:
        fault: What failed; empty for nothing.
        share: Share of the control periods of the path in which the normal force was within its band.
        least_n: Least normal force on the path, N.
        most_n: Greatest normal force on the path, N.
        greatest_n: Greatest force on the tool at any time, N.
    """

    fault: str
    share: float = 0.0
    least_n: float = 0.0
    most_n: float = 0.0
    greatest_n: float = 0.0


class MeasuredCell(SimulatedCell):
    """A cell that measures in each control period.

    Attributes:
        greatest_n: Greatest force on the tool, N.
        normal_n: Normal force while the hand that yields follows its path, N.
    """

    greatest_n = 0.0

    def watch(self) -> None:
        """Begin to measure."""
        advance, controller = self.sim.advance, self.sim.arms[self.spec.name].controller
        self.normal_n = list[float]()

        def measured(steps: int) -> None:
            for _ in range(steps):
                advance(1)
                force = self.sim.force(self.spec.name)
                self.greatest_n = max(self.greatest_n, float(np.linalg.norm(force)))
                rule = controller.admittance
                if controller.phase is Phase.FOLLOW and rule is not None and rule.settings.yields:
                    self.normal_n.append(-float(force[2]))

        self.sim.advance = measured  # type: ignore[method-assign]


def episode(robot: Robot, engine: CpuEngine, force_n: float, seed: int) -> Wiped:
    """Wipe a drawn path.

    Args:
        robot: The robot.
        engine: The planner.
        force_n: The normal force, N.
        seed: Seed of the path.

    Returns:
        The end.
    """
    rng, cell = np.random.default_rng(seed), MeasuredCell(robot, engine, "contact", seed)
    cell.move(0.0, should_stop=lambda: False)
    start = GotoPoseParams(position=(0.48, 0.0, OVER_M), allowed_planning_time=PATIENCE_S, seed=seed)
    began = run_skill(GotoPose(), start, cell.context(seed)).outcome
    if not began.ok:
        return Wiped(f"start: {began.message}")
    points = tuple((float(x), float(y), TOP_M) for x, y in rng.uniform((-0.08, -0.11), (0.08, 0.11), (3, 2)))
    goal = WipeParams(
        object="block",
        points=points,
        force_n=force_n,
        band_n=BAND * force_n,
        speed=float(rng.uniform(0.01, 0.04)),
        allowed_planning_time=PATIENCE_S,
        seed=seed,
    )
    cell.watch()
    done = run_skill(Wipe(), goal, cell.context(seed)).outcome
    normal_n = np.array(cell.normal_n or [0.0])
    share = float(np.mean(np.abs(normal_n - force_n) <= BAND * force_n))
    fault = "" if done.ok else f"{done.code.name}: {done.message}"
    if not fault and share < ENOUGH:
        fault = f"within the band for {100 * share:.0f} %"
    if not fault and cell.greatest_n > BOUND_FACTOR * force_n + BOUND_N:
        fault = f"{cell.greatest_n:.1f} N"
    return Wiped(fault, share, float(normal_n.min()), float(normal_n.max()), cell.greatest_n)


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=25)
    parser.add_argument("--force", type=float, default=8.0, help="the normal force, N")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument(
        "--limit", type=float, default=float("inf"), help="no episode begins after this time, s"
    )
    wanted = parser.parse_args()
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    ends, began_s = list[Wiped](), time.monotonic()
    for seed in progress(range(wanted.seed, wanted.seed + wanted.episodes), "pressing"):
        if time.monotonic() - began_s > wanted.limit:
            break
        end = episode(robot, engine, wanted.force, seed)
        ends.append(end)
        print(f"  seed {seed}: {end}", file=sys.stderr, flush=True)
    engine.close()
    good = sum(not end.fault for end in ends)
    low, high = binomtest(good, len(ends)).proportion_ci(method="wilson")
    print(
        "| force [N] | seeds | good | interval | least share in band | normal force [N] | on the tool [N] |\n"
        "|---:|---|---:|---:|---:|---:|---:|\n"
        f"| {wanted.force:g} | {wanted.seed} to {wanted.seed + len(ends) - 1} | {good} of {len(ends)} |"
        f" {100 * low:.1f} to {100 * high:.1f} % | {100 * min(end.share for end in ends):.1f} % |"
        f" {min(end.least_n for end in ends):.1f} to {max(end.most_n for end in ends):.1f} |"
        f" {max(end.greatest_n for end in ends):.1f} |",
        flush=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
