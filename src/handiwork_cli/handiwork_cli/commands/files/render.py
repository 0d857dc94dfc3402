"""``handiwork render``: pictures of recorded states."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tqdm import tqdm

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import Shard, read_range
from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.rendering.image_folder import OUTPUTS
from handiwork_data.rendering.render import RenderOrder, RenderRow, render
from handiwork_data.rendering.sheet import check_sheet, draw_sheet

from .generate import add_shards, sources_of


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("render", help="draw the recorded states of episodes with any cameras")
    parser.add_argument("folder", help="folder of `handiwork generate`")
    parser.add_argument(
        "--cameras",
        required=True,
        help="YAML file with the key cameras, or names of cameras of robot and scene, with commas between them",
    )
    parser.add_argument("--outputs", default="color", help=f"some of {','.join(OUTPUTS)}")
    parser.add_argument("--name", default="main", help="of these pictures: a data set can have several")
    parser.add_argument("--seed", type=int, default=0, help="of the looks")
    parser.add_argument("--episodes", metavar="BEGIN:END", help="default: all that are there")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    text = "instead draw one picture of some random episodes, framed by their verdicts: .png, .jpg or .webp"
    parser.add_argument("--sheet", metavar="FILE", help=text)
    parser.add_argument("--count", type=int, default=20, help="episodes on the sheet")
    add_shards(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw what has no pictures yet.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0, or 1 where an episode is damaged or the folder could not be written.

    Raises:
        ConfigError: Cameras, outputs, the range or the folder are wrong.
    """
    if options.workers < 1:
        raise ConfigError("workers", [f"is {options.workers}; give 1 or more"])
    if options.seed < 0:
        raise ConfigError("seed", [f"is {options.seed}; give 0 or more"])
    outputs = tuple(dict.fromkeys(options.outputs.split(",")))
    if unknown := [one for one in outputs if one not in OUTPUTS]:
        raise ConfigError("outputs", [f"has {unknown[0]!r}; give some of {', '.join(OUTPUTS)}"])
    folder, sources = sources_of(options.folder)
    order = RenderOrder(sources, folder, options.name, options.cameras, outputs, options.seed)
    numbers, shard = _numbers(folder, options), Shard(options.shard_id, options.num_shards)
    if options.sheet:
        return _draw_sheet(order, numbers, Path(options.sheet), options.count)
    begun_s, rows = time.monotonic(), list[RenderRow]()
    try:
        with tqdm(total=len(numbers), desc="render", unit="episode", disable=None) as bar:
            for row in render(order, numbers, shard, options.workers):
                rows.append(row)
                if row.fault:
                    tqdm.write(f"episode {row.episode}: {row.fault}", file=sys.stderr)
                bar.update()
    except EpisodeError as error:
        print(f"handiwork render: {error}", file=sys.stderr)
        return 1
    finally:
        print(_summary(rows, len(numbers), time.monotonic() - begun_s, options.workers))
    return 1 if any(row.fault for row in rows) else 0


def _draw_sheet(order: RenderOrder, numbers: list[int], path: Path, count: int) -> int:
    if count < 1:
        raise ConfigError("count", [f"is {count}; give 1 or more"])
    check_sheet(path)
    try:
        sheet = draw_sheet(order, numbers, count)
        sheet.save(path)
    except (EpisodeError, OSError) as error:
        print(f"handiwork render: {error}", file=sys.stderr)
        return 1
    print(f"{min(count, len(numbers))} of {len(numbers)} episodes on {path}")
    return 0


def _numbers(folder: DatasetFolder, options: argparse.Namespace) -> list[int]:
    there = folder.episodes()
    if options.episodes:
        wanted = range(*read_range(options.episodes))
        there = [number for number in there if number in wanted]
    if not there:
        raise ConfigError(str(folder.path), ["has no such episodes; generate some, or give other --episodes"])
    return there[options.shard_id :: options.num_shards]


def _summary(rows: list[RenderRow], wanted: int, spent_s: float, workers: int) -> str:
    good = [row for row in rows if not row.fault]
    text = f"{len(good)} of {wanted} episodes drawn now"
    if len(rows) > len(good):
        text += f", {len(rows) - len(good)} are damaged"
    frames, worked_s = sum(row.frames for row in good), sum(row.wall_s for row in good)
    if frames:
        text += (
            f"; {frames} pictures, {frames / worked_s:.1f} a second and process, "
            f"{frames / spent_s:.1f} a second with the start of {workers} processes"
        )
    return text
