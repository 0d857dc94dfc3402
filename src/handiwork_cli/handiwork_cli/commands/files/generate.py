"""Commands for episodes without ROS: ``generate``, ``merge`` and ``replay-actions``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import DatasetFolder, Row
from handiwork_data.dataset.generate import (
    Shard,
    Sources,
    Spread,
    check_same,
    generate,
    make_setup,
    processes,
    read_range,
)
from handiwork_data.dataset.merge import merge
from handiwork_data.dataset.on_ray import RayRun
from handiwork_data.episodes.action_replay import replay_actions
from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.episodes.settings import read_task_file

HERE, RAY, ROS = "here", "ray", "ros"
MOST_WORKERS = 1024
CAUSES = 5
"""The number of causes of failure that the summary lists."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("generate", help="make recorded episodes of a task, without ROS")
    parser.add_argument("task", type=Path, help="task file with the key episodes")
    parser.add_argument(
        "--episodes", required=True, metavar="BEGIN:END", help="their numbers, which are the seeds"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder; what it holds already is skipped")
    add_places(parser)
    add_shards(parser)
    parser.set_defaults(run=run_generate)
    parser = commands.add_parser("merge", help="join folders of episodes into one, without doubles")
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.set_defaults(run=run_merge)
    parser = commands.add_parser(
        "replay-actions", help="play the commands of recorded episodes open loop: which still succeed?"
    )
    parser.add_argument("folder")
    parser.add_argument("--episodes", metavar="BEGIN:END", help="default: all that succeeded")
    parser.add_argument("--least", type=float, default=99.0, help="exit with 1 if fewer succeed [%%]")
    parser.set_defaults(run=run_replay)


def add_places(parser: argparse.ArgumentParser, *further: str) -> None:
    """Declare the options for where episodes are run.

    Args:
        parser: Parser of the command.
        further: Places beside this machine and Ray.
    """
    parser.add_argument("--workers", type=int, help="processes; default: 1, on Ray one for each core")
    parser.add_argument(
        "--on", choices=(HERE, RAY, *further), default=HERE, help="where the episodes are run"
    )
    parser.add_argument("--address", default="", help="of the Ray cluster; default: one on this machine")


def check_places(options: argparse.Namespace) -> None:
    """Check the options of ``add_places``.

    Args:
        options: Parsed command line.

    Raises:
        ConfigError: One of them is wrong.
    """
    if options.workers is not None and not 1 <= options.workers <= MOST_WORKERS:
        raise ConfigError("workers", [f"is {options.workers}; give 1 to {MOST_WORKERS}"])
    if options.address and options.on != RAY:
        raise ConfigError("address", [f"is {options.address!r}, which only Ray has; add --on ray"])


def add_shards(parser: argparse.ArgumentParser) -> None:
    """Declare the options for one of several equal parts.

    Args:
        parser: Parser of the command.
    """
    parser.add_argument(
        "--shard-id", type=int, default=0, help="part of the episodes that this run makes, from 0"
    )
    parser.add_argument("--num-shards", type=int, default=1)


def run_generate(options: argparse.Namespace) -> int:
    """Generate what is missing, and print yield and causes of failure.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0 once all episodes of the shard are there, 1 if the folder could not be written.

    Raises:
        ConfigError: The task, the range or the folder is wrong.
    """
    check_places(options)
    sources = _sources(options.task)
    shard, folder = Shard(options.shard_id, options.num_shards), DatasetFolder(options.out)
    numbers = shard.part(*read_range(options.episodes))
    there = sum(folder.has(one) for one in numbers)
    begun_s, made = time.monotonic(), list[Row]()
    bar = tqdm(total=len(numbers), initial=there, desc="generate", unit="episode", disable=None)
    try:
        with bar:
            for row in generate(sources, folder, numbers, shard, _spread(options)):
                made.append(row)
                bar.set_postfix_str(_yield(made), refresh=False)
                bar.update()
    except EpisodeError as error:
        print(f"handiwork generate: {error}", file=sys.stderr)
        return 1
    finally:
        print(_summary(made, there, time.monotonic() - begun_s))
    return 0


def _spread(options: argparse.Namespace) -> Spread:
    return (
        RayRun(options.address, options.workers or 0)
        if options.on == RAY
        else processes(options.workers or 1)
    )


def _yield(rows: list[Row]) -> str:
    good = sum(row.success for row in rows)
    return f"{100.0 * good / len(rows):.1f} % success"


def _summary(rows: list[Row], there: int, spent_s: float) -> str:
    lines = [f"{len(rows)} episodes made, {there} were there already"]
    if rows:
        good = sum(row.success for row in rows)
        worked_s = sum(row.wall_s for row in rows)
        lines.append(
            f"success: {good} of {len(rows)} ({_yield(rows)}); {worked_s / len(rows):.2f} s an episode and process, "
            f"{3600.0 * good / spent_s:.0f} successful episodes an hour with the start"
        )
    causes = Counter(_cause(row) for row in rows if not row.success)
    lines += [f"  {count:>6}  {cause}" for cause, count in causes.most_common(CAUSES)]
    return "\n".join(lines)


def _cause(row: Row) -> str:
    if row.code == "OK":
        return "all skills succeeded, but the success condition is not TRUE at rest"
    return f"{row.code} in stage {row.failed_stage!r}"


def run_merge(options: argparse.Namespace) -> int:
    """Join folders.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0, or 1 where an episode is damaged or differs; nothing was written then.

    Raises:
        ConfigError: The folders do not belong together.
    """
    folders = [DatasetFolder(path) for path in options.folders]
    total = sum(len(one.episodes()) for one in folders)
    try:
        with tqdm(total=total, desc="merge", unit="episode", delay=2.0, disable=None) as bar:
            done = merge(DatasetFolder(options.out), folders, bar.update)
    except EpisodeError as error:
        print(f"handiwork merge: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {done.added} episodes added, {done.doubles} were there already")
    return 0


def run_replay(options: argparse.Namespace) -> int:
    """Play the commands of the successful episodes of a folder, and print how many still succeed.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0, or 1 where fewer succeed than ``--least``, or an episode is damaged.

    Raises:
        ConfigError: The folder is no data set, or was made by other files or another version.
    """
    folder, sources = sources_of(options.folder)
    check_same(folder, sources)
    wanted = range(*read_range(options.episodes)) if options.episodes else folder.episodes()
    setup, played, good, errors = make_setup(sources), 0, 0, list[float]()
    try:
        for number in tqdm(wanted, "replay-actions", unit="episode", delay=2.0, disable=None):
            episode = folder.read(number)
            if not episode.meta.success:
                continue
            found = replay_actions(setup, episode)
            played, good = played + 1, good + found.success
            errors.append(found.object_error_m)
            if not found.success:
                tqdm.write(f"episode {number}: {found.verdict}")
    except EpisodeError as error:
        print(f"handiwork replay-actions: {error}", file=sys.stderr)
        return 1
    share = 100.0 * good / played if played else 0.0
    print(f"{good} of {played} successful episodes succeed again ({share:.1f} %)")
    if errors:
        print(f"objects end within {1000.0 * max(errors):.1f} mm of the recording")
    return 0 if played and share >= options.least else 1


def sources_of(path: str) -> tuple[DatasetFolder, Sources]:
    """Return a data set and the files that it was made from.

    Args:
        path: The folder.

    Raises:
        ConfigError: It is no data set, or its files are not there any more.
    """
    folder = DatasetFolder(Path(path))
    if folder.about() is None:
        raise ConfigError(path, ["is no data set; give a folder that `handiwork generate` wrote"])
    return folder, _sources(folder.task_file)


def _sources(task: Path) -> Sources:
    settings = read_task_file(task).settings
    return Sources(task, scene_file(settings.scene), robot_folder(settings.robot))
