"""``handiwork demo``: pick an object, place it into a container, film it, and let the monitor judge."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.interrupts import interruptible
from handiwork_cli.processes.served_page import MISSING
from handiwork_cli.stack.demo_cells import (
    Target,
    add_backend,
    robot_of,
    stack_arguments,
    target_of,
)
from handiwork_cli.stack.skill_output import StageLines, print_table
from handiwork_cli.stack.stack import Stack, StackError
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.robot import Robot

from .view import add_page_options

if TYPE_CHECKING:
    from handiwork_viz.film.recorder import Recorder

PLACE_TIMEOUT_S = 120.0
PAGE_END_S = 10.0
"""The time in which the page ends by itself, s."""
THIS_COMMAND = (sys.executable, "-c", "from handiwork_cli.cli import main; raise SystemExit(main())")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("demo", help="pick and place once in simulation, and film it")
    parser.add_argument("--robot", default="fr3", help="folder in robot_description/robots")
    parser.add_argument("--arm", default="", help="of a robot with several")
    parser.add_argument(
        "--scene", default="", help="file in config/scenes, without .yaml; default: the robot's table"
    )
    add_backend(parser)
    parser.add_argument("--object", default="", help="default: the arm's cube")
    parser.add_argument("--container", default="", help="default: the arm's bin")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of demo.webp and demo.png")
    parser.add_argument("--no-film", action="store_true", help="write no film")
    text = "move nothing, but serve a page in the browser from which goals are sent, until Ctrl-C"
    parser.add_argument("--view", action="store_true", help=text)
    add_page_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demo.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0 exactly when the monitor finds the object in the container, 2 for invalid options.
    """
    with interruptible():  # SIGTERM alone would leave the page behind
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    try:
        robot = robot_of(options.robot)
        own = target_of(robot, options.arm)
    except (KeyError, ConfigError) as error:
        print(f"handiwork demo: {error.args[0]}", file=sys.stderr)
        return 2
    if options.view:
        return _serve_page(options, robot)
    target = own.chosen(options.object, options.container)
    print("starting; the very first start also compiles the planner, which takes about a minute", flush=True)
    recorder: Recorder | None = None
    try:
        arguments = stack_arguments(options.robot, robot, options.scene)
        with Stack({**arguments, "backend": options.backend}, write=_show) as stack:
            print(f"all nodes active after {stack.wait_active():.1f} s", flush=True)
            recorder = None if options.no_film else _start_recorder(options.robot)
            good = _pick_and_place(stack, target)
    except StackError as error:
        print(f"handiwork demo: {error}", file=sys.stderr)
        good = False
    if recorder is not None:
        _write_film(recorder, options, target)
    return 0 if good else 1


def _serve_page(options: argparse.Namespace, robot: Robot) -> int:
    """Start the stack and the page, each in processes of their own, and wait for the end of the page."""
    if find_spec("viser") is None:
        print(f"handiwork demo: --view {MISSING}", file=sys.stderr)
        return 1
    arguments = stack_arguments(options.robot, robot, options.scene)
    print(
        "starting the stack and the page; the very first start compiles the planner for a minute", flush=True
    )
    page: subprocess.Popen[bytes] | None = None
    try:
        with Stack({**arguments, "backend": options.backend}, write=_show) as stack:
            words = ["view", "--host", options.host, "--port", str(options.port)]
            words += ["--simple-lighting"] if options.simple_lighting else []
            page = subprocess.Popen([*THIS_COMMAND, *words])
            print(f"all nodes active after {stack.wait_active():.1f} s", flush=True)
            return page.wait()
    except StackError as error:
        print(f"handiwork demo: {error}", file=sys.stderr)
        return 1
    finally:
        if page is not None and page.poll() is None:
            page.terminate()
            try:
                page.wait(PAGE_END_S)
            except subprocess.TimeoutExpired:
                page.kill()
                page.wait()


def _show(line: str) -> None:
    print(line, flush=True)


def _pick_and_place(stack: Stack, target: Target) -> bool:
    from handiwork_msgs.action import Place

    name, container = target.object, target.container
    begin_s = time.monotonic()
    _show(f"pick {name}")
    lines = StageLines(_show)
    reports = {"pick": stack.client.pick(name, arm=target.arm, on_feedback=lines)}
    lines.end(reports["pick"])
    if reports["pick"].ok:
        _show(f"place {name} into {container}")
        lines = StageLines(_show)
        goal = Place.Goal(object=name, container=container, arm=target.arm)
        reports["place"] = stack.client.send(goal, lines).result(PLACE_TIMEOUT_S)
        lines.end(reports["place"])
    wall_s = time.monotonic() - begin_s
    print_table(reports)
    _show(f"{wall_s:.1f} s of wall time")
    inside, reason = stack.settled("object_in_container", target.placed, timeout_s=3.0)
    _show(
        f"monitor: object_in_container({name}, {container}) is {'TRUE' if inside else 'not TRUE'}: {reason}"
    )
    return inside


def _start_recorder(robot: str) -> Recorder | None:
    try:
        from handiwork_viz.film.recorder import Recorder

        return Recorder(robot_of(robot))
    except Exception as error:  # noqa: BLE001 - no film is no reason not to judge
        print(f"no film: recording did not start: {error}", file=sys.stderr, flush=True)
        return None


def _write_film(recorder: Recorder, options: argparse.Namespace, target: Target) -> None:
    begin_s = time.monotonic()
    try:
        recording = recorder.stop()
        _show(f"drawing {len(recording.instants)} frames")
        from handiwork_viz.film.film import render

        robot_dir = share_of("robot_description") / "robots" / options.robot
        render(recording, robot_of(options.robot), robot_dir, target.object, target.container, options.out)
        files = f"{options.out / 'demo.webp'} and {options.out / 'demo.png'}"
        _show(f"film: {files}, {time.monotonic() - begin_s:.1f} s")
    except Exception as error:  # noqa: BLE001 - no film is no reason not to judge
        print(f"no film: {error}", file=sys.stderr, flush=True)
