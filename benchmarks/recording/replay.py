"""Replays of goals that failed: ``python -m benchmarks.recording.replay --count 50``.

Picks and places in physics, in scattered scenes, each with a fault that is planted by the seed. Each goal that does not
succeed leaves a bundle, which is read back and replayed by the code of ``handiwork replay``: does it reach the same
outcome, and are the planner's answers equal in every bit?
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from tqdm import tqdm  # noqa: E402

from handiwork_cli.replay.replay import Replayed, params_types, replay_bundle  # noqa: E402
from handiwork_cli.replay.ros.in_process_planner import planner_of  # noqa: E402
from handiwork_core.bundles.bundle import read_bundle  # noqa: E402
from handiwork_core.bundles.folder import BundleFolder  # noqa: E402
from handiwork_core.contracts.planning import Engine, PlanResult  # noqa: E402
from handiwork_core.contracts.skill import Context  # noqa: E402
from handiwork_core.model.geometry import Pose  # noqa: E402
from handiwork_core.model.outcome import Code, Outcome  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from skill_server.execution.run import run_skill  # noqa: E402
from skill_server.flight.recorder import FlightRecorder  # noqa: E402
from skill_server.params.registry import load_catalog  # noqa: E402
from skill_server.skills import BUILTIN  # noqa: E402
from support.cells.simulated_cell import SimulatedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

SCENE, OBJECT, CONTAINER = "tabletop", "cube", "bin"
FAULTS = ("tolerance", "cancel", "robot_lost", "planner_lost", "moved", "far", "tight", "no_force")


class FaultyCell(SimulatedCell):
    """A cell in which one fault happens, at the motion or plan with a number."""

    def plant(self, fault: str, number: int, context: Context) -> None:
        """Plant a fault.

        Args:
            fault: One of ``FAULTS``.
            number: Number of the motion or plan, from 1.
            context: Context of the run.
        """
        self.fault, self.number, self.run = fault, number, context
        self.motions = self.plans = 0

    def plan(self, request: Any, *, should_stop: Callable[[], bool]) -> Any:
        """See ``Planner.plan``."""
        self.plans += 1
        if self.fault == "planner_lost" and self.plans == self.number:
            return PlanResult(Code.PLANNER_LOST, "planner_node was killed")
        return super().plan(request, should_stop=should_stop)

    def follow(self, trajectory: Any, *, should_stop: Callable[[], bool]) -> Outcome:
        """See ``Arm.follow``."""
        self.motions += 1
        is_due = self.motions == self.number
        if is_due and self.fault in ("cancel", "robot_lost"):
            code = Code.CANCELED if self.fault == "cancel" else Code.ROBOT_LOST
            self.run.token.set(code, "" if self.fault == "cancel" else "joint_states is silent")
        if is_due and self.fault == "moved":
            pose = self.sim.world.object_states()[OBJECT].world_T_object
            self.sim.world.set_object_pose(
                OBJECT, Pose.of(pose.translation_m + (0.0, 0.15, 0.0), pose.rotation)
            )
        done = super().follow(trajectory, should_stop=should_stop)
        if is_due and self.fault == "tolerance":
            return Outcome(Code.PATH_TOLERANCE, "joint 4 left its path by 0.12 rad")
        return done


def failed_goal(
    robot: Robot, engine: Engine, recorder: FlightRecorder, seed: int
) -> tuple[str, Outcome, str]:
    """Run a pick, or a pick and a place, with a planted fault.

    Args:
        robot: The robot.
        engine: Its engine.
        recorder: Takes the bundle.
        seed: Seed of scene, fault and goal.

    Returns:
        The fault, the outcome, and the path of the bundle; empty if the goal succeeded all the same.
    """
    rng = np.random.default_rng(seed)
    fault, catalog = str(rng.choice(FAULTS)), load_catalog(BUILTIN)
    cell = FaultyCell(robot, engine, SCENE, seed)
    skill, context = catalog.find("pick"), cell.context(seed)
    params: Any = skill.params_type(object=OBJECT, seed=seed, recovery="give_up")
    cell.plant("", 0, context)
    if fault == "far":
        cell.sim.world.set_object_pose(OBJECT, Pose.of((1.6, 0.3, 0.05)))
        cell.sim.advance(10)
    elif fault == "tight":
        params = skill.params_type(
            object=OBJECT, seed=seed, direction_to_obj="left", post_grasp_offset_min=0.9
        )
    elif rng.random() < 0.4 and run_skill(skill, params, context).outcome.ok:
        skill, context = catalog.find("place"), _next(cell, context, seed)
        params = skill.params_type(object=OBJECT, container=CONTAINER, seed=seed, recovery="give_up")
    cell.plant(fault, int(rng.integers(1, 4)), context)
    if fault == "no_force":
        cell.sim.world.set_object_pose(OBJECT, Pose.of((0.5, -0.3, 0.02)))
    trace = recorder.begin(params, context)
    result = recorder.end(trace, skill, run_skill(skill, params, context))
    return fault, result.outcome, result.bundle


def _next(cell: FaultyCell, before: Context, seed: int) -> Context:
    context = cell.context(seed)
    context.held.update(before.held)
    return context


def measure(count: int, seed: int, folder: Path) -> list[tuple[str, Replayed, float, int]]:
    """Make failures, and replay each of them.

    Args:
        count: Number of failures.
        seed: Seed of the first goal.
        folder: Folder of the bundles.

    Returns:
        For each the fault, the replay, its duration in s of steady time, and the size of the bundle in bytes.
    """
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    recorder = FlightRecorder(robot, str(ROBOTS / "fr3"), BundleFolder(folder, kept=10_000))
    catalog, rows = load_catalog(BUILTIN), list[tuple[str, Replayed, float, int]]()
    with tqdm(total=count, desc="failures", unit="", disable=not sys.stderr.isatty()) as bar:
        while len(rows) < count:
            fault, outcome, name = failed_goal(robot, engine, recorder, seed)
            seed += 1
            if outcome.ok:
                continue
            path = Path(name)
            while not path.is_file():
                threading.Event().wait(0.01)
            bundle = read_bundle(path, params_types(catalog))
            begun_s = time.perf_counter()
            planner = planner_of(bundle, robot, lambda *_: engine)
            again = replay_bundle(bundle, catalog.find(bundle.head.skill), robot, planner)
            rows.append((fault, again, time.perf_counter() - begun_s, path.stat().st_size))
            bar.update()
    recorder.close()
    engine.close()
    return rows


def main() -> int:
    """Print the figures.

    Returns:
        Exit code, 0 exactly when each failure was repeated.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options.count, options.seed, Path(folder))
    codes = Counter(f"{again.recorded.code.name} ({fault})" for fault, again, _, _ in rows)
    same = sum(again.is_same for _, again, _, _ in rows)
    print(f"{same} of {len(rows)} failures reach the same code and stage again")
    for text, number in codes.most_common():
        print(f"  {number:>3} {text}")
    for fault, again, _, _ in rows:
        if not again.is_same:
            print(f"  other: {fault}: {again.recorded} became {again.outcome} {again.notes}")
    counts = [again.comparison for _, again, _, _ in rows]
    words = ("identical", "same", "repeated")
    print("planner's answers:", ", ".join(f"{sum(getattr(c, w) for c in counts)} {w}" for w in words), end="")
    print(f", {sum(len(c.other) for c in counts)} with another code")
    took = np.array([row[2] for row in rows])
    sizes = np.array([row[3] for row in rows]) / 1e3
    print(f"a replay takes p50 {np.median(took):.2f} s, p95 {np.percentile(took, 95):.2f} s")
    print(f"a bundle has p50 {np.median(sizes):.0f} kB, greatest {sizes.max():.0f} kB")
    return 0 if same == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
