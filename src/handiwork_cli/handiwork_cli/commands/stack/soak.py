"""``handiwork soak``: many randomised episodes, each with a cancel at a random moment."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from handiwork_cli.processes.interrupts import interruptible
from handiwork_cli.processes.memory import MemoryWatch
from handiwork_cli.stack.demo_cells import (
    Target,
    add_backend,
    robot_of,
    stack_arguments,
    target_of,
)
from handiwork_cli.stack.joint_watch import JointWatch
from handiwork_cli.stack.soak_statistics import Failure, Tally, Waits
from handiwork_cli.stack.stack import Stack, StackError
from handiwork_cli.stack.truth_watch import SETTLE_S, TruthWatch
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.thresholds import JOINT_REST

if TYPE_CHECKING:
    from handiwork_msgs.action import Pick, Place

    from handiwork_ros.clients.goal_handle import GoalHandle
    from handiwork_ros.clients.skill_client import SkillReport

STOP_TIMEOUT_S, END_TIMEOUT_S, SKILL_TIMEOUT_S = 5.0, 30.0, 120.0
HEAP_RISES_SHARE = 0.25
"""The share of the run in which the heaps of the processes still rise to their greatest size."""
MOVING_S = 0.1
"""The wait for a motion between two looks at whether the goal has ended, s."""
PLANNING_S, MOTION_S = 1.0, 2.5
"""The wall time for planning and the world time for motion within which a pick is canceled, s."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("soak", help="many randomised episodes; fails below 98 %% success")
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real-time-factor", type=float, default=4.0)
    parser.add_argument("--robot", default="fr3", help="folder in robot_description/robots")
    text = "of a robot with several; given twice, both work at the same time"
    parser.add_argument("--arm", action="append", default=[], help=text)
    parser.add_argument(
        "--cancel-every", type=int, default=1, help="cancel a pick after each N-th episode; 0: never"
    )
    parser.add_argument("--scene", default="", help="default: the robot's table")
    add_backend(parser)
    parser.add_argument("--object", default="", help="default: each arm's cube")
    parser.add_argument("--container", default="", help="default: each arm's bin")
    text = "detections or tags: the stack sees objects by these alone, and true poses judge; tags need --scene tags"
    parser.add_argument("--perception", choices=("none", "detections", "tags"), default="none", help=text)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the episodes and print their statistics.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when enough episodes succeed; 130 when it was ended early by SIGINT or SIGTERM.
    """
    begin_s = time.monotonic()
    try:
        targets = targets_of(options.robot, options.arm, options.object, options.container)
    except (KeyError, ConfigError) as error:
        print(f"handiwork soak: {error.args[0]}", file=sys.stderr)
        return 2
    with interruptible():
        tally = measure(options, targets)
        print("\n".join(tally.lines()))
        print(f"{time.monotonic() - begin_s:.0f} s of wall time", flush=True)
    return tally.exit_code


def targets_of(robot: str, arms: Sequence[str], name: str = "", container: str = "") -> list[Target]:
    """Return the targets of the arms.

    Args:
        robot: Name of the robot.
        arms: Names of the arms; empty for the only arm.
        name: Object for all; empty for each arm's own.
        container: Container for all; empty for each arm's own.

    Raises:
        KeyError: There is no such arm.
    """
    own = [target_of(robot_of(robot), arm) for arm in arms or [""]]
    return [target.chosen(name, container) for target in own]


def measure(options: argparse.Namespace, targets: Sequence[Target]) -> Tally:
    """Run the episodes. A stack that does not start or dies is the failure of that episode.

    A KeyboardInterrupt ends the run early.

    Args:
        options: Parsed command line of ``soak`` or ``soak-all``.
        targets: Object and container of each arm.

    Returns:
        The statistics.
    """
    tally = Tally(wanted=options.episodes)
    arguments = stack_arguments(options.robot, robot_of(options.robot), options.scene)
    arguments["backend"] = options.backend
    arguments["real_time_factor"] = str(options.real_time_factor)
    # The options of soak-all have no perception.
    arguments["perception"] = perception = getattr(options, "perception", "none")
    try:
        with Stack(arguments, write=lambda line: print(line, file=sys.stderr, flush=True)) as stack:
            stack.wait_active()
            watch = JointWatch(stack.client.node)
            truth = TruthWatch(stack.client.node) if perception != "none" else None
            tally.memory = MemoryWatch(
                [spec.label for spec in stack.specs], stack.runner.pid, HEAP_RISES_SHARE
            )
            episodes = range(options.episodes)
            for index in tqdm(episodes, "soak", unit="episode", delay=2.0, disable=None, leave=False):
                failure = _episode(stack, index, options.seed + index, targets, tally, truth)
                tally.episodes += 1
                tally.memory.sample()
                if failure is not None:
                    tally.failures.append(failure)
                if options.cancel_every and index % options.cancel_every == options.cancel_every - 1:
                    _cancel_probe(stack, watch, index, options, targets[0], tally)
                end = f"failed: {failure.text}" if failure else f"ok, {tally.episode_s[-1]:.1f} s"
                tqdm.write(f"episode {index + 1}/{options.episodes} seed {options.seed + index}: {end}")
                sys.stdout.flush()
    except KeyboardInterrupt:
        tally.is_cut_short = True
    except StackError as error:
        print(f"handiwork soak: {error}", file=sys.stderr)
        tally.episodes = max(tally.episodes, len(tally.failures)) + 1
        seed = options.seed + tally.episodes - 1
        tally.failures.append(Failure(tally.episodes - 1, seed, "stack", "STACK", str(error)))
    return tally


def _reset(stack: Stack, seed: int) -> str:
    """Scatter the world by a seed; return the fault, or an empty text."""
    from handiwork_msgs.srv import ResetWorld

    from handiwork_ros.conversions import outcome_from_msg

    answer = stack.call(ResetWorld, "sim/reset", ResetWorld.Request(seed=seed, randomize=True))
    outcome = outcome_from_msg(answer.outcome)
    return "" if outcome.ok else f"{outcome.code.name}: {outcome.message}"


def _episode(
    stack: Stack,
    index: int,
    seed: int,
    targets: Sequence[Target],
    tally: Tally,
    truth: TruthWatch | None = None,
) -> Failure | None:
    """Let every arm pick its object, then place it; the arms run one skill at the same time."""
    if fault := _reset(stack, seed):
        return Failure(index, seed, "reset", "RESET", fault)
    if truth is not None and not truth.wait(SETTLE_S):
        return Failure(index, seed, "reset", "SILENT", "ground_truth/object_states is silent")
    begin_s, failure = time.monotonic(), None
    for skill in ("pick", "place"):
        failure = failure or _work(stack, index, seed, skill, targets, tally)
    for target in targets:
        if failure is not None:
            break
        inside, reason = stack.settled("object_in_container", target.placed, timeout_s=3.0)
        if not inside:
            failure = Failure(index, seed, f"{target.arm} verdict", "NOT_IN_PLACE", reason)
        elif truth is not None and (
            reason := truth.beside(target.object, target.container, target.above_rim_m)
        ):
            failure = Failure(index, seed, f"{target.arm} verdict by true poses", "NOT_IN_PLACE", reason)
    tally.episode_s.append(time.monotonic() - begin_s)
    return failure


def _work(
    stack: Stack, index: int, seed: int, skill: str, targets: Sequence[Target], tally: Tally
) -> Failure | None:
    """Run one skill of every arm at the same time; return the first fault."""
    waits = [Waits(tally) for _ in targets]
    runs = [
        stack.client.send(_goal(skill, target), note) for target, note in zip(targets, waits, strict=True)
    ]
    reports = [run_.result(SKILL_TIMEOUT_S) for run_ in runs]
    for run_, note in zip(runs, waits, strict=True):
        note.end()
        _end(run_)
    tally.planning_s.extend(report.planning_time_s for report in reports)
    for target, report in zip(targets, reports, strict=True):
        if not report.ok:
            return _failure(index, seed, f"{target.arm} {skill}", report)
    return None


def _end(run_: GoalHandle[SkillReport]) -> None:
    """Cancel a goal that still runs, such as that of a server without answer, before the next episode."""
    if not run_.done:
        run_.cancel()
        run_.wait_end(END_TIMEOUT_S)


def _goal(skill: str, target: Target) -> Pick.Goal | Place.Goal:
    from handiwork_msgs.action import Pick, Place

    if skill == "pick":
        return Pick.Goal(object=target.object, arm=target.arm)
    return Place.Goal(object=target.object, container=target.container, arm=target.arm)


def _failure(index: int, seed: int, skill: str, report: SkillReport) -> Failure:
    outcome = report.outcome
    return Failure(index, seed, f"{skill} {outcome.stage}".strip(), outcome.code.name, outcome.message)


def _cancel_probe(
    stack: Stack, watch: JointWatch, index: int, options: argparse.Namespace, target: Target, tally: Tally
) -> None:
    """Cancel a pick at a random moment and measure the time to standstill; a goal that does not end is a failure."""
    from handiwork_msgs.action import Pick

    from handiwork_core.model.outcome import Code

    seed = options.seed + index
    if fault := _reset(stack, seed):
        tally.failures.append(Failure(index, seed, "reset before the cancel probe", "RESET", fault))
        return
    moment_s = float(np.random.default_rng(seed).uniform(0.05, 1.0)) * (PLANNING_S + MOTION_S)
    run_ = stack.client.send(Pick.Goal(object=target.object, arm=target.arm))
    if moment_s < PLANNING_S:
        run_.wait_end(moment_s)
    else:
        while not run_.done and not watch.wait_moving(MOVING_S):
            pass  # a goal that fails moves nothing
        watch.wait_until(watch.now()[1] + moment_s - PLANNING_S, SKILL_TIMEOUT_S)
    if run_.done:
        return
    moving = watch.now()[0] > JOINT_REST
    run_.cancel()
    still = watch.wait_still(STOP_TIMEOUT_S)
    report = run_.result(STOP_TIMEOUT_S)
    if still is None or report.outcome.code not in (Code.CANCELED, Code.OK):
        tally.failures.append(_failure(index, seed, "cancel probe of pick", report))
    elif moving:
        tally.stop_world_s.append(still[0])
        tally.stop_wall_s.append(still[1])
