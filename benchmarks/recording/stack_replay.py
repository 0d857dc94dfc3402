"""Replays of the failures of a running stack: ``python -m benchmarks.recording.stack_replay --count 50``.

A soak over ROS, in scattered scenes, with a fault that is planted by the seed: a cancel, an allowance that is over, an
emergency stop, an object that is moved during the approach or lies out of reach, parameters that contradict each other,
and a place with an empty hand. Each goal that does not succeed leaves a bundle, which is replayed as by
``handiwork replay``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from handiwork_msgs.srv import ResetWorld, SetObjectPose
from std_srvs.srv import Trigger

from handiwork_cli.commands.inspect.bundles import cpu_engine, robot_of
from handiwork_cli.processes.interrupts import interruptible
from handiwork_cli.processes.progress import progress
from handiwork_cli.replay.replay import Replayed, params_types, replay_bundle, skill_of
from handiwork_cli.replay.ros.in_process_planner import planner_of
from handiwork_cli.replay.ros.refusal import check_again
from handiwork_cli.stack.stack import Stack
from handiwork_core.bundles.bundle import read_bundle
from handiwork_core.contracts.planning import Engine
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_ros.clients.skill_goals import skill_goal
from handiwork_ros.conversions import pose_to_msg
from skill_server.params.registry import Catalog, load_catalog
from skill_server.skills import BUILTIN

OBJECT, CONTAINER = "cube", "bin"
FAULTS = ("cancel", "allowance", "stopped", "moved", "far", "tight", "empty_hand")
Failure = tuple[str, str]
"""The planted fault, and the path of the bundle."""


class Planter:
    """Plants one fault into one goal of the stack.

    Args:
        stack: The stack.
        seed: Seed of scene, fault and moment.
    """

    def __init__(self, stack: Stack, seed: int) -> None:
        self._stack, self._rng = stack, np.random.default_rng(seed)
        self._seed, self.fault = seed, str(self._rng.choice(FAULTS))
        self._moving = threading.Event()

    def run(self) -> str:
        """Run the goal.

        Returns:
            Path of the bundle; empty if the goal succeeded all the same.
        """
        self._stack.call(ResetWorld, "sim/reset", ResetWorld.Request(seed=self._seed, randomize=True))
        skill, parameters = "pick", {"object": OBJECT, "recovery": "give_up", "seed": self._seed}
        if self.fault == "far":
            self._put((1.6, 0.3, 0.05))
        elif self.fault == "tight":
            parameters |= {"direction_to_obj": "left", "post_grasp_offset_min": 0.9}
        elif self.fault == "empty_hand":
            skill, parameters = "place", {"object": OBJECT, "container": CONTAINER, "seed": self._seed}
        allowance_s = float(self._rng.uniform(0.3, 2.5)) if self.fault == "allowance" else 0.0
        goal = skill_goal(skill, parameters, "", "", allowance_s)
        handle = self._stack.client.send(goal, self._note)
        if self.fault in ("cancel", "stopped", "moved"):
            self._interfere(handle.cancel)
        report = handle.result()
        if self.fault == "stopped":
            for service in ("safety/reset", "safety/recover"):
                self._stack.call(Trigger, service, Trigger.Request())
        return report.bundle

    def _note(self, seen: Progress) -> None:
        if seen.stage == "approach":
            self._moving.set()

    def _interfere(self, cancel: Callable[[], None]) -> None:
        self._moving.wait(60.0)
        threading.Event().wait(float(self._rng.uniform(0.0, 1.0)))
        if self.fault == "cancel":
            cancel()
        elif self.fault == "stopped":
            self._stack.call(Trigger, "safety/emergency_stop", Trigger.Request())
        else:
            self._put((0.45, float(self._rng.uniform(-0.3, 0.3)), 0.05))

    def _put(self, place: tuple[float, float, float]) -> None:
        request = SetObjectPose.Request(object=OBJECT)
        request.pose.header.frame_id, request.pose.pose = "world", pose_to_msg(Pose.of(place))
        self._stack.call(SetObjectPose, "sim/set_object_pose", request)


def failures(count: int, seed: int, minutes: float) -> list[Failure]:
    """Run goals over a stack until enough have failed, the time is over, or SIGINT or SIGTERM comes.

    Args:
        count: Number of failures.
        seed: Seed of the first goal.
        minutes: Longest time, min.
    """
    found, end_s = list[Failure](), time.monotonic() + 60.0 * minutes
    arguments = {"engine": "cpu", "real_time_factor": "4"}
    with (
        interruptible(),
        suppress(KeyboardInterrupt),
        Stack(arguments, write=lambda line: print(line, file=sys.stderr)) as stack,
    ):
        stack.wait_active()
        for index in progress(range(10 * count), "goals with faults", unit="goals"):
            if len(found) >= count or time.monotonic() > end_s:
                break
            planter = Planter(stack, seed + index)
            if bundle := planter.run():
                found.append((planter.fault, bundle))
    return found


def replayed(path: Path, catalog: Catalog, engines: dict[str, tuple[Robot, Engine]]) -> Replayed:
    """Replay one bundle, as ``handiwork replay`` does.

    Args:
        path: Its file.
        catalog: Known skills.
        engines: Robots and engines that are made already, by robot.
    """
    bundle = read_bundle(path, params_types(catalog))
    if bundle.head.robot not in engines:
        robot = robot_of(bundle, "")
        engines[bundle.head.robot] = robot, cpu_engine(robot, Pose.identity())
    robot, engine = engines[bundle.head.robot]
    if bundle.was_refused:
        return check_again(bundle, catalog, robot)
    planner = planner_of(bundle, robot, lambda *_: engine)
    return replay_bundle(bundle, skill_of(bundle, catalog), robot, planner)


def main() -> int:
    """Print the figures.

    Returns:
        Exit code, 0 exactly when each failure was repeated.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="longest time of the soak")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HANDIWORK_STATE_DIR"] = folder
        found = failures(options.count, options.seed, options.minutes)
        catalog, engines = load_catalog(BUILTIN), dict[str, tuple[Robot, Engine]]()
        rows = []
        for fault, name in progress(found, "replays", unit="replays"):
            rows.append((fault, replayed(Path(name), catalog, engines)))
        for _, engine in engines.values():
            engine.close()
    return report(rows)


def report(rows: list[tuple[str, Replayed]]) -> int:
    """Print how many failures were repeated.

    Args:
        rows: Fault and replay of each.

    Returns:
        Exit code.
    """
    same = sum(again.is_same for _, again in rows)
    print(f"{same} of {len(rows)} failures of a running stack reach the same code and stage again")
    for text, number in Counter(
        f"{again.recorded.code.name} ({fault})" for fault, again in rows
    ).most_common():
        print(f"  {number:>3} {text}")
    for fault, again in rows:
        if not again.is_same:
            print(f"  other: {fault}: {again.recorded} became {again.outcome} {again.notes}")
    counts = [again.comparison for _, again in rows]
    words = ("identical", "same", "repeated")
    print("planner's answers:", ", ".join(f"{sum(getattr(c, w) for c in counts)} {w}" for w in words), end="")
    print(f", {sum(len(c.other) for c in counts)} with another code; load {os.getloadavg()[0]:.0f}")
    return 0 if rows and same == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
