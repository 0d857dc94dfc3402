"""``handiwork plot``: joints, tracking errors, gripper and conditions of a recording, as a picture or a page."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from handiwork_cli.processes.served_page import LOOPBACK, PORT, check_address, serve_until_ended

if TYPE_CHECKING:
    from handiwork_viz.plots.series import Curves


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "plot", help="draw the joints, the gripper and the conditions of a recording"
    )
    parser.add_argument("recording", help="folder of a recording, or one of its .mcap files")
    parser.add_argument("-o", "--output", default="", help="picture: .png, .svg or .pdf; default: beside it")
    parser.add_argument(
        "--joint", action="append", default=[], help="only this joint; may be given several times"
    )
    text = "show it in the browser instead, where the mouse magnifies it"
    parser.add_argument("--view", action="store_true", help=text)
    parser.add_argument(
        "--port", type=int, default=PORT, help="of the page; the next free one where it is taken"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw a recording.

    Args:
        options: Parsed command line.

    Returns:
        Exit code.

    Raises:
        ConfigError: The port is out of range.
    """
    from tqdm import tqdm

    from handiwork_viz.plots.series import curves_of
    from handiwork_viz.recording.bag_reader import Cut, RecordingError, read_messages

    check_address(LOOPBACK, options.port)
    recording, cut = Path(options.recording).expanduser(), Cut()
    try:
        messages = tqdm(read_messages(recording, cut=cut), unit=" messages", delay=2.0, leave=False)
        curves = curves_of(messages, options.joint)
    except RecordingError as error:
        print(f"handiwork plot: {error}", file=sys.stderr)
        return 2
    if cut.text:
        print(f"handiwork plot: {cut.text}", file=sys.stderr)
    if not curves.panels():
        wanted = f" of {', '.join(options.joint)}" if options.joint else ""
        print(f"handiwork plot: {recording} has no joint_states or conditions{wanted}", file=sys.stderr)
        return 1
    if options.view:
        from handiwork_viz.plots.page import PlotPage

        make = partial(PlotPage, curves, recording.name, LOOPBACK, options.port)
        return 0 if serve_until_ended("plot", make) else 1
    return _draw(curves, recording, options.output)


def _draw(curves: Curves, recording: Path, wanted: str) -> int:
    from handiwork_viz.plots.picture import NoPlotterError, draw

    output = Path(wanted).expanduser() if wanted else recording.with_suffix(".png")
    try:
        panels = draw(curves, output, recording.name)
    except NoPlotterError as error:
        print(f"handiwork plot: {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"handiwork plot: {output} cannot be written: {error}", file=sys.stderr)
        return 2
    print(f"{panels} panels of {curves.messages} messages: {output}")
    return 0
