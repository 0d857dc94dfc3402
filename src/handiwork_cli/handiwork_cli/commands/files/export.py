"""``handiwork export``: recorded episodes in the formats of other projects."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import check_same
from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.export.lerobot import VIDEO_KEYS, WRITERS, export_lerobot
from handiwork_data.export.mcap_file import export_mcap
from handiwork_data.export.name_maps import Features, InternDataFeatures, lerobot_features
from handiwork_data.export.robomimic import export_robomimic
from handiwork_data.export.source import Source, source_of
from handiwork_data.rendering.image_folder import ImageFolder

from .generate import sources_of

ROBOMIMIC = "robomimic-hdf5"
MCAP = "mcap"
FORMATS = (*WRITERS, ROBOMIMIC, MCAP)
NONE, MAIN = "none", "main"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("export", help="write recorded episodes in the format of another project")
    parser.add_argument("folder", help="folder of `handiwork generate`")
    parser.add_argument("--format", choices=FORMATS, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--failures", action="store_true", help="also the episodes that did not succeed")
    parser.add_argument(
        "--names", choices=tuple(VIDEO_KEYS), default="lerobot", help="names of the columns of LeRobot"
    )
    parser.add_argument(
        "--images",
        metavar="NAME",
        help=f"pictures of `handiwork render` for videos; {NONE}: no videos; default: {MAIN}, if there are any",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the episodes of a folder in another format.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0, or 1 where an episode is damaged, or the file could not be written.

    Raises:
        ConfigError: The folder has no such episodes, or no such pictures.
    """
    folder = DatasetFolder(Path(options.folder))
    try:
        numbers = [n for n in folder.episodes() if options.failures or folder.read(n).meta.success]
        if not numbers:
            text = "has no successful episodes; generate some, or add --failures"
            raise ConfigError(str(folder.path), [text])
        source = source_of(folder, numbers, _images(folder, options))
        with tqdm(total=len(numbers), desc="export", unit="episode", delay=2.0, disable=None) as bar:
            total = _export(source, options, bar)
    except EpisodeError as error:
        print(f"handiwork export: {error}", file=sys.stderr)
        return 1
    cameras = f", cameras {', '.join(source.cameras)}" if source.cameras else ""
    unit = "messages" if options.format == MCAP else "transitions"
    print(f"{options.out}: {len(numbers)} episodes, {total} {unit}{cameras}")
    return 0


def _export(source: Source, options: argparse.Namespace, bar: tqdm) -> int:  # type: ignore[type-arg]
    if options.format == ROBOMIMIC:
        return export_robomimic(source, options.out, bar.update)
    if options.format == MCAP:
        return export_mcap(source, options.out, bar.update)
    names = (options.names, _features(options))
    return export_lerobot(source, options.out, options.format, names, bar.update)


def _features(options: argparse.Namespace) -> Features:
    if options.names == "lerobot":
        return lerobot_features
    folder, sources = sources_of(options.folder)
    check_same(folder, sources)
    return InternDataFeatures(load_robot(sources.robot), load_scene(sources.scene))


def _images(folder: DatasetFolder, options: argparse.Namespace) -> ImageFolder | None:
    """Return the pictures that become videos; None without any."""
    if options.images == NONE or options.format == ROBOMIMIC:
        return None
    images = ImageFolder(folder, options.images or MAIN)
    about = images.about()
    if about is None:
        if options.images is not None:
            text = f"has no pictures {options.images!r}; run `handiwork render --name {options.images}` first"
            raise ConfigError(str(folder.path), [text])
        return None
    if "color" not in about.outputs:
        text = f"the pictures {images.path.name!r} have no colours; render them with --outputs color"
        raise ConfigError(str(folder.path), [f"{text}, or give --images {NONE}"])
    return images
