"""Pick and place on detections alone: ``python -m benchmarks.perception.pick_and_place [--episodes 100]``.

A cube on a table must come into a bin. The skills see what ``perception_bridge`` makes of a detector with faults: a
deviation of 5 mm and 3 degrees, 10 % dropouts, 2 % wrong labels, 5 looks per second that come 150 ms late. Bodies touch
in physics as always, but the skills receive no contact, as on a real robot without such a sensor. Every episode is a
seed of its own: scattered scene, Pick, Place, in physics, without ROS. An episode is good if both skills succeed and
the true pose of the settled cube is within the bin. Intervals are Wilson's, with 95 % confidence. A failure is printed
with its seed, so that ``--seed N --episodes 1`` repeats it. With ``--truth`` the same seeds run on true poses and
contacts.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.model.outcome import OK, Code, Outcome  # noqa: E402
from handiwork_core.model.world import World  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_core.scene.loader import load_scene  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from sim_bridge.detector.faulty_detector import DetectorFaults  # noqa: E402
from sim_bridge.mujoco.simulation import CONTROL_S  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.geometry.solids import object_box  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.skills.pick_place.place import Place, PlaceParams  # noqa: E402
from support.cells.perceived_cell import PerceivedCell  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

SCENE, OBJECT, CONTAINER = "tabletop", "cube", "bin"
FAULTS = DetectorFaults(0.005, float(np.deg2rad(3.0)), dropout=0.1, flip=0.02, rate_hz=5.0, delay_s=0.15)
PATIENCE_S = 60.0
"""Steady time for one plan, s: long, so that a busy machine does not change the result."""
SETTLE_S = 0.5


def verdict(truth: World) -> Outcome:
    """Check that the true cube is within the bounds of the bin.

    Args:
        truth: The world as it is.
    """
    box = object_box(truth.objects[CONTAINER]).moved(truth.states[CONTAINER].world_T_object)
    place_m = (box.pose.inverse() @ truth.states[OBJECT].world_T_object).translation_m
    beside_m = float((np.abs(place_m) - box.size / 2).max())
    if beside_m < 0.0:
        return OK
    return Outcome(Code.NOT_IN_PLACE, f"the cube is {1e3 * beside_m:.0f} mm beside the bin")


def error_m(cell: PerceivedCell) -> float:
    """Return the distance of the seen cube from the true one, m; infinite for one that is not seen."""
    seen = cell.snapshot().states.get(OBJECT)
    if seen is None:
        return float("inf")
    return seen.world_T_object.distance_to(cell.truth().states[OBJECT].world_T_object)[0]


def episode(robot: Robot, engine: CpuEngine, seed: int, *, sees_truth: bool) -> tuple[str, Outcome, float]:
    """Run Pick, Place and the check.

    Args:
        robot: The robot.
        engine: The planner.
        seed: Seed of the scene, the detector and the choices.
        sees_truth: Whether the skills have the true world.

    Returns:
        The part that ended the episode, its outcome, and the error of the seen pose before the pick, m.
    """
    cell: SimulatedCell
    off_m = 0.0
    if sees_truth:
        cell = SimulatedCell(robot, engine, SCENE, seed)
    else:
        cell = seen = PerceivedCell(robot, engine, SCENE, seed, FAULTS)
        seen.wait_seen()
        off_m = error_m(seen)
    part, ended = run_goals(cell, seed)
    if ended.ok:
        truth = cell.truth() if isinstance(cell, PerceivedCell) else cell.snapshot()
        part, ended = "verdict", verdict(truth)
    return part, ended, off_m


def run_goals(cell: SimulatedCell, seed: int) -> tuple[str, Outcome]:
    """Run Pick and Place, and let the cube settle if both succeed.

    Args:
        cell: The cell.
        seed: Seed of the choices.

    Returns:
        The last skill, and its outcome.
    """
    context = cell.context(seed)
    pick = PickParams(object=OBJECT, seed=seed, allowed_planning_time=PATIENCE_S)
    part, ended = "pick", run_skill(Pick(), pick, context).outcome
    if ended.ok:
        place = PlaceParams(object=OBJECT, container=CONTAINER, seed=seed, allowed_planning_time=PATIENCE_S)
        # A goal of its own, with random choices of its own, as in the skill server.
        context = replace(cell.context(seed), held=context.held)
        part, ended = "place", run_skill(Place(), place, context).outcome
    if ended.ok:
        cell.sim.advance(int(SETTLE_S / CONTROL_S))
    return part, ended


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--truth", action="store_true", help="the skills have the true world")
    options = parser.parse_args()
    robot = load_robot(ROBOTS / "fr3")
    base = load_scene(ROOT / f"config/scenes/{SCENE}.yaml").world_T_base
    engine = CpuEngine(robot, base, lambda _part, _what: None)
    failed, errors = Counter[str](), list[float]()
    seeds = range(options.seed, options.seed + options.episodes)
    for done, seed in enumerate(progress(seeds, "pick and place"), start=1):
        part, ended, off_m = episode(robot, engine, seed, sees_truth=options.truth)
        errors.append(off_m)
        if not ended.ok:
            failed[f"{part} {ended.code.name}"] += 1
            print(f"seed {seed}: {part}: {ended.code.name}: {ended.message}", flush=True)
        if done % 10 == 0 or done == len(seeds):
            _print_row(done, failed, errors)
    engine.close()
    return 0


def _print_row(episodes: int, failed: Counter[str], errors: list[float]) -> None:
    good = episodes - failed.total()
    low, high = binomtest(good, episodes).proportion_ci(method="wilson")
    causes = ", ".join(f"{count} {cause}" for cause, count in failed.most_common()) or "-"
    median, most = 1e3 * np.percentile(errors, (50, 95))
    print(
        f"| {good} of {episodes} | {100 * low:.1f} to {100 * high:.1f} % | {median:.1f} mm | {most:.1f} mm |"
        f" {causes} |",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
