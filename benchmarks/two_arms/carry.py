"""One object carried with both arms, in physics: ``python -m benchmarks.two_arms.carry [--episodes 100] [--robot R]``.

A bar of 440 mm lies before the robot, and is carried to another place and direction on the table. The criterion is, in
the settled world, that the bar lies there, upright, and no hand touches it. On the way the measured pose of one hand in
the other, the tilt of the bar and its way through the hands are recorded. A seed gives the scene and the goal. Time
passes only during waits for the world; both arms follow on a thread of their own. Each is printed with its seed.
``--picture PATH`` writes the moments of the first episode instead.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from benchmarks.two_arms.episodes import PLAN_S, SEARCH_S, Moments, engine_of, run
from handiwork_cli.processes.progress import progress
from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import Robot
from sim_bridge.mujoco.simulation import CONTROL_S
from skill_server.skills.two_arms.carry import Carry, CarryParams
from skill_server.state.gripper_state import touching_fingers
from support.cells.two_arm_cell import TwoArmCell

BAR = "bar"
GOALS = {
    "lift2": ((0.46, 0.56), (-0.10, 0.10), 20.0),
    "split_aloha": ((0.55, 0.66), (-0.10, 0.10), 20.0),
    "genie1": ((0.71, 0.77), (-0.05, 0.05), 8.0),
}
"""Ranges of the goal's x and y [m], and the largest yaw [deg]: places that both arms of the robot reach."""
LEAST_MOVE_M = 0.03
"""A goal nearer than this to where the bar lies is drawn again, m."""
SETTLE_S, OFF_M, OFF_RAD, TILT_RAD = 0.5, 0.02, math.radians(8.0), math.radians(3.0)

MOMENTS = ("grasp right_arm: grasp", "carry: move", "carry: lower")
"""The stages at whose beginning the picture shows the cell, and its end."""
FROM_OBJECT_M = np.array([1.25, -0.65, 0.55])


@dataclass
class Record:
    """What was measured while both arms moved.

    Attributes:
        chain_m: Largest change of the position of one hand in the other, m.
        chain_rad: Largest change of its angle, rad.
        slip_m: Largest way of the bar in the first hand, m.
        tilt_rad: Largest angle of the bar's vertical from that of the world, rad.
    """

    cell: TwoArmCell
    chain_m: float = 0.0
    chain_rad: float = 0.0
    slip_m: float = 0.0
    tilt_rad: float = 0.0
    _first: list[Pose] = field(default_factory=list)

    def see(self) -> None:
        """Take the present state into account."""
        world, cell = self.cell.snapshot(), self.cell
        hands = [ee_pose(world, cell.robot, port.spec, port.world_T_base()) for port in cell.ports.values()]
        bar = world.states[BAR].world_T_object
        now = [hands[0].inverse() @ hands[1], hands[0].inverse() @ bar]
        self._first = self._first or now
        off_m, off_rad = self._first[0].distance_to(now[0])
        self.chain_m, self.chain_rad = max(self.chain_m, off_m), max(self.chain_rad, off_rad)
        self.slip_m = max(self.slip_m, self._first[1].distance_to(now[1])[0])
        tilt = math.acos(float(np.clip(bar.rotation.matrix()[2, 2], -1.0, 1.0)))
        self.tilt_rad = max(self.tilt_rad, tilt)


def goal(robot: str, cell: TwoArmCell, seed: int) -> CarryParams:
    """Return the goal of an episode.

    Args:
        robot: Name of the robot.
        cell: The cell with the bar.
        seed: Seed of the goal and of the choices.
    """
    rng, here = np.random.default_rng(seed), cell.snapshot().states[BAR].world_T_object.translation_m
    (x0, x1), (y0, y1), turn = GOALS[robot]
    while True:
        x, y, yaw = float(rng.uniform(x0, x1)), float(rng.uniform(y0, y1)), float(rng.uniform(-turn, turn))
        if math.dist((x, y), here[:2].tolist()) >= LEAST_MOVE_M:
            break
    return CarryParams(
        object=BAR,
        position=(x, y),
        yaw=yaw,
        allowed_planning_time=PLAN_S,
        search_time=SEARCH_S,
        seed=seed,
    )


