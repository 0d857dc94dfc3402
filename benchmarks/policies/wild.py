"""A wild policy behind the guard: random actions at full scale. What does the robot touch?"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.policies.episode import PolicyEpisode, PolicySetup
from handiwork_policy.actions.spec import ActionSpace
from handiwork_policy.guard.settings import GuardSettings
from handiwork_policy.loop.settings import PolicySettings
from handiwork_policy.protocol.server import FunctionPolicy
from handiwork_policy.verdicts.result import SUCCESS, TIME_OVER

ORDINARY = (SUCCESS, TIME_OVER)
"""Ends of a run that nothing has cut short."""


def wild(robot: Robot, arm: ArmSpec, space: ActionSpace, seed: int) -> FunctionPolicy:
    """Return a policy of random actions at full scale.

    Args:
        robot: The robot.
        arm: The arm.
        space: Space of the actions.
        seed: Seed.
    """
    rng = np.random.default_rng(seed)
    joints = [robot.joints[name] for name in arm.joint_names]
    low, high = np.array([j.lower for j in joints]), np.array([j.upper for j in joints])

    def act(_observation: dict[str, Any]) -> Array:
        hold = int(rng.integers(1, 17))  # a target may stay for a while, so that the arm gets fast and far
        count = 16 // hold + 1
        if space is ActionSpace.JOINT_POSITION:
            rows = rng.uniform(low, high, (count, len(low)))
        elif space is ActionSpace.JOINT_DELTA:
            rows = rng.uniform(-0.2, 0.2, (count, len(low)))
        elif space is ActionSpace.EE_DELTA:
            rows = rng.uniform(-0.1, 0.1, (count, 6))
        else:
            rows = np.column_stack(
                [
                    rng.uniform((-0.8, -0.8, -0.3), (0.8, 0.8, 1.2), (count, 3)),
                    rng.normal(0.0, 2.0, (count, 3)),
                ]
            )
        fingers = rng.uniform(0.0, 0.08, (count, 1))
        return np.repeat(np.column_stack([rows, fingers]), hold, axis=0)[:16]

    return FunctionPolicy(act)


@dataclass(frozen=True)
class Ran:
    """What came of an episode.

    Attributes:
        number: Its number.
        space: Space of its actions.
        steps: Number of commands.
        kinds: Commands that the guard changed, by kind.
        end: End of the run.
        message: Its sentence.
        touched: What the robot touched, with the time, s.
        way: Farthest joint from its start, rad.
    """

    number: int
    space: str
    steps: int
    kinds: dict[str, int]
    end: str
    message: str
    touched: tuple[tuple[str, float], ...]
    way: float


def run(number: int, seconds: float, may_touch: tuple[str, ...]) -> Ran:
    """Run an episode.

    Args:
        number: Its number.
        seconds: Its length, s of the world.
        may_touch: Objects that may be touched.
    """
    robot, scene = load_robot(robot_folder("fr3")), load_scene(scene_file("tabletop"))
    task = read_task_file(Path("config/tasks/tidy_episodes.yaml"))
    task = replace(task, settings=replace(task.settings, settle_s=0.0))
    arm, spaces = next(iter(robot.arms.values())), list(ActionSpace)
    space = spaces[number % len(spaces)]
    settings = PolicySettings(
        until=task.settings.success,
        action_space=space,
        rate_hz=25,
        time_limit=seconds,
        guard=GuardSettings(may_touch=may_touch),
    )
    setup = PolicySetup(task, robot, scene, settings, metadata.version("handiwork_core"))
    made = PolicyEpisode(setup, number, wild(robot, arm, space, number))
    start = made.cell.sim.measured(arm.name)
    found = made.run()
    touched = tuple((event.what, event.time_s) for event in found.events if event.kind == "bumped")
    way = float(np.abs(made.recorder.columns()["joint_position"][:, :7] - start).max())
    return Ran(number, space.value, found.steps, found.guard, found.end, found.message, touched, way)


def main() -> None:
    """Run the episodes, and print what was touched."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of an episode [s of the world]")
    parser.add_argument("--minutes", type=float, default=600.0, help="end after this time")
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    parser.add_argument("--may-touch", nargs="*", default=[])
    options = parser.parse_args()
    begun_s, done = time.monotonic(), list[Ran]()
    work = partial(run, seconds=options.seconds, may_touch=tuple(options.may_touch))
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for ran in pool.imap_unordered(work, range(options.first, options.first + options.episodes)):
            done.append(ran)
            for what, time_s in ran.touched:
                print(f"episode {ran.number} ({ran.space}): {what} at {time_s:.2f} s", flush=True)
            if ran.end not in ORDINARY:
                print(f"episode {ran.number} ({ran.space}): {ran.end}: {ran.message}", flush=True)
            if time.monotonic() - begun_s > 60.0 * options.minutes:
                break
    report(done)
    print(f"{(time.monotonic() - begun_s) / max(len(done), 1):.2f} s an episode, {options.workers} processes")


def report(done: Sequence[Ran]) -> None:
    """Print the table by space of actions.

    Args:
        done: The episodes.
    """
    print("| action space | episodes | commands | changed | touches | stopped by the safety layer | ends |")
    print("|---|---|---|---|---|---|---|")
    for space in (*(one.value for one in ActionSpace), "all"):
        some = [one for one in done if space in (one.space, "all")]
        kinds = sum((Counter(one.kinds) for one in some), Counter[str]())
        ends = dict(Counter(one.end for one in some))
        stopped = sum("safety layer" in one.message for one in some)
        touches, steps = sum(bool(one.touched) for one in some), sum(one.steps for one in some)
        print(f"| {space} | {len(some)} | {steps} | {dict(kinds)} | {touches} | {stopped} | {ends} |")
    bad = sum(bool(one.touched) for one in done)
    low, high = binomtest(bad, len(done)).proportion_ci(method="wilson") if done else (0.0, 1.0)
    print(f"episodes with a touch: {bad} of {len(done)}, 95 % Wilson interval {low:.4f} to {high:.4f}")
    print(
        f"farthest joint from its start, median over episodes: {np.median([one.way for one in done]):.2f} rad"
    )


if __name__ == "__main__":
    main()
