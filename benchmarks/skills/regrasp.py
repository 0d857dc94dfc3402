"""A box that must be turned over: ``python -m benchmarks.skills.regrasp [--episodes 100] [--place turned]``.

``turned``: a low box on the table must lie on a tray with its underside up, which no single grasp can do.
``plain``: a cube must come into a bin, in any orientation, which the first grasp can do: the cost of the search.
Every episode is a seed of its own: scattered scene and one goal of ``move_object``, in physics, without ROS. The rows
``one grasp`` and ``regrasp`` have the same seeds and differ in the parameter ``regrasp`` alone; ``as previewed`` is a
preview of the second, which is executed afterwards. An episode is good if
the goal succeeds and the settled object lies within the bounds of its container, within 10 degrees of the wanted side.
Intervals are Wilson's, with 95 % confidence. A failure is printed with its seed, so that ``--seed N --episodes 1``
repeats it. ``--picture FILE`` draws the steps of one episode instead.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.contracts.skill import Progress  # noqa: E402
from handiwork_core.model.geometry import Pose, frozen  # noqa: E402
from handiwork_core.model.outcome import OK, Code, Outcome  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from handiwork_viz.film.camera import SUN, Camera  # noqa: E402
from handiwork_viz.film.film import Projection, write_still  # noqa: E402
from handiwork_viz.film.recorder import FilmRecording, Instant  # noqa: E402
from sim_bridge.mujoco.simulation import CONTROL_S  # noqa: E402
from skill_server.execution.run import ExecutionResult, run_skill  # noqa: E402
from skill_server.geometry.solids import object_box  # noqa: E402
from skill_server.preview.previewed_skill import execute_plan  # noqa: E402
from skill_server.preview.rehearsed_run import preview_skill  # noqa: E402
from skill_server.skills.pick_place.move_object import MoveObject, MoveObjectParams  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

PATIENCE_S = 60.0
"""Steady time for one plan and for one search, s: long, so that a busy machine does not change the result."""
SETTLE_S, LEAN_DEG = 0.5, 10.0
PLACES = {
    "turned": ("turn_over", "box", "tray", (0.0, 0.0, -1.0)),
    "plain": ("tabletop", "cube", "bin", (0.0, 0.0, 0.0)),
}
"""The scene, the object, its container, and the axis of the object that is to point up; zero: any."""
PREVIEWED = "as previewed"
ROWS = {"one grasp": False, "regrasp": True, PREVIEWED: True}
SEARCH = "select"
"""The stage of a step's choice; that of the search has no step before it."""

MOMENTS = ("pick: lift", "put down: release", "pick again: lift", "place: release")
"""The stages at whose beginning the picture shows the cell."""
CAMERA = Camera(frozen([1.85, 0.45, 0.80]), frozen([0.42, 0.03, 0.14]), 30.0)
VIEW_PX = (480, 360)


def verdict(cell: SimulatedCell, name: str, container: str, up_axis: Sequence[float]) -> Outcome:
    """Check that the settled object is within the bounds of its container, the wanted side up.

    Args:
        cell: The cell after the goal.
        name: The object.
        container: Its container.
        up_axis: Axis of the object that is to point up, (3,).
    """
    cell.sim.advance(int(SETTLE_S / CONTROL_S))
    poses = {one: state.world_T_object for one, state in cell.snapshot().states.items()}
    box = object_box(cell.objects[container]).moved(poses[container])
    beside = np.abs((box.pose.inverse() @ poses[name]).translation_m[:2]) - box.size[:2] / 2
    up = float((poses[name].rotation.matrix() @ np.array(up_axis))[2]) if any(up_axis) else 1.0
    lean_deg = float(np.rad2deg(np.arccos(np.clip(up, -1.0, 1.0))))
    if beside.max() < 0.0 and lean_deg < LEAN_DEG:
        return OK
    text = f"it leans by {lean_deg:.0f} degrees and is {1e3 * beside.max():.0f} mm beside the container"
    return Outcome(Code.NOT_IN_PLACE, text)


def episode(
    robot: Robot, engine: CpuEngine, place: str, row: str, seed: int
) -> tuple[ExecutionResult, Outcome]:
    """Run the goal and the check.

    Args:
        robot: The robot.
        engine: The planner.
        place: Name of the place.
        row: Name of the row.
        seed: Seed of scene and choices.

    Returns:
        The result of the goal, and the outcome of the episode.
    """
    scene, name, container, up_axis = PLACES[place]
    cell, wanted = SimulatedCell(robot, engine, scene, seed), goal(place, row, seed)
    ended: ExecutionResult
    if row == PREVIEWED:
        ended = previewed = preview_skill(MoveObject(), wanted, cell.context(seed))
        if previewed.plan is not None:
            ended = execute_plan(previewed.plan, cell.context(seed))
    else:
        ended = run_skill(MoveObject(), wanted, cell.context(seed))
    return ended, verdict(cell, name, container, up_axis) if ended.outcome.ok else ended.outcome


