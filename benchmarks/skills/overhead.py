"""Time from a skill's accepted goal to its first command, without planning: ``python -m benchmarks.skills.overhead``.

Both ends are the first messages about a goal on a status topic, of ``run_skill`` and of the controller, as received in
this process. ``--compare`` shows what ``handiwork record`` adds to it, and to the processor time of skill_server for
whole goals, from the request to the result, which depends less on how busy the machine is. ``--in-process`` measures
the flight recorder alone, in processor time.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from action_msgs.msg import GoalStatusArray
from rclpy.qos import QoSProfile, qos_profile_action_status_default

from benchmarks.processor_time import processor_s
from handiwork_cli.processes.progress import progress
from handiwork_cli.stack.stack import Stack
from handiwork_core.bundles.folder import BundleFolder
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, fakes
from handiwork_core.testing.gantry import gantry
from skill_server.execution.run import run_skill
from skill_server.flight.recorder import FlightRecorder
from skill_server.skills.pick_place.pick import Pick, PickParams

SKILL = "run_skill"
CONTROLLERS = {
    "gripper": "fr3_gripper_controller/gripper_cmd",
    "arm": "fr3_arm_controller/follow_joint_trajectory",
}
OBJECTS = 10
"""Objects in the world of ``--in-process``."""
WAIT_S = 1.0
"""Longest wait for a status that is late after a result, s."""
BLOCK = 10
"""Goals of each kind before the recorder is started or ended."""
FOUND_S = 5.0
"""Time in which a recorder that starts finds all topics, s."""


class News:
    """The time of the first status of each action's goals, s of steady time."""

    def __init__(self, stack: Stack) -> None:
        self._changed = threading.Condition()
        self._seen: dict[str, set[bytes]] = {name: set() for name in (SKILL, *CONTROLLERS)}
        self._at_s: dict[str, list[float]] = {name: [] for name in self._seen}
        qos: QoSProfile = qos_profile_action_status_default
        for name in self._seen:
            topic = f"{CONTROLLERS.get(name, name)}/_action/status"
            stack.client.node.create_subscription(
                GoalStatusArray, topic, lambda message, name=name: self._take(name, message), qos
            )

    def _take(self, name: str, message: GoalStatusArray) -> None:
        now_s = time.monotonic()
        with self._changed:
            for status in message.status_list:
                key = bytes(status.goal_info.goal_id.uuid)
                if key not in self._seen[name]:
                    self._seen[name].add(key)
                    self._at_s[name].append(now_s)
            self._changed.notify_all()

    def count(self, name: str) -> int:
        """Return the number of goals so far.

        Args:
            name: Name of the action.
        """
        with self._changed:
            return len(self._at_s[name])

    def at_s(self, name: str, index: int) -> float:
        """Wait for a goal and return the time of its first status, s of steady time.

        Args:
            name: Name of the action.
            index: Number of the goal.

        Raises:
            TimeoutError: there was no such goal in time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._at_s[name]) > index, WAIT_S):
                raise TimeoutError(f"{name}: no status of goal {index} within {WAIT_S} s")
            return self._at_s[name][index]


def overhead_s(stack: Stack, news: News, skill: str, parameters: dict[str, object], first: str) -> float:
    """Run a skill, and return the time from its acceptance to the first command, without that of planning, s.

    Args:
        stack: The stack.
        news: The status messages.
        skill: Name of the skill.
        parameters: Its parameters.
        first: Name of the controller that gets the first command.

    Raises:
        RuntimeError: the skill failed.
    """
    ours, theirs = news.count(SKILL), news.count(first)
    report = stack.client.run(skill, parameters)
    if not report.outcome.ok:
        raise RuntimeError(f"{skill} ended {report.outcome.code.name}: {report.outcome.message}")
    return news.at_s(first, theirs) - news.at_s(SKILL, ours) - report.planning_time_s


KINDS: dict[str, Callable[[int], tuple[str, dict[str, object]]]] = {
    "gripper": lambda i: (
        "gripper_action",
        {"gripper_state": 1, "width": 0.07 + 0.01 * (i % 2), "wait_steps": 0},
    ),
    "arm": lambda i: ("joint_ctrl", {"ctrl_list": [[6, 0.05 if i % 2 else -0.05, "delta"]]}),
}


def compare(runs: int, folder: str) -> None:
    """Print what ``handiwork record`` adds: in one stack, with and without it in blocks of goals by turns.

    A second stack for comparison would make more load on a small machine than what is measured. The flight recorder,
    which is part of skill_server, stays on; ``--in-process`` measures it.

    Args:
        runs: Goals of each kind with the recorder, and as many without.
        folder: Folder of the recordings.
    """
    with Stack({"engine": "cpu"}, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        news = News(stack)
        overhead_s(stack, news, *KINDS["gripper"](1), "gripper")
        pid = stack.client.signs.pid("skill_server") or 0
        blocks = -(-runs // BLOCK)
        rows, used = ({first: np.zeros((blocks * BLOCK, 2)) for first in KINDS} for _ in range(2))
        for block in progress(range(blocks), "blocks", unit="blocks"):
            for is_on in (block % 2, 1 - block % 2):
                with recorder(Path(folder) / str(block)) if is_on else nullcontext():
                    for first, kind in KINDS.items():
                        for i in range(block * BLOCK, (block + 1) * BLOCK):
                            before_s = processor_s(pid)
                            rows[first][i, is_on] = 1e3 * overhead_s(stack, news, *kind(i), first)
                            used[first][i, is_on] = 1e3 * (processor_s(pid) - before_s)
        for first, kind in KINDS.items():
            _print_difference(kind(0)[0], rows[first])
            _print_difference("  processor time", used[first])


@contextmanager
def recorder(folder: Path) -> Iterator[None]:
    """Record all topics of the stack of this process's domain.

    Args:
        folder: Folder of the recording, which is made.

    Yields:
        Nothing, once the recorder has found the topics.
    """
    command = [str(Path(sys.executable).parent / "handiwork"), "record", str(folder), "--keep-free-mb", "0"]
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        threading.Event().wait(FOUND_S)
        yield
    finally:
        program.send_signal(signal.SIGINT)
        program.wait()


def _print_difference(name: str, rows: Array) -> None:
    """Print both medians and their difference with its 95 % interval by resampling, ms."""
    rng = np.random.default_rng(0)
    drawn = rows[rng.integers(0, len(rows), (2000, len(rows)))]
    low, high = np.percentile(np.diff(np.median(drawn, axis=1), axis=1), [2.5, 97.5])
    off, on = np.median(rows, axis=0)
    text = f"p50 {off:.1f} ms off, {on:.1f} ms on, difference {on - off:+.1f} ms ({low:+.1f} to {high:+.1f})"
    print(f"{name:<16} {text}, {len(rows)} goals each, load {os.getloadavg()[0]:.0f}", flush=True)


def flight_recorder_cost(runs: int, folder: str) -> None:
    """Print the processor time of a pick's thread until its first command, without and with the flight recorder.

    The ports answer at once, so that nothing else is in it. Each look makes a new snapshot, which ROS does not need.
    Unlike the time on the clock, that of the thread does not depend on how busy the machine is.

    Args:
        runs: Picks of each kind, by turns.
        folder: Folder of the bundles.
    """
    recorder = FlightRecorder(gantry(), "", BundleFolder(Path(folder)))
    rows = np.zeros((runs, 2))
    for i in range(-1, runs):  # the first pair warms up
        for is_on in (i % 2, 1 - i % 2):
            rows[i, is_on] = 1e3 * _time_to_first_command_s(recorder if is_on else None)
    recorder.close()
    _print_difference("pick, thread", rows)


def _time_to_first_command_s(recorder: FlightRecorder | None) -> float:
    """Return the processor time of this thread until the first command of a pick, s."""
    shape = Shape(ShapeKind.BOX, np.full(3, 0.04), Pose.identity())
    poses = {f"box_{i}": Pose.of((0.4, 0.1 * i - 0.5, 0.02)) for i in range(OBJECTS)}
    cell = Cell({name: WorldObject(name, (shape,)) for name in poses}, poses, {"box_5": 0.04})
    made, params, spent_s = fakes(cell), PickParams(object="box_5"), list[float]()

    def note(call: str) -> None:
        if call in ("gripper.move", "arm.follow") and not spent_s:
            spent_s.append(time.thread_time())
            made.context.token.set(Code.CANCELED)

    cell.before = note
    begun_s = time.thread_time()
    if recorder is not None:
        recorder.begin(params, made.context)
    run_skill(Pick(), params, made.context)
    return spent_s[0] - begun_s


def main() -> None:
    """Print one row for each kind of command."""
    parser = argparse.ArgumentParser(description=__doc__)
    text = "with handiwork record against without it, in blocks of goals by turns"
    parser.add_argument("--compare", action="store_true", help=text)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--no-flight-recorder", action="store_true", help="turn the flight recorder off")
    parser.add_argument("--record", default="", metavar="FOLDER", help="record all topics meanwhile")
    text = "processor time of the flight recorder until the first command, without ROS"
    parser.add_argument("--in-process", action="store_true", help=text)
    options = parser.parse_args()
    if options.in_process:
        with tempfile.TemporaryDirectory() as folder:
            flight_recorder_cost(options.runs, folder)
        return
    if options.compare:
        with tempfile.TemporaryDirectory() as folder:
            compare(options.runs, options.record or f"{folder}/recording")
        return
    arguments = {"engine": "cpu", "flight_recorder": str(not options.no_flight_recorder).lower()}
    if options.record:
        arguments |= {"record": "true", "record_dir": options.record}
    with Stack(arguments, write=lambda line: print(line, file=sys.stderr)) as stack:
        stack.wait_active()
        news = News(stack)
        overhead_s(stack, news, *KINDS["gripper"](1), "gripper")
        print(
            f"{'accepted to first command [ms]':<34}{'p50':>8}{'p95':>8}{'p99':>8}{'greatest':>10}{'runs':>6}"
        )
        for first, kind in KINDS.items():
            spent = 1e3 * np.array([overhead_s(stack, news, *kind(i), first) for i in range(options.runs)])
            low, high, top = np.percentile(spent, [50, 95, 99])
            print(
                f"{kind(0)[0]:<34}{low:>8.1f}{high:>8.1f}{top:>8.1f}{spent.max():>10.1f}{len(spent):>6}",
                flush=True,
            )


if __name__ == "__main__":
    main()
