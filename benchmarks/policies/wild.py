"""A wild policy behind the guard: random actions at full scale. What does the robot touch?"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace
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


def main() -> None:
    """Run the episodes, and print what was touched."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of an episode [s of the world]")
    parser.add_argument("--minutes", type=float, default=600.0, help="end after this time")
    parser.add_argument("--may-touch", nargs="*", default=[])
    options = parser.parse_args()
    robot, scene = load_robot(robot_folder("fr3")), load_scene(scene_file("tabletop"))
    task = read_task_file(Path("config/tasks/tidy_episodes.yaml"))
    task = replace(task, settings=replace(task.settings, settle_s=0.0))
    guard = GuardSettings(may_touch=tuple(options.may_touch))
    arm, spaces = next(iter(robot.arms.values())), list(ActionSpace)
    touched, kinds, ended = Counter[str](), Counter[str](), Counter[str]()
    steps, done, begun_s = 0, 0, time.monotonic()
    ways, bad = list[float](), set[int]()
    for number in range(options.first, options.first + options.episodes):
        if time.monotonic() - begun_s > 60.0 * options.minutes:
            break
        space = spaces[number % len(spaces)]
        settings = PolicySettings(
            until=task.settings.success,
            action_space=space,
            rate_hz=25,
            time_limit=options.seconds,
            guard=guard,
        )
        setup = PolicySetup(task, robot, scene, settings, metadata.version("handiwork_core"))
        made = PolicyEpisode(setup, number, wild(robot, arm, space, number))
        start = made.cell.sim.measured(arm.name)
        found = made.run()
        for event in found.events:
            if event.kind == "bumped":
                bad.add(number)
                touched[f"{event.what} ({space.value})"] += 1
                print(f"episode {number}: {event.what} at {event.time_s:.2f} s", flush=True)
        kinds.update(found.guard)
        steps, done = steps + found.steps, done + 1
        ended[found.end] += 1
        if done % 50 == 0:
            print(f"{done} episodes, touched: {dict(touched) or 'nothing'}", flush=True)
        ways.append(float(np.abs(made.recorder.columns()["joint_position"][:, :7] - start).max()))
    print(f"{done} episodes, {steps} commands, changed by kind: {dict(kinds)}")
    low, high = binomtest(len(bad), done).proportion_ci(method="wilson") if done else (0.0, 1.0)
    print(f"ends: {dict(ended)}")
    print(f"episodes with a touch: {len(bad)} of {done}, 95 % Wilson interval {low:.4f} to {high:.4f}")
    print(f"farthest joint from its start, median over episodes: {np.median(ways):.2f} rad")
    print(
        f"touched: {dict(touched) or 'nothing'}; {(time.monotonic() - begun_s) / max(done, 1):.2f} s an episode"
    )


if __name__ == "__main__":
    main()
