"""``handiwork task check FILE`` and ``handiwork task run FILE``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, load_scene

from .connection import connected
from .run_skill import add_time_options

if TYPE_CHECKING:
    from handiwork_ros.actions.task_report import TaskFeedback, TaskReport
    from handiwork_ros.clients.skill_client import SkillClient

ANSWER_S = 20.0
WAITING = "waiting for "
"""The first words of the feedback of an arm that waits for another one."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare both commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("task", help="check or run a task file")
    verbs = parser.add_subparsers(dest="verb", required=True)
    check = verbs.add_parser("check", help="list every fault of a task file; needs no running stack")
    check.add_argument("--robot", default="fr3", help="name or folder of a robot")
    check.add_argument("--scene", help="name or file of a scene, to check objects and the robot's place")
    check.set_defaults(run=run_check)
    run = verbs.add_parser("run", help="run a task file, in a running stack")
    run.add_argument(
        "--from",
        dest="resume_from",
        default="",
        help='step to begin at, "<group>.<step>" from 1; or "<arm>=<group>.<step>.<skill>", with commas between arms',
    )
    run.add_argument("--seed", type=int, help="replaces the seed in the file")
    run.add_argument(
        "--reset", action="store_true", help="first scatter the simulated scene by the task's seed"
    )
    add_time_options(run, timeout_s=3600.0)
    run.set_defaults(run=run_task)
    for one in (check, run):
        one.add_argument("file", type=Path)


def run_check(options: argparse.Namespace) -> int:
    """Check a task file, and print every fault.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when there is no fault.

    Raises:
        ConfigError: The robot or the scene cannot be read.
    """
    from skill_server.params.registry import load_catalog
    from skill_server.skills import BUILTIN
    from skill_server.task.reading.entries import Site
    from skill_server.task.reading.read import read_task

    robot = load_robot(robot_folder(options.robot))
    scene = load_scene(scene_file(options.scene)) if options.scene else None
    catalog = load_catalog(BUILTIN)
    for name, why in catalog.broken.items():
        print(f"skill {name!r} could not be loaded: {why}", file=sys.stderr)
    try:
        site = Site(catalog, robot, _world_of(scene), scene.world_T_base) if scene else Site(catalog, robot)
        task = read_task(_text(options.file), str(options.file), site)
    except ConfigError as error:
        for fault in error.faults:
            print(f"{error.source}: {fault}")
        return 1
    for note in task.notes:
        print(f"{options.file}: note: {note}")
    print(f"{options.file}: good: {len(task.steps)} steps, {len(task.entries)} skills, seed {task.seed}")
    return 0


def run_task(options: argparse.Namespace) -> int:
    """Run a task file, and print its skills.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when every skill succeeded.

    Raises:
        ConfigError: The file cannot be read.
        NoServerError: No server accepts goals.
    """
    text = _text(options.file)
    with connected() as client:
        source, seed = str(options.file), options.seed
        if options.reset:
            checked = client.run_task(text, source=source, seed=seed, check_only=True)
            if not checked.ok or not _reset(client, checked.seed):
                return _print_report(checked)
        report = client.run_task(
            text,
            source=source,
            resume_from=options.resume_from,
            seed=seed,
            time_allowance_s=options.time_allowance,
            on_feedback=_Lines(),
            timeout_s=options.timeout,
        )
    return _print_report(report)


class _Lines:
    """Prints each skill when it begins, and the reason when it waits. Arms at work alternate line by line."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, str, str, float]] = {}

    def __call__(self, feedback: TaskFeedback) -> None:
        progress = feedback.progress
        waits = progress.stage if progress.stage.startswith(WAITING) else ""
        step, skill, waited, fraction = self._last.get(feedback.arm, ("", "", "", 0.0))
        begins = (feedback.step, feedback.skill) != (step, skill) or progress.fraction < fraction
        self._last[feedback.arm] = (feedback.step, feedback.skill, waits, progress.fraction)
        if feedback.skill and (begins or (waits and waits != waited)):
            words = f"is {waits}" if waits else f"({feedback.done} of {feedback.count} done)"
            where = f"step {feedback.step}  {feedback.arm:<12}{feedback.skill}"
            print(f"{where} {words}", flush=True)


def _print_report(report: TaskReport) -> int:
    for fault in report.faults:
        print(fault)
    if report.entries:
        print(f"\n{'step':<7}{'arm':<12}{'skill':<18}{'duration':>10}  result")
    for entry in report.entries:
        how = entry.report.outcome
        code = "" if how.code in (Code.OK, Code.UNSET) else how.code.name
        words = f"{entry.state.name.lower()} {code} {how.message}".rstrip()
        print(f"{entry.step:<7}{entry.arm:<12}{entry.skill:<18}{entry.report.duration_s:>8.2f} s  {words}")
    print(f"task: {report.outcome.code.name} {report.outcome.message}".rstrip())
    if report.resume_from:
        print(f"continue with --from {report.resume_from} --seed {report.seed}")
    return 0 if report.ok else 1


def _text(path: Path) -> str:
    """Return the text of a task file with the robot files that it names."""
    from skill_server.task.reading.robot_files import with_robot_files

    try:
        return with_robot_files(path.read_text(encoding="utf-8"), path)
    except OSError as error:
        raise ConfigError(str(path), [f"cannot be read: {error.strerror}; check the path"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), [f"byte {error.start}: is no UTF-8; save it as UTF-8 text"]) from error


def _world_of(declared: Scene) -> World:
    zero = np.zeros(3)
    bodies = {item.name: item.body for item in declared.objects}
    states = {item.name: ObjectState(item.world_T_object, zero, zero, 0.0) for item in declared.objects}
    return World(0.0, 1, bodies, states)


def _reset(client: SkillClient, seed: int) -> bool:
    from handiwork_msgs.srv import ResetWorld

    from handiwork_cli.ros.service_question import ask
    from handiwork_ros.conversions import outcome_from_msg

    answer = ask(
        client.node, ResetWorld, "sim/reset", ResetWorld.Request(seed=seed, randomize=True), ANSWER_S
    )
    outcome = None if answer is None else outcome_from_msg(answer.outcome)
    if outcome is None or not outcome.ok:
        why = "no answer; start a simulation" if outcome is None else outcome.message
        print(f"handiwork task: sim/reset: {why}", file=sys.stderr)
        return False
    return True
