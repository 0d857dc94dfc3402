"""``handiwork evaluate``: runs a policy server against task files, without ROS or in the running stack."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from tqdm import tqdm

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_cli.ros.connection import NoServerError, connected
from handiwork_core.config.dataclass_loader import ConfigError, read_yaml
from handiwork_data.dataset.generate import Shard, Sources, read_range
from handiwork_data.episodes.episode import EpisodeError, write_atomically
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.evaluation.compare import compare
from handiwork_data.evaluation.folder import EvaluationAbout, ResultFolder, plain, read_folder, task_name
from handiwork_data.evaluation.on_ray import RayEvaluation
from handiwork_data.evaluation.rows import EpisodeRow
from handiwork_data.evaluation.run import EvaluationOrder, Spread, connect, evaluate, processes
from handiwork_data.evaluation.tables import interval, percent, summary, tables
from handiwork_data.evaluation.task_settings import with_metadata
from handiwork_policy.protocol.errors import PolicyError

from .generate import RAY, ROS, add_places, add_shards, check_places

REPORT = "report.md"
CONNECT_S = 10.0
"""Longest wait for the server's metadata, s, where the settings say no server_timeout."""
MOST_DELAY = 1000


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("evaluate", help="count how often a policy succeeds in tasks")
    parser.add_argument(
        "tasks", type=Path, nargs="*", metavar="TASK.yaml", help="files with the key episodes"
    )
    parser.add_argument("--policy", default="", metavar="ws://HOST:PORT", help="address of the policy server")
    parser.add_argument("--episodes", metavar="N|BEGIN:END", help="of each task; numbers are the seeds")
    parser.add_argument("--out", type=Path, help="folder of the results; what it has is skipped")
    parser.add_argument("--settings", type=Path, help="YAML file: how the policy is run")
    parser.add_argument("--name", default="", help="of the policy; default: as its server says")
    parser.add_argument("--arm", default="", help="default: the robot's only one")
    parser.add_argument(
        "--delay-steps", type=int, default=0, help="steps of the loop from a question to its answer"
    )
    add_places(parser, ROS)
    parser.add_argument("--films", type=int, default=0, metavar="N", help="of failed episodes, for each task")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="two folders of results")
    parser.add_argument("--report", type=Path, metavar="DIR", help="print the tables of a folder of results")
    add_shards(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate, compare, or report.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0 once all episodes of the shard are there, 1 if the server or the folder failed.

    Raises:
        ConfigError: An option, a task, the settings or a folder is wrong.
    """
    if options.compare:
        found = compare(*options.compare)
        print(f"A: {found.a}\nB: {found.b}\n\n{found.table()}\n\n{found.verdict()}")
        return 0
    if options.report:
        folder, _about = read_folder(options.report)
        print(_tables(folder, folder.tasks()))
        return 0
    _check(options)
    try:
        if options.out is not None:
            return _evaluate(options, options.out)
        with tempfile.TemporaryDirectory(prefix="handiwork-evaluate-") as path:
            return _evaluate(options, Path(path))
    except (EpisodeError, PolicyError, NoServerError, OSError) as error:
        print(f"handiwork evaluate: {error}", file=sys.stderr)
        return 1


def _check(options: argparse.Namespace) -> None:
    if not options.tasks:
        raise ConfigError("tasks", ["are missing; give task files, or --compare A B, or --report DIR"])
    for key, why in (("policy", "as in ws://localhost:8000"), ("episodes", "a count, or BEGIN:END")):
        if not getattr(options, key):
            raise ConfigError(key, [f"is missing; give --{key}, {why}"])
    for key, least, most in (("films", 0, 10000), ("delay_steps", 0, MOST_DELAY)):
        if not least <= getattr(options, key) <= most:
            raise ConfigError(key.replace("_", "-"), [f"is {getattr(options, key)}; give {least} to {most}"])
    check_places(options)
    if options.on == ROS:
        _check_ros(options)
    if options.films and options.out is None:
        raise ConfigError("films", ["need a folder; give --out, too"])


def _check_ros(options: argparse.Namespace) -> None:
    """Refuse what the running stack has not."""
    if (options.workers or 1) > 1:
        raise ConfigError("workers", [f"is {options.workers}; a stack runs one episode at a time, give 1"])
    if options.delay_steps:
        text = f"is {options.delay_steps}; a running stack has the delays of its server, leave it out"
        raise ConfigError("delay-steps", [text])
    if options.films:
        text = "need the simulation of this command; leave --films out, and record with 'handiwork record'"
        raise ConfigError("films", [text])


def _evaluate(options: argparse.Namespace, out: Path) -> int:
    order, folder = _order(options, out), ResultFolder(out)
    shard = Shard(options.shard_id, options.num_shards)
    numbers = shard.part(*read_range(options.episodes))
    there = sum(len({*folder.rows(name)} & {*numbers}) for name in order.tasks)
    made, total = list[EpisodeRow](), len(numbers) * len(order.tasks)
    try:
        with (
            _spread(options, is_needed=there < total) as spread,
            tqdm(total=total, initial=there, desc="evaluate", unit="episode", disable=None) as bar,
        ):
            for row in evaluate(order, numbers, shard, spread):
                made.append(row)
                bar.set_postfix_str(f"{percent(summary(made).rate.value)} % success", refresh=False)
                bar.update()
    finally:
        _conclude(folder, list(order.tasks), len(made), there)
    if options.films:
        _films(folder, dict(order.tasks), options.films)
    return 0


@contextmanager
def _spread(options: argparse.Namespace, *, is_needed: bool) -> Iterator[Spread]:
    """Provide where the episodes are run; the running stack is only asked for when it is needed."""
    if options.on == RAY:
        yield RayEvaluation(options.address, options.workers or 0)
    elif options.on == ROS and is_needed:
        with connected() as client:
            from handiwork_cli.ros.stack_evaluation import StackEvaluation
            from handiwork_ros.clients.conditions_client import ConditionsClient

            with ConditionsClient("handiwork_evaluate") as monitor:
                yield StackEvaluation(client, monitor)
    else:
        yield processes(options.workers or 1)


def _order(options: argparse.Namespace, out: Path) -> EvaluationOrder:
    tasks = _tasks(options.tasks)
    given: dict[str, Any] = read_yaml(options.settings) if options.settings else {}
    timeout_s = given.get("server_timeout", CONNECT_S)
    about_policy = connect(options.policy, timeout_s if isinstance(timeout_s, int | float) else CONNECT_S)
    name = options.name or str(about_policy.get("name") or about_policy.get("policy") or "policy")
    about = EvaluationAbout(
        policy=name,
        metadata=about_policy,
        settings=plain(with_metadata(given, about_policy)),
        arm=options.arm,
        delay_steps=options.delay_steps,
        version=metadata.version("handiwork_core"),
        over_ros=options.on == ROS,
    )
    return EvaluationOrder(options.policy, about, tasks, out, options.films > 0)


def _tasks(paths: list[Path]) -> dict[str, Sources]:
    tasks = dict[str, Sources]()
    for path in paths:
        settings, name = read_task_file(path).settings, task_name(path)
        if name in tasks and tasks[name].task.resolve() != path.resolve():
            text = f"{tasks[name].task} and {path} are both called {name}; rename one of them"
            raise ConfigError("tasks", [text])
        tasks[name] = Sources(path, scene_file(settings.scene), robot_folder(settings.robot))
    return tasks


def _conclude(folder: ResultFolder, names: list[str], made: int, there: int) -> None:
    """Print the tables of all that is there, of all shards, and write them beside the results."""
    print(f"{made} episodes run, {there} were there already")
    if not any(folder.rows(name) for name in names):
        return
    text = _tables(folder, names)
    print(f"\n{text}")
    write_atomically(folder.path / REPORT, (text + "\n").encode())


def _tables(folder: ResultFolder, names: list[str]) -> str:
    results = {name: list(folder.rows(name).values()) for name in names}
    results = {name: rows for name, rows in results.items() if rows}
    rate = summary(row for rows in results.values() for row in rows).rate
    said = f"{rate.count} of {rate.total} episodes succeed: {percent(rate.value)} %, 95 % interval {interval(rate)} %"
    return f"{tables(results)}\n\n{said}" if results else "There are no episodes yet."


def _films(folder: ResultFolder, tasks: dict[str, Sources], count: int) -> None:
    from handiwork_cli.evaluation.failure_page import write_failure_page

    page, films = write_failure_page(folder, tasks, count, lambda name: tqdm.write(f"drawing {name}"))
    print(f"\n{films} films of failed episodes: {page}")
