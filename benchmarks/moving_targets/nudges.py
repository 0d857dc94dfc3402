"""Nudged targets in physics, without ROS: ``python -m benchmarks.moving_targets.nudges [--runs 100] [--seed 5000]``.

The cube is pushed, or put elsewhere, by 10 to 60 mm at a random moment of the approach or the descent of Pick, then the
tray during Place. Planning takes no time of the world here, so that the time to the next motion is that of the brake
(and of the target's own way to rest); ``benchmarks.moving_targets.stack`` measures the running stack. A
pick is good if its goal succeeds and the cube is in the hand, above the table; a place, if its goal succeeds and the
settled cube is within the tray. ``--seed N --runs 1`` repeats a run. Intervals are Wilson's, with 95 % confidence.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "test"))

from handiwork_cli.processes.progress import progress  # noqa: E402
from handiwork_core.contracts.planning import ShouldStop  # noqa: E402
from handiwork_core.model.geometry import Pose  # noqa: E402
from handiwork_core.model.outcome import OK, Code, Outcome  # noqa: E402
from handiwork_core.model.trajectory import Trajectory  # noqa: E402
from handiwork_core.robot.robot import Robot  # noqa: E402
from handiwork_core.robot_files.loader import load_robot  # noqa: E402
from handiwork_planning.cpu_engine import CpuEngine  # noqa: E402
from sim_bridge.mujoco.simulation import CONTROL_S  # noqa: E402
from skill_server.execution.run import ExecutionResult, run_skill  # noqa: E402
from skill_server.geometry.solids import object_box  # noqa: E402
from skill_server.skills.pick_place.pick import Pick, PickParams  # noqa: E402
from skill_server.skills.pick_place.place import Place, PlaceParams  # noqa: E402
from support.cells.nudged_cell import NudgedCell  # noqa: E402
from support.paths import ROBOTS  # noqa: E402

from .stack import FIRST_SEED, LEAST_M, MOST_M, SHOWN_EVERY, SLIDE_MPS2, wilson  # noqa: E402

FREE, STRAIGHT = 1, 2
"""The motions that lead to the target: the free one, and the last way."""
MOST_TURN_RAD, SETTLE_S, LIFTED_M = 0.4, 0.5, 0.05
PICK = PickParams(object="cube", allowed_planning_time=60.0)
PLACE = PlaceParams(container="tray", allowed_planning_time=60.0)


class TimedCell(NudgedCell):
    """Measures the time from the poll that ends a motion to the motion that takes its place.

    Attributes:
        brakes_s: These times of the world, s.
    """

    def __init__(self, robot: Robot, engine: CpuEngine, seed: int) -> None:
        super().__init__(robot, engine, "moving", seed)
        self.brakes_s, self._ended_s = list[float](), math.nan

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``."""
        if not math.isnan(self._ended_s):
            self.brakes_s.append(self.now_s() - self._ended_s)
            self._ended_s = math.nan

        def is_over() -> bool:
            ends = should_stop()
            if ends and math.isnan(self._ended_s):
                self._ended_s = self.now_s()
            return ends

        return super().follow(trajectory, should_stop=is_over)


@dataclass
class Tally:
    """Runs of one kind.

    Attributes:
        good: Number of good runs.
        of: Number of all.
        followed: Number of those in which a motion was replaced.
        spent_s: Processor time of each, s.
        brakes_s: Times of the world from the poll that ended a motion to the next motion, s.
    """

    good: int = 0
    of: int = 0
    followed: int = 0
    spent_s: list[float] = field(default_factory=list)
    brakes_s: list[float] = field(default_factory=list)

    def note(self, name: str, seed: int, ended: ExecutionResult, verdict: Outcome, spent_s: float) -> None:
        """Count one run, and print its failure.

        Args:
            name: Name of the skill.
            seed: Seed of the run.
            ended: How the goal ended.
            verdict: Whether the run is good.
            spent_s: Processor time, s.
        """
        first = "approach" if name == "pick" else "transit"
        self.of, self.good = self.of + 1, self.good + verdict.ok
        self.followed += [stage.stage for stage in ended.stages].count(first) > 1
        self.spent_s.append(spent_s)
        if not verdict.ok:
            print(
                f"    {name} seed {seed}: {verdict.code.name} in {verdict.stage!r}: {verdict.message[:250]}",
                flush=True,
            )


