"""The program ``recorder``: records until SIGINT or SIGTERM, also when it is started by a launch file."""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import rclpy
from rclpy.signals import SignalHandlerOptions

from handiwork_core.process.writable_folders import state_folder
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_viz.recording.bag_writer import BagWriter, DiskFullError, Limits

from .recorder import Recorder

STOPPED = 1


@dataclass(frozen=True)
class Options:
    """What is recorded, and where.

    Attributes:
        folder: Folder of the recording; empty: a new one in the folder of the user's state.
        limits: Limits of files.
        wanted: Pattern of the names of topics.
        unwanted: Pattern of names that are left out; empty for none.
    """

    folder: str = ""
    limits: Limits = field(default_factory=Limits)
    wanted: str = ""
    unwanted: str = ""


def record(options: Options, argv: list[str] | None = None) -> int:
    """Record until a signal comes.

    Args:
        options: What, and where.
        argv: Words for ROS.

    Returns:
        Exit code; ``STOPPED`` if the disk is full or the folder cannot be made.
    """
    stop = threading.Event()
    # Before rclpy: a signal during its start must not be lost.
    previous = {s: signal.signal(s, lambda *_: stop.set()) for s in (signal.SIGINT, signal.SIGTERM)}
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    rclpy.init(args=argv or [], signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("recorder", start_parameter_services=False, enable_rosout=False)
    writer: BagWriter | None = None
    try:
        writer = BagWriter(_folder(options.folder), options.limits)
        recorder = Recorder(node, writer, options.wanted, options.unwanted, _warn)
        print(f"recording to {writer.folder}", flush=True)
        recorder.run(stop)
        lost = f", {recorder.lost} lost" if recorder.lost else ""
        print(
            f"recorded {writer.messages} messages of {recorder.topics} topics{lost} to {writer.folder}",
            flush=True,
        )
        return 0
    except (DiskFullError, FileExistsError) as error:
        _warn(
            str(error) if isinstance(error, DiskFullError) else f"{error.filename} exists; name a new folder"
        )
        return STOPPED
    finally:
        if writer is not None:
            writer.close()
        destroy_with_actions(node)
        rclpy.try_shutdown()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _folder(given: str) -> Path:
    if given:
        return Path(given).expanduser()
    state = state_folder(os.environ)
    if state is None:
        raise DiskFullError("no folder is writable for the recording; name one")
    # With the process: the recorders of two stacks may start in one second.
    return state / "recordings" / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{os.getpid()}"


def _warn(text: str) -> None:
    sys.stderr.write(f"recorder: {text}\n")
    sys.stderr.flush()


def main() -> None:
    """Run the program: the first word is the folder, or empty; all others are for ROS."""
    words = sys.argv[1:]
    folder = words.pop(0) if words and not words[0].startswith("--") else ""
    sys.exit(record(Options(folder), words))