def verdict(cell: TwoArmCell, wanted: CarryParams) -> Outcome:
    """Check in the settled world that the bar lies at its place, and that no hand touches it.

    Args:
        cell: The cell after the goal.
        wanted: The goal.
    """
    cell.sim.advance(int(SETTLE_S / CONTROL_S))
    world, pose = cell.snapshot(), cell.snapshot().states[BAR].world_T_object
    matrix = pose.rotation.matrix()
    off_m = math.dist(pose.translation_m[:2].tolist(), wanted.position)
    off_rad = abs(
        math.remainder(math.atan2(matrix[1, 0], matrix[0, 0]) - math.radians(wanted.yaw or 0), math.tau)
    )
    if off_m > OFF_M or off_rad > OFF_RAD or math.acos(min(1.0, matrix[2, 2])) > TILT_RAD:
        return Outcome(Code.NOT_IN_PLACE, f"{1e3 * off_m:.0f} mm and {math.degrees(off_rad):.1f} deg off")
    for arm in cell.robot.arms.values():
        assert arm.gripper is not None
        if touching_fingers(world, cell.robot, arm.gripper, BAR):
            return Outcome(Code.NOT_REACHED, f"{arm.name} still touches the bar")
    return OK


def measure(robot: Robot, seeds: range) -> None:
    """Print the failures and one row of the table.

    Args:
        robot: The robot.
        seeds: Seeds of the episodes.
    """
    engine = engine_of(robot, f"{robot.name}_carry")
    failed, spent, moved, records = Counter[str](), list[float](), list[float](), list[Record]()
    for seed in progress(seeds, "carry"):
        began = time.process_time()
        cell = TwoArmCell(robot, engine, f"{robot.name}_carry", seed)
        record, wanted = Record(cell), goal(robot.name, cell, seed)
        cell.together.watch = record.see
        ended = cell.run(Carry(), wanted, "left_arm")
        outcome = verdict(cell, wanted) if ended.outcome.ok else ended.outcome
        spent.append(time.process_time() - began)
        if outcome.ok:
            moved.append(ended.duration_s)
            records.append(record)
        else:
            failed[f"{outcome.stage or 'verdict'} {outcome.code.name} ({seed})"] += 1
        text = f"{outcome.code.name} {outcome.stage}: {outcome.message}; hands {1e3 * record.chain_m:.1f} mm"
        print(f"  {robot.name} seed {seed}: {text}, {spent[-1]:.0f} s", file=sys.stderr, flush=True)
    engine.close()
    n, good = len(seeds), len(seeds) - failed.total()
    low, high = binomtest(good, n).proportion_ci(method="wilson")
    columns = [
        [1e3 * r.chain_m for r in records],
        [math.degrees(r.chain_rad) for r in records],
        [1e3 * r.slip_m for r in records],
        [math.degrees(r.tilt_rad) for r in records],
        spent,
        moved,
    ]
    pairs = (
        (f"{p50:.1f} / {p95:.1f}") for p50, p95 in (np.percentile(v or [0.0], (50, 95)) for v in columns)
    )
    print(
        f"| {robot.name} | {seeds[0]} to {seeds[-1]} | {good} of {n} | {100 * low:.1f} to {100 * high:.1f} % | "
        f"{' | '.join(pairs)} | {', '.join(failed) or '-'} |",
        flush=True,
    )


def draw(robot: Robot, seed: int, path: Path) -> None:
    """Write a picture of the moments of an episode.

    Args:
        robot: The robot.
        seed: Seed of scene and choices.
        path: The PNG file.

    Raises:
        RuntimeError: The episode failed.
    """
    scene = f"{robot.name}_carry"
    engine = engine_of(robot, scene)
    cell = TwoArmCell(robot, engine, scene, seed)
    moments = Moments(cell, MOMENTS)
    middle = cell.snapshot().states[BAR].world_T_object.translation_m + (0.0, 0.0, 0.1)
    ended = cell.run(Carry(), goal(robot.name, cell, seed), "left_arm", moments.take)
    engine.close()
    if not ended.outcome.ok:
        raise RuntimeError(str(ended.outcome))
    moments.write(scene, middle, FROM_OBJECT_M, path)


HEADER = (
    "| robot | seeds | good | interval | hands apart p50 / p95 [mm] | [deg] | slip [mm] | tilt [deg] | CPU [s] |"
    " robot's time [s] | failures |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"
)

if __name__ == "__main__":
    sys.exit(run(__doc__, tuple(GOALS), HEADER, measure, draw))
