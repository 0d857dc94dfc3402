"""Picks with and without look-ahead: ``python -m benchmarks.skills.look_ahead [--episodes 100] [--place turned]``.

``turned``: a bottle on a stand must be put down upside down on a tray. ``roofed``: a bottle must be put under the roof
of a cabinet. The grasp that scores best, from above, can do neither. Every episode is a seed of its own: scattered
scene, Pick, Place, in physics, without ROS. The rows ``greedy`` and ``look-ahead`` have the same seeds and differ in
``next_place`` alone. An episode is good if both skills succeed and the settled bottle stands in its place, within 10
degrees. Intervals are Wilson's, with 95 % confidence. A failure is printed with its seed, so that
``--seed N --episodes 1`` repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.contracts.commands import Command  # noqa: E402
from handiwork_core.contracts.skill import Context  # noqa: E402
from handiwork_core.model.geometry import Pose, frozen  # noqa: E402
from handiwork_core.model.outcome import OK, Code, Outcome  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from sim_bridge.mujoco.simulation import CONTROL_S  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.geometry.solids import object_box  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.skills.pick_place.place import Place, PlaceParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

OBJECT = "bottle"
PATIENCE_S = 60.0
"""Steady time for one plan and for one look-ahead, s: long, so that a busy machine does not change the result."""
SETTLE_S, LEAN_DEG = 0.5, 10.0
TURNED = PlaceParams(
    container="tray",
    align_pick_obj_axis=(0.0, 0.0, 1.0),
    align_place_obj_axis=(0.0, 0.0, -1.0),
    align_obj_tol_deg=5.0,
)
ROOFED = PlaceParams(
    container="cabinet",
    place_part=0,
    place_direction="horizontal",
    align_place_obj_axis=(0.0, 1.0, 0.0),
    offset_place_obj_axis=(0.0, 0.0, 1.0),
    y_ratio_range=(0.3, 0.6),
    z_ratio_range=(1.0, 1.0),
    pre_place_align=-0.26,
    place_align=0.0,
    pre_place_offset=0.11,
    place_offset=0.09,
)
PLACES = {"turned": ("upside_down", TURNED, -1.0), "roofed": ("look_ahead", ROOFED, 1.0)}
"""The scene, the parameters, and the vertical component of the bottle's axis in its place."""
ROWS = ("greedy", "look-ahead")
CAMERA = Camera(frozen([2.00, 0.45, 0.70]), frozen([0.45, 0.17, 0.17]), 38.0)
VIEW_PX = (400, 400)


class TimedPick(Pick):
    """Pick that measures the processor time of its choice, s."""

    spent_s = 0.0

    def commands(self, params: PickParams, context: Context) -> Sequence[Command]:
        """See ``Pick``."""
        began = time.process_time()
        try:
            return super().commands(params, context)
        finally:
            self.spent_s += time.process_time() - began


def verdict(cell: SimulatedCell, place: PlaceParams, up: float) -> Outcome:
    """Check that the settled bottle stands within the bounds of its container, the wanted side up.

    Args:
        cell: The cell after Place.
        place: Parameters of the place.
        up: Vertical component of the bottle's axis, 1 or -1.
    """
    cell.sim.advance(int(SETTLE_S / CONTROL_S))
    poses = {name: state.world_T_object for name, state in cell.snapshot().states.items()}
    box = object_box(cell.objects[place.container]).moved(poses[place.container])
    beside = np.abs((box.pose.inverse() @ poses[OBJECT]).translation_m[:2]) - box.size[:2] / 2
    lean_deg = np.rad2deg(np.arccos(np.clip(up * poses[OBJECT].rotation.matrix()[2, 2], -1.0, 1.0)))
    if beside.max() < 0.0 and lean_deg < LEAN_DEG:
        return OK
    text = f"it leans by {lean_deg:.0f} degrees and is {1e3 * beside.max():.0f} mm beside the container"
    return Outcome(Code.NOT_IN_PLACE, text)


