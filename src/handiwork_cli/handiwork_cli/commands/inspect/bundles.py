"""``handiwork explain`` and ``handiwork replay``: what a failed goal did, and the same run once more."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.served_page import (
    LOOPBACK,
    PORT,
    add_lighting_option,
    check_address,
    serve_until_ended,
)
from handiwork_core.bundles.bundle import Bundle, BundleError, read_bundle, read_head
from handiwork_core.bundles.folder import BundleFolder, bundle_folder

if TYPE_CHECKING:
    from handiwork_cli.replay.replay import Replayed
    from handiwork_core.contracts.planning import Engine
    from handiwork_core.model.geometry import Pose
    from handiwork_core.robot.robot import Robot
    from handiwork_viz.view.ros.page.bundle_page import BundlePage

NEWEST = "last"
SAME, OTHER, BAD = 0, 1, 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the commands.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    which = f"file that a result names; {NEWEST!r}, the default: the newest one of this user"
    explained = commands.add_parser(
        "explain", help="in ten lines what happened to a goal that did not succeed"
    )
    explained.add_argument("bundle", nargs="?", default=NEWEST, help=which)
    explained.add_argument("--list", action="store_true", help="list the bundles of this user, oldest first")
    explained.set_defaults(run=run_explain)
    replayed = commands.add_parser(
        "replay",
        help="run a goal that did not succeed once more, in this process",
        description="Exit code: 0 the same outcome, or it can be planned with --set; 1 another one; 2 no replay.",
    )
    replayed.add_argument("bundle", nargs="?", default=NEWEST, help=which)
    text = "plan with another value of a parameter of the goal; may be given several times"
    replayed.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=text)
    text = "then show the recorded world, the motions and both outcomes in the browser"
    replayed.add_argument("--view", action="store_true", help=text)
    replayed.add_argument(
        "--port", type=int, default=PORT, help="of the page; the next free one where it is taken"
    )
    add_lighting_option(replayed)
    replayed.add_argument("--robot-dir", default="", help="folder of the robot; default: the recorded one")
    replayed.set_defaults(run=run_replay)


def run_explain(options: argparse.Namespace) -> int:
    """Print what happened.

    Args:
        options: Parsed command line.

    Returns:
        Exit code.
    """
    from handiwork_cli.replay.explanation import explain

    try:
        if options.list:
            return _list()
        path = chosen(options.bundle)
        print("\n".join(explain(read_bundle(path), str(path))))
        return SAME
    except BundleError as error:
        print(f"handiwork explain: {error}", file=sys.stderr)
        return BAD


def run_replay(options: argparse.Namespace) -> int:
    """Replay a bundle, or plan it with other parameters.

    Args:
        options: Parsed command line.

    Returns:
        Exit code.

    Raises:
        ConfigError: The port is out of range.
    """
    check_address(LOOPBACK, options.port)
    from handiwork_cli.replay.replay import lines_of, params_types, preview_bundle, replay_bundle, skill_of
    from handiwork_cli.replay.ros.in_process_planner import planner_of
    from handiwork_cli.replay.ros.refusal import check_again
    from skill_server.params.registry import load_catalog
    from skill_server.skills import BUILTIN

    try:
        changes = _changes(options.set)
        path = chosen(options.bundle)
        catalog = load_catalog(BUILTIN)
        bundle = read_bundle(path, params_types(catalog))
        robot = robot_of(bundle, options.robot_dir)
        if bundle.was_refused:
            if changes:
                raise BundleError("--set: a refused goal has no parameters; send the goal with other ones")
            replayed = check_again(bundle, catalog, robot)
        elif changes:
            planner = planner_of(bundle, robot, cpu_engine)
            replayed = preview_bundle(bundle, skill_of(bundle, catalog), robot, planner, changes)
        else:
            planner = planner_of(bundle, robot, cpu_engine)
            replayed = replay_bundle(bundle, skill_of(bundle, catalog), robot, planner)
    except BundleError as error:
        print(f"handiwork replay: {error}", file=sys.stderr)
        return BAD
    print("\n".join(lines_of(replayed)), flush=True)
    if options.view and not _show(options, bundle, path, robot, replayed):
        return BAD
    is_good = replayed.outcome.ok if replayed.is_new else replayed.is_same
    return SAME if is_good else OTHER


def _show(options: argparse.Namespace, bundle: Bundle, path: Path, robot: Robot, replayed: Replayed) -> bool:
    """Serve the page of a bundle until Ctrl-C; return False where it cannot be served."""
    from handiwork_cli.replay.explanation import explain
    from handiwork_cli.replay.replay import lines_of

    if not bundle.seen and not bundle.calls:
        print(
            "handiwork replay: the bundle has no snapshot of a world, so there is nothing to show",
            file=sys.stderr,
        )
        return False

    def make() -> BundlePage:
        from handiwork_viz.view.ros.page.bundle_page import BundlePage

        plan = () if replayed.plan is None else [one.trajectory for one in replayed.plan.motions]
        texts = [*explain(bundle, str(path)), "", *lines_of(replayed)]
        folder = robot_folder(bundle, options.robot_dir)
        simple = options.simple_lighting
        return BundlePage(bundle, robot, folder, texts, plan, LOOPBACK, options.port, simple_lighting=simple)

    return serve_until_ended("replay", make)


def chosen(name: str) -> Path:
    """Return the file of a bundle.

    Args:
        name: Path, or ``last``.

    Raises:
        BundleError: There is none.
    """
    if name != NEWEST:
        return Path(name)
    folder = bundle_folder(os.environ)
    files = [] if folder is None else BundleFolder(folder).bundles()
    if not files:
        raise BundleError(f"no goal of this user has left a bundle in {folder}; name a file")
    return files[-1]


def robot_of(bundle: Bundle, robot_dir: str) -> Robot:
    """Load the robot of a bundle.

    Args:
        bundle: The bundle.
        robot_dir: Folder of its files; empty for the recorded one, or the installed one of the same name.

    Raises:
        BundleError: The folder is not there.
    """
    from handiwork_core.robot_files.loader import load_robot

    return load_robot(robot_folder(bundle, robot_dir))


def robot_folder(bundle: Bundle, robot_dir: str) -> Path:
    """Return the folder of the robot of a bundle; see ``robot_of``.

    Args:
        bundle: The bundle.
        robot_dir: Folder of its files; empty for the recorded one, or the installed one of the same name.

    Raises:
        BundleError: The folder is not there.
    """
    recorded = Path(bundle.head.robot_dir)
    installed = share_of("robot_description") / "robots" / recorded.name
    places = [Path(robot_dir)] if robot_dir else [recorded, installed]
    found = next((one for one in places if (one / "robot.yaml").is_file()), None)
    if found is None:
        raise BundleError(
            f"robot {bundle.head.robot!r} is not in {places[0]}; name its folder with --robot-dir"
        )
    return found


def cpu_engine(robot: Robot, world_T_base: Pose) -> Engine:
    """Make the engine of replays, which is deterministic.

    Args:
        robot: The robot.
        world_T_base: Pose of its base.
    """
    from handiwork_planning.cpu_engine import CpuEngine

    return CpuEngine(robot, world_T_base, lambda _share, _text: None)


def _changes(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for key, sign, _value in pairs:
        if not (key and sign):
            raise BundleError(f"--set {key}: give KEY=VALUE, such as --set t_eps=0.01")
    return {key.strip(): value for key, _sign, value in pairs}


def _list() -> int:
    folder = bundle_folder(os.environ)
    for path in [] if folder is None else BundleFolder(folder).bundles():
        try:
            head = read_head(path)
        except BundleError as error:
            print(error)
            continue
        print(f"{head.made}  {head.skill or head.action:<14}{head.outcome.code.name:<20}{path}")
    return SAME
