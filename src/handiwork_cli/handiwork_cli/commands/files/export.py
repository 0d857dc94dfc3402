"""``handiwork export``: recorded episodes in the formats of other projects."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from tqdm import tqdm

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import about_files, check_same
from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.export.lerobot import VIDEO_KEYS, WRITERS, export_lerobot
from handiwork_data.export.mcap_file import export_mcap
from handiwork_data.export.name_maps import Features, InternDataFeatures, lerobot_features
from handiwork_data.export.robomimic import export_robomimic
from handiwork_data.export.source import Source, source_of
from handiwork_data.recordings.cut import CutSettings, episodes_of
from handiwork_data.rendering.image_folder import ImageFolder
from handiwork_viz.recording.bag_reader import Cut, RecordingError, files_of

from .generate import sources_of

ROBOMIMIC = "robomimic-hdf5"
MCAP = "mcap"
FORMATS = (*WRITERS, ROBOMIMIC, MCAP)
NONE, MAIN = "none", "main"
FASTEST_HZ = 200
BLOCK = 1 << 20
"""Bytes of a recording that are read at once."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("export", help="write recorded episodes in the format of another project")
    parser.add_argument("folder", help="folder of `handiwork generate`, or a recording of `handiwork record`")
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
    group = parser.add_argument_group("of a recording", "Each goal of a skill or a task becomes an episode.")
    group.add_argument("--robot", help="its name in robot_description/robots, or a path")
    group.add_argument(
        "--scene", help="its name in config/scenes, or a path: the base's pose is read from it"
    )
    group.add_argument("--rate", type=int, default=25, help="samples a second")
    group.add_argument(
        "--instruction", default="", help="sentence of all episodes; default: made from the goals"
    )
    group.add_argument(
        "--success",
        default="",
        metavar="KEY",
        help="watched condition that decides; default: the goal's result",
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
    path = Path(options.folder)
    try:
        source = _recorded(path, options) if is_recording(path) else _generated(path, options)
        with tqdm(total=len(source.numbers), desc="export", unit="episode", delay=2.0, disable=None) as bar:
            total = _export(source, options, bar)
    except (EpisodeError, RecordingError) as error:
        print(f"handiwork export: {error}", file=sys.stderr)
        return 1
    cameras = f", cameras {', '.join(source.cameras)}" if source.cameras else ""
    unit = "messages" if options.format == MCAP else "transitions"
    print(f"{options.out}: {len(source.numbers)} episodes, {total} {unit}{cameras}")
    return 0


def is_recording(path: Path) -> bool:
    """Check whether a path is a recording: an MCAP file, or a folder of such.

    Args:
        path: The path.
    """
    return path.suffix == ".mcap" or (path.is_dir() and any(path.glob("*.mcap")))


def _generated(path: Path, options: argparse.Namespace) -> Source:
    folder = DatasetFolder(path)
    numbers = [n for n in folder.episodes() if options.failures or folder.read(n).meta.success]
    if not numbers:
        text = "has no successful episodes; generate some, or add --failures"
        raise ConfigError(str(folder.path), [text])
    return source_of(folder, numbers, _images(folder, options))


def _recorded(path: Path, options: argparse.Namespace) -> Source:
    robot, scene = _files(options)
    if not 1 <= options.rate <= FASTEST_HZ:
        raise ConfigError("rate", [f"is {options.rate}; give 1 to {FASTEST_HZ} Hz"])
    digest = hashlib.sha256()
    for file in files_of(path):
        with file.open("rb") as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
    about, cut = about_files(digest.hexdigest(), robot, scene), Cut()
    settings = CutSettings(
        load_robot(robot), load_scene(scene), options.rate, options.instruction, options.success,
        about.version, about.task_digest,
    )  # fmt: skip
    made = {one.meta.episode: one for one in episodes_of(path, settings, cut)}
    if cut.text:
        print(f"handiwork export: {cut.text}", file=sys.stderr)
    numbers = [n for n, one in made.items() if options.failures or one.meta.success]
    if not numbers:
        raise ConfigError(str(path), ["has no successful goals; record some, or add --failures"])
    return Source(about, numbers, made.__getitem__)


def _files(options: argparse.Namespace) -> tuple[Path, Path]:
    """Return the robot's folder and the scene's file of a recording."""
    if options.robot is None or options.scene is None:
        text = "is a recording, which does not say where the robot stands; give --robot and --scene"
        raise ConfigError(options.folder, [text])
    return robot_folder(options.robot), scene_file(options.scene)


def _export(source: Source, options: argparse.Namespace, bar: tqdm) -> int:
    if options.format == ROBOMIMIC:
        return export_robomimic(source, options.out, bar.update)
    if options.format == MCAP:
        return export_mcap(source, options.out, bar.update)
    names = (options.names, _features(options))
    return export_lerobot(source, options.out, options.format, names, bar.update)


def _features(options: argparse.Namespace) -> Features:
    if options.names == "lerobot":
        return lerobot_features
    if is_recording(Path(options.folder)):
        robot, scene = _files(options)
    else:
        folder, sources = sources_of(options.folder)
        check_same(folder, sources)
        robot, scene = sources.robot, sources.scene
    return InternDataFeatures(load_robot(robot), load_scene(scene))


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
