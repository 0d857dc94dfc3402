"""``handiwork plot``: joints, tracking errors, gripper and conditions of a recording, as a picture."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw a recording.

    Args:
        options: Parsed command line.

    Returns:
        Exit code.
    """
    from tqdm import tqdm

    from handiwork_viz.plots.picture import NoPlotterError, draw
    from handiwork_viz.plots.series import curves_of
    from handiwork_viz.recording.bag_reader import Cut, RecordingError, read_messages

    recording = Path(options.recording).expanduser()
    output = Path(options.output).expanduser() if options.output else recording.with_suffix(".png")
    cut = Cut()
    try:
        messages = tqdm(read_messages(recording, cut=cut), unit=" messages", delay=2.0, leave=False)
        curves = curves_of(messages, options.joint)
        panels = draw(curves, output, recording.name)
    except (RecordingError, NoPlotterError) as error:
        print(f"handiwork plot: {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"handiwork plot: {output} cannot be written: {error}", file=sys.stderr)
        return 2
    if cut.text:
        print(f"handiwork plot: {cut.text}", file=sys.stderr)
    if not panels:
        wanted = f" of {', '.join(options.joint)}" if options.joint else ""
        print(f"handiwork plot: {recording} has no joint_states or conditions{wanted}", file=sys.stderr)
        return 1
    print(f"{panels} panels of {curves.messages} messages: {output}")
    return 0