def goal(place: str, row: str, seed: int) -> MoveObjectParams:
    """Return the goal of an episode.

    Args:
        place: Name of the place.
        row: Name of the row.
        seed: Seed of the choices.
    """
    _, name, container, up_axis = PLACES[place]
    return MoveObjectParams(
        object=name,
        container=container,
        up_axis=up_axis,
        regrasp=ROWS[row],
        seed=seed,
        allowed_planning_time=PATIENCE_S,
        search_time=PATIENCE_S,
    )


def draw(robot: Robot, engine: CpuEngine, seed: int, path: Path) -> None:
    """Write a picture of the steps of an episode.

    Args:
        robot: The robot.
        engine: The planner.
        seed: Seed of scene and choices.
        path: The PNG file.

    Raises:
        RuntimeError: The episode failed.
    """
    cell, taken = SimulatedCell(robot, engine, PLACES["turned"][0], seed), dict[str, Instant]()
    context = cell.context(seed)

    def take(progress: Progress) -> None:
        if progress.stage in MOMENTS and progress.stage not in taken:
            world = cell.snapshot()
            poses = {name: state.world_T_object for name, state in world.states.items()}
            taken[progress.stage] = Instant(world.joints.position, poses)

    context.report = take
    ended = run_skill(MoveObject(), goal("turned", "regrasp", seed), context)
    if not ended.outcome.ok:
        raise RuntimeError(str(ended.outcome))
    instants = [taken[moment] for moment in MOMENTS]
    recording = FilmRecording(cell.objects, cell.world_T_base(), tuple(instants))
    views = Projection(recording, robot, ROBOTS / robot.name, CAMERA, SUN).frames(instants, VIEW_PX)
    write_still(np.vstack([np.hstack(views[:2]), np.hstack(views[2:])]), path)


def regrasps(ended: ExecutionResult) -> int:
    """Return how often the object was put down on the way.

    Args:
        ended: Result of the goal.
    """
    return sum(stage.stage == "put down: release" for stage in ended.stages)


def measure(robot: Robot, engine: CpuEngine, place: str, row: str, seeds: range) -> None:
    """Print the failures and one row of the table.

    Args:
        robot: The robot.
        engine: The planner.
        place: Name of the place.
        row: Name of the row.
        seeds: Seeds of the episodes.
    """
    failed, put_down = Counter[str](), Counter[int]()
    searched, spent, moved = list[float](), list[float](), list[float]()
    for seed in progress(seeds, "regrasp"):
        began = time.process_time()
        ended, outcome = episode(robot, engine, place, row, seed)
        spent.append(time.process_time() - began)
        searched.append(sum(stage.planning_time_s for stage in ended.stages if stage.stage == SEARCH))
        moved.append(ended.duration_s)
        put_down[regrasps(ended)] += 1
        if not outcome.ok:
            failed[f"{outcome.stage or 'verdict'} {outcome.code.name}"] += 1
            print(
                f"  {place} {row} seed {seed}: {outcome.stage}: {outcome.message}",
                file=sys.stderr,
                flush=True,
            )
    good, n = len(seeds) - failed.total(), len(seeds)
    low, high = binomtest(good, n).proportion_ci(method="wilson")
    causes = ", ".join(f"{count} {cause}" for cause, count in failed.most_common()) or "-"
    times = " | ".join(f"{p50:.2f} / {p95:.2f}" for p50, p95 in map(_percentiles, (searched, spent, moved)))
    downs = ", ".join(f"{count} x {number}" for number, count in sorted(put_down.items()))
    print(
        f"| {place} | {row} | {seeds[0]} to {seeds[-1]} | {good} of {n} | {100 * low:.1f} to {100 * high:.1f} % |"
        f" {times} | {downs} | {causes} |",
        flush=True,
    )


def _percentiles(values: list[float]) -> tuple[float, float]:
    half, most = np.percentile(values, (50, 95))
    return float(half), float(most)


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--place", choices=sorted(PLACES), action="append")
    parser.add_argument("--row", choices=sorted(ROWS), action="append")
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    parser.add_argument("--picture", type=Path, help="write a PNG of the steps of the first episode")
    wanted = parser.parse_args()
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    if wanted.picture:
        draw(robot, engine, wanted.seed, wanted.picture)
        engine.close()
        return 0
    print(
        "| place | row | seeds | good | interval | planner in the search p50 / p95 [s] | processor p50 / p95 [s] |"
        " robot's time p50 / p95 [s] | put down | failures |\n|---|---|---|---:|---:|---:|---:|---:|---|---|"
    )
    seeds = range(wanted.seed, wanted.seed + wanted.episodes)
    for place in wanted.place or PLACES:
        for row in wanted.row or ROWS:
            measure(robot, engine, place, row, seeds)
    engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