def episode(
    robot: Robot, engine: CpuEngine, name: str, row: str, seed: int
) -> tuple[str, Outcome, float, float]:
    """Run Pick, Place and the check.

    Args:
        robot: The robot.
        engine: The planner.
        name: Name of the place.
        row: Name of the row.
        seed: Seed of scene and choices.

    Returns:
        The part that ended the episode, its outcome, and the processor time [s] of Pick's choice and of all.
    """
    scene, params, up = PLACES[name]
    place = replace(params, seed=seed, allowed_planning_time=PATIENCE_S)
    cell = SimulatedCell(robot, engine, scene, seed)
    began = time.process_time()
    pick = PickParams(
        object=OBJECT,
        seed=seed,
        allowed_planning_time=PATIENCE_S,
        next_place=place if row == "look-ahead" else None,
    )
    context, timed = cell.context(seed), TimedPick()
    part, ended = "pick", run_skill(timed, pick, context).outcome
    if ended.ok:
        part = "place"
        # A goal of its own, with random choices of its own, as in the skill server.
        context = replace(cell.context(seed), held=context.held)
        ended = run_skill(Place(), place, context).outcome
    if ended.ok:
        part, ended = "verdict", verdict(cell, params, up)
    return part, ended, timed.spent_s, time.process_time() - began


def measure(robot: Robot, engine: CpuEngine, name: str, row: str, seeds: range) -> None:
    """Print the failures and one row of the table.

    Args:
        robot: The robot.
        engine: The planner.
        name: Name of the place.
        row: Name of the row.
        seeds: Seeds of the episodes.
    """
    failed, chosen, spent = Counter[str](), list[float](), list[float]()
    for seed in progress(seeds, "look ahead"):
        part, ended, chosen_s, all_s = episode(robot, engine, name, row, seed)
        chosen.append(chosen_s)
        spent.append(all_s)
        if not ended.ok:
            failed[f"{part} {ended.code.name}"] += 1
            print(f"  {name} {row} seed {seed}: {part}: {ended.code.name}: {ended.message}", file=sys.stderr)
    good, n = len(seeds) - failed.total(), len(seeds)
    low, high = binomtest(good, n).proportion_ci(method="wilson")
    choice, most = np.percentile(chosen, (50, 95))
    causes = ", ".join(f"{count} {cause}" for cause, count in failed.most_common()) or "-"
    print(
        f"| {name} | {row} | {seeds[0]} to {seeds[-1]} | {good} of {n} | {100 * low:.1f} to {100 * high:.1f} % |"
        f" {choice:.2f} s | {most:.2f} s | {np.median(spent):.2f} s | {causes} |",
        flush=True,
    )


def draw(robot: Robot, engine: CpuEngine, seed: int, path: Path) -> None:
    """Write a picture: the bottle as a greedy pick holds it, as one with look-ahead does, and under the roof.

    Args:
        robot: The robot.
        engine: The planner.
        seed: Seed of scene and choices.
        path: The PNG file.

    Raises:
        RuntimeError: A goal failed.
    """
    scene, params, _ = PLACES["roofed"]
    place = replace(params, seed=seed, allowed_planning_time=PATIENCE_S)
    taken = list[Instant]()
    for row in ROWS:
        cell = SimulatedCell(robot, engine, scene, seed)
        context, ahead = cell.context(seed), place if row == "look-ahead" else None

        def take(cell: SimulatedCell = cell) -> None:
            world = cell.snapshot()
            poses = {name: state.world_T_object for name, state in world.states.items()}
            taken.append(Instant(world.joints.position, poses))

        pick = PickParams(object=OBJECT, seed=seed, allowed_planning_time=PATIENCE_S, next_place=ahead)
        runs = [run_skill(Pick(), pick, context).outcome]
        take()
        if ahead is not None:
            context = replace(cell.context(seed), held=context.held)
            context.report = lambda now, take=take: take() if now.stage == "release" else None
            runs.append(run_skill(Place(), place, context).outcome)
        if failed := [ended for ended in runs if not ended.ok]:
            raise RuntimeError(str(failed[0]))
    shown = (taken[0], taken[1], taken[2])
    recording = FilmRecording(cell.objects, cell.world_T_base(), shown)
    views = Projection(recording, robot, ROBOTS / robot.name, CAMERA, SUN).frames(list(shown), VIEW_PX)
    write_still(np.hstack(views), path)


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--place", choices=sorted(PLACES), action="append")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--picture", type=Path, help="write a PNG of the grasps of the first episode")
    wanted = parser.parse_args()
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    if wanted.picture:
        draw(robot, engine, wanted.seed, wanted.picture)
        engine.close()
        return 0
    print(
        "| place | row | seeds | good | interval | choice p50 | choice p95 | episode p50 | failures |\n"
        "|---|---|---|---:|---:|---:|---:|---:|---|"
    )
    seeds = range(wanted.seed, wanted.seed + wanted.episodes)
    for name in wanted.place or PLACES:
        for row in ROWS:
            measure(robot, engine, name, row, seeds)
    engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