def nudge(cell: NudgedCell, name: str, rng: np.random.Generator) -> None:
    """Arrange that an object is moved in the next skill, at a random moment of a random motion that leads to it.

    Args:
        cell: The cell.
        name: The object.
        rng: Source of the moment, the distance and the direction.
    """
    number, share = int(rng.integers(FREE, STRAIGHT + 1)), float(rng.uniform(0.02, 0.98))
    far, angle, turn = rng.uniform(LEAST_M, MOST_M), rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-1.0, 1.0)
    x, y = float(far * np.cos(angle)), float(far * np.sin(angle))
    # What is put between the fingers would be put into them: on the last way it is pushed.
    if number == STRAIGHT or rng.random() < 0.5:
        pace = math.sqrt(2.0 * SLIDE_MPS2 * far) / far
        cell.on_motion(number, share, lambda: cell.push(name, (pace * x, pace * y, 0.0)))
    else:
        cell.on_motion(number, share, lambda: cell.put(name, (x, y, 0.0), float(MOST_TURN_RAD * turn)))


def place_of(cell: NudgedCell, name: str) -> Pose:
    """Return the measured pose of an object.

    Args:
        cell: The cell.
        name: The object.
    """
    return cell.sim.world.object_states()[name].world_T_object


def picked(cell: NudgedCell, ended: ExecutionResult, before: Pose) -> Outcome:
    """Check that the goal succeeded and the cube is above the table.

    Args:
        cell: The cell after the pick.
        ended: How the goal ended.
        before: Pose of the cube before it.
    """
    if not ended.outcome.ok:
        return ended.outcome
    rise_m = float(place_of(cell, "cube").translation_m[2] - before.translation_m[2])
    return OK if rise_m > LIFTED_M else Outcome(Code.NOTHING_GRASPED, f"the cube rose by {rise_m:.3f} m")


def placed(cell: NudgedCell, ended: ExecutionResult) -> Outcome:
    """Check that the goal succeeded and the settled cube is within the tray.

    Args:
        cell: The cell after the place.
        ended: How the goal ended.
    """
    if not ended.outcome.ok:
        return ended.outcome
    cell.sim.advance(int(SETTLE_S / CONTROL_S))
    box = object_box(cell.objects["tray"]).moved(place_of(cell, "tray"))
    beside = np.abs((box.pose.inverse() @ place_of(cell, "cube")).translation_m[:2]) - box.size[:2] / 2
    if beside.max() < 0.0:
        return OK
    return Outcome(Code.NOT_IN_PLACE, f"the cube is {1e3 * beside.max():.0f} mm beside the tray")


def run(cell: TimedCell, seed: int, picks: Tally, places: Tally) -> None:
    """Pick and place once, with a nudge in each.

    Args:
        cell: A new cell of this seed.
        seed: Seed of the nudges and choices.
        picks: Takes the pick.
        places: Takes the place, where the pick was good.
    """
    rng, context, before = np.random.default_rng(seed), cell.context(seed), place_of(cell, "cube")
    began = time.process_time()
    nudge(cell, "cube", rng)
    ended = run_skill(Pick(), PICK, context)
    verdict = picked(cell, ended, before)
    picks.note("pick", seed, ended, verdict, time.process_time() - began)
    picks.brakes_s += cell.brakes_s
    cell.brakes_s.clear()
    if not verdict.ok:
        return
    began = time.process_time()
    nudge(cell, "tray", rng)
    ended = run_skill(Place(), PLACE, replace(context, refused=[], planning_time_s=0.0))
    places.note("place", seed, ended, placed(cell, ended), time.process_time() - began)
    places.brakes_s += cell.brakes_s


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    wanted = parser.parse_args()
    robot = load_robot(ROBOTS / "fr3")
    engine = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    picks, places = Tally(), Tally()
    for seed in progress(range(wanted.seed, wanted.seed + wanted.runs), "nudges"):
        run(TimedCell(robot, engine, seed), seed, picks, places)
        if (seed - wanted.seed) % SHOWN_EVERY == SHOWN_EVERY - 1:
            show(picks, places)
    engine.close()
    show(picks, places)


def show(picks: Tally, places: Tally) -> None:
    """Print the figures so far.

    Args:
        picks: All picks.
        places: All places.
    """
    for name, tally in (("pick, nudged object", picks), ("place, nudged container", places)):
        if tally.of:
            p50, p95 = np.percentile(tally.spent_s, (50, 95))
            times = f"processor p50 / p95 {p50:.2f} / {p95:.2f} s"
            print(f"{name}: {wilson(tally.good, tally.of)}, {tally.followed} followed, {times}", flush=True)
        if tally.brakes_s:
            p50, p95 = np.percentile(tally.brakes_s, (50, 95))
            print(f"  to the next motion p50 / p95 {1e3 * p50:.0f} / {1e3 * p95:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
