"""``handiwork task check FILE``, ``handiwork task run FILE`` and ``handiwork task export FILE``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from handiwork_cli.ros.connection import connected
from handiwork_cli.stack.skill_output import print_preview
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import Code

from .run_skill import add_plan_option, add_time_options

if TYPE_CHECKING:
    from handiwork_ros.actions.task_report import TaskFeedback, TaskReport
    from handiwork_ros.clients.skill_client import SkillClient
    from skill_server.task.model import Task
    from skill_server.task.reading.entries import Site

ANSWER_S = 20.0
WAITING = "waiting for "
"""The first words of the feedback of an arm that waits for another one."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("task", help="check, run or export a task file")
    verbs = parser.add_subparsers(dest="verb", required=True)
    check = verbs.add_parser("check", help="list every fault of a task file; needs no running stack")
    check.set_defaults(run=run_check)
    export = verbs.add_parser("export", help="write a task file as a tree of BehaviorTree.CPP 4, in XML")
    export.add_argument("--output", type=Path, help="file to write; default: print it")
    export.set_defaults(run=run_export)
    for one in (check, export):
        _add_site_options(one)
    run = verbs.add_parser("run", help="run a task file, in a running stack")
    run.add_argument(
        "--from",
        dest="resume_from",
        default="",
        help='step to begin at, "<group>.<step>" from 1, as "1.2[cube].1" within control flow; '
        'or "<arm>=<group>.<step>.<skill>", with commas between arms',
    )
    run.add_argument("--seed", type=int, help="replaces the seed in the file")
    run.add_argument(
        "--reset", action="store_true", help="first scatter the simulated scene by the task's seed"
    )
    add_plan_option(run)
    add_time_options(run, timeout_s=3600.0)
    run.set_defaults(run=run_task)
    for one in (check, run, export):
        one.add_argument("file", type=Path)


def _add_site_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--robot", default="fr3", help="name or folder of a robot")
    parser.add_argument("--scene", help="name or file of a scene, to check objects and the robot's place")
    parser.add_argument("--conditions", type=Path, help="file of named conditions; default: the stack's")


def run_check(options: argparse.Namespace) -> int:
    """Check a task file, and print every fault.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when there is no fault.

    Raises:
        ConfigError: The robot or the scene cannot be read.
    """
    task = _read(options)
    if task is None:
        return 1
    for note in task.notes:
        print(f"{options.file}: note: {note}")
    print(f"{options.file}: good: {len(task.steps)} steps, {len(task.entries)} skills, seed {task.seed}")
    from skill_server.task.budget import budget_of

    least, most = budget_of(*task.steps)
    if (least, most) != (len(task.entries), len(task.entries)):
        print(f"{options.file}: runs {least} to {most} skills, as its loops and conditions decide")
    return 0


def run_export(options: argparse.Namespace) -> int:
    """Write a task file as a tree of BehaviorTree.CPP, and print every part that such a tree cannot express.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the tree was written.

    Raises:
        ConfigError: The robot or the scene cannot be read, or the tree cannot be written.
    """
    from skill_server.task.behavior_tree import behavior_tree_xml

    from .task_site import site_of

    site = site_of(options)
    task = _read(options, site)
    if task is None:
        return 1
    try:
        text = behavior_tree_xml(task, str(options.file), site.robot)
    except ConfigError as error:
        return _print_faults(error)
    if options.output is None:
        print(text, end="")
        return 0
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        fault = f"cannot be written: {error.strerror}; choose another file"
        raise ConfigError(str(options.output), [fault]) from error
    return 0


def _read(options: argparse.Namespace, site: Site | None = None) -> Task | None:
    """Return the task of a file; None where it has faults, which are printed."""
    from skill_server.task.reading.read import read_task

    from .task_site import site_of

    try:
        return read_task(_text(options.file), str(options.file), site or site_of(options))
    except ConfigError as error:
        _print_faults(error)
        return None


def _print_faults(error: ConfigError) -> int:
    for fault in error.faults:
        print(f"{error.source}: {fault}")
    return 1


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
            plan_only=options.plan_only,
            time_allowance_s=options.time_allowance,
            on_feedback=_Lines(),
            timeout_s=options.timeout,
        )
    return _print_report(report)


class _Lines:
    """Prints each skill when it begins, and the reason when it waits. Arms at work alternate line by line."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, str, str, float]] = {}
        self._asked: dict[str, tuple[str, str]] = {}

    def __call__(self, feedback: TaskFeedback) -> None:
        progress = feedback.progress
        waits = progress.stage if progress.stage.startswith(WAITING) else ""
        step, skill, waited, fraction = self._last.get(feedback.arm, ("", "", "", 0.0))
        if not feedback.skill:
            self._show_control(feedback)
            return
        begins = (feedback.step, feedback.skill) != (step, skill) or progress.fraction < fraction
        self._last[feedback.arm] = (feedback.step, feedback.skill, waits, progress.fraction)
        if begins or (waits and waits != waited):
            most = "at most " if feedback.count_is_bound else ""
            words = f"is {waits}" if waits else f"({feedback.done} of {most}{feedback.count} done)"
            where = f"step {feedback.step:<7} {feedback.arm:<12}{feedback.skill}"
            print(f"{where} {words}", flush=True)

    def _show_control(self, feedback: TaskFeedback) -> None:
        """Print what a control node asks or waits for, each once."""
        asked = (feedback.step, feedback.progress.stage)
        if self._asked.get(feedback.arm) != asked:
            self._asked[feedback.arm] = asked
            print(f"step {feedback.step:<7} {feedback.arm:<12}{feedback.progress.stage}", flush=True)


def _print_report(report: TaskReport) -> int:
    for fault in report.faults:
        print(fault)
    width = max((len(entry.step) for entry in report.entries), default=0) + 4
    if report.entries:
        print(f"\n{'step':<{width}}{'arm':<12}{'skill':<18}{'duration':>10}  result")
    for entry in report.entries:
        how = entry.report.outcome
        code = "" if how.code in (Code.OK, Code.UNSET) else how.code.name
        words = f"{entry.state.name.lower()} {code} {how.message}".rstrip()
        if report.plan is not None and how.ok:
            words = how.message  # nothing has succeeded yet: it was previewed
        print(
            f"{entry.step:<{width}}{entry.arm:<12}{entry.skill:<18}{entry.report.duration_s:>8.2f} s  {words}"
        )
    print_preview(report.plan)
    print(f"task: {report.outcome.code.name} {report.outcome.message}".rstrip())
    if report.resume_from:
        print(f"continue with --from {shlex.quote(report.resume_from)} --seed {report.seed}")
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
