"""``handiwork new-robot URDF``: the files of a user's robot."""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handiwork_cli.processes.progress import Steps
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.mesh_paths import with_mesh_files
from handiwork_core.robot_files.loader import expand, load_robot

SCENE = "scene.yaml"
"""The scene in the folder of a new robot."""
OVER_M = (0.22, 0.14, 0.07)
"""Heights of the TCP over the base at which the hand shall point down, m: small arms cannot do so high up."""

if TYPE_CHECKING:
    from handiwork_core.robot.robot import Robot
    from robot_description.formats.from_mjcf import MjcfRobot
    from robot_description.formats.given_robot import GivenRobot
    from robot_description.import_robot.new_robot import Described
    from robot_description.import_robot.new_robot_arms import Remarks
    from robot_description.import_robot.output_files.portable_urdf import PortableUrdf


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "new-robot", help="write robot.yaml and spheres.yaml for a URDF, xacro or MJCF"
    )
    parser.add_argument("urdf", nargs="?", type=Path, help="the description: a .urdf, a .xacro or MJCF")
    parser.add_argument("arguments", nargs="*", metavar="name:=value", help="arguments of the xacro")
    parser.add_argument(
        "--urdf", dest="also_urdf", type=Path, help="the same, beside --from-xrdf or --from-curobo"
    )
    parser.add_argument(
        "--from-xrdf", type=Path, help="take spheres, pairs, limits and home from an XRDF file"
    )
    parser.add_argument("--from-curobo", type=Path, help="take them from a robot configuration of cuRobo")
    parser.add_argument("--out", type=Path, help="folder to write; without it the robot's name, here")
    parser.add_argument("--name", help="name of the robot; without it that of the URDF file")
    parser.add_argument("--protrusion", type=float, default=10.0, help="of spheres beyond the shapes [mm]")
    parser.add_argument("--samples", type=int, default=5000, help="configurations to judge pairs of links at")
    parser.add_argument(
        "--suction", default="", metavar="LINK", help="link of a suction cup, in the place of fingers"
    )
    parser.add_argument(
        "--refine", action="store_true", help="go on where an interrupted command has stopped"
    )
    parser.add_argument(
        "--cup-radius",
        type=float,
        help="of the rim of that cup [mm]; without it that of the end of its shape",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the files, and print the entries that are missing in them.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the files were written and load.

    Raises:
        ConfigError: The description cannot be read, or options exclude each other.
    """
    from robot_description.import_robot.new_robot import describe
    from robot_description.import_robot.new_robot_arms import Wanted
    from robot_description.import_robot.output_files.portable_urdf import PortableUrdf
    from robot_description.import_robot.output_files.robot_text import report

    if options.cup_radius is not None and not options.suction:
        raise ConfigError("new-robot", ["--cup-radius: there is no cup; name its link by --suction"])
    given = _given(options)
    urdf = _urdf(options, given)
    name = options.name or re.sub(r"\W+", "_", urdf.name.split(".")[0])
    out = options.out or Path(name)
    if fault := _taken(out, refines=options.refine):
        print(f"handiwork new-robot: {fault}", file=sys.stderr)
        return 2
    wanted = Wanted(
        name,
        f"{name}.urdf",
        options.protrusion / 1e3,
        options.samples,
        cup_link=options.suction,
        cup_radius_m=None if options.cup_radius is None else options.cup_radius / 1e3,
    )
    with tempfile.TemporaryDirectory() as meshes, Steps("new-robot") as steps:
        read = _read(urdf, _arguments(options.arguments), Path(meshes))
        portable = PortableUrdf(read.urdf, urdf)
        with_files = with_mesh_files(portable.original, urdf.parent)
        solids = None
        if not options.refine and not (given is not None and given.spheres):
            coarse = describe(urdf, replace(wanted, is_coarse=True), given, with_files, steps.begin)
            robot, solids = _finished(out, coarse, portable, read, steps), coarse.solids
            words = f"{out} is written and loads, with coarse spheres: arms {', '.join(robot.arms)}"
            used = f"{time.process_time():.0f} s of processor time"
            print(f"{words}, after {used}; use it now, finer ones follow (Ctrl-C keeps these)", flush=True)
            _print_launch(out)
        described = describe(urdf, wanted, given, with_files, steps.begin, solids)
        robot = _finished(out, described, portable, read, steps)
    for line in report(described):
        print(line)
    print(f"{out} is written and loads: arms {', '.join(robot.arms)}; next: handiwork show-robot {out}")
    _print_launch(out)
    return 0


def _taken(out: Path, *, refines: bool) -> str:
    """Return why the folder cannot be written, or refined; empty if it can."""
    from robot_description.import_robot.output_files.robot_text import COARSE_LINE

    robot, spheres = out / "robot.yaml", out / "spheres.yaml"
    if not refines:
        text = "remove it, use --out, or --refine for coarse spheres"
        return f"{robot} exists already; {text}" if robot.exists() else ""
    if not robot.exists() or not spheres.exists():
        return f"--refine: {out} is no folder of this command; leave out --refine"
    if COARSE_LINE not in spheres.read_text(encoding="utf-8"):
        return f"--refine: {spheres} has no coarse spheres; nothing is left to do"
    return ""


def _print_launch(out: Path) -> None:
    if (out / SCENE).exists():
        print(
            f"then: handiwork launch robot_dir:={out.resolve()} scene_file:={(out / SCENE).resolve()}",
            flush=True,
        )


def _finished(
    out: Path, described: Described, portable: PortableUrdf, read: MjcfRobot, steps: Steps
) -> Robot:
    """Complete the remarks, cut the meshes of hands if they are not cut yet, and write the folder, or refine it."""
    if not (out / "robot.yaml").exists():
        hands = [arm.gripper for arm in described.arms.values() if arm.gripper is not None]
        portable.cut({link for hand in hands for link in (*hand.links, *hand.fixed_links)}, steps.begin)
        portable.add(described.frames)
    described.remarks.assumed[:0] = [*read.assumed, *portable.assumed]
    described.remarks.doubtful[:0] = [*read.doubtful, *portable.doubtful]
    if not portable.licences():
        text = "LICENSE: none is above the description; add the maker's before you pass the folder on"
        described.remarks.missing.append(text)
    steps.begin("choosing a scene")
    return _written(out, described, portable)


def _read(path: Path, arguments: dict[str, str], meshes: Path) -> MjcfRobot:
    """Return the URDF of a description, with remarks on what an MJCF file has otherwise."""
    from robot_description.formats.from_mjcf import MjcfRobot, is_mjcf, read_mjcf

    if not is_mjcf(path):
        return MjcfRobot(expand(path, arguments))
    if arguments:
        raise ConfigError(str(path), ["arguments: are those of a xacro, and this is MJCF; leave them out"])
    return read_mjcf(path, meshes)


def _arguments(words: Sequence[str]) -> dict[str, str]:
    if bad := [word for word in words if ":=" not in word]:
        raise ConfigError("new-robot", [f"argument {bad[0]!r}: has no :=; write name:=value"])
    return dict(word.split(":=", 1) for word in words)


def _written(out: Path, described: Described, portable: PortableUrdf) -> Robot:
    """Write all files to a folder beside ``out``, load them, and only then move them there."""
    from robot_description.import_robot.output_files.robot_text import robot_yaml, spheres_yaml

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as made:
        folder = Path(made) / out.name
        if refines := (out / "robot.yaml").exists():
            shutil.copytree(out, folder)
        else:
            folder.mkdir()
            portable.write(folder, described.wanted.urdf)
        (folder / "spheres.yaml").write_text(spheres_yaml(described), encoding="utf-8")
        (folder / "robot.yaml").write_text(robot_yaml(described), encoding="utf-8")
        _add_scene(folder, load_robot(folder), described.remarks)
        if refines:
            _replace(folder, out)
        elif out.exists():
            shutil.copytree(folder, out, dirs_exist_ok=True)
        else:
            folder.rename(out)
    return load_robot(out)


def _replace(folder: Path, out: Path) -> None:
    """Put the refined files in the place of the coarse ones, each at once and all without an interruption."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        # The mark of coarse spheres goes last: until then --refine begins again.
        for name in (SCENE, "robot.yaml", "spheres.yaml"):
            if (folder / name).exists():
                (folder / name).replace(out / name)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _add_scene(folder: Path, robot: Robot, remarks: Remarks) -> None:
    """Write a scene for a robot with one arm and a gripper or a cup, with things where the arm reaches."""
    from robot_description.import_robot.output_files.scene_text import scene_yaml
    from robot_description.import_robot.working_area import working_area

    gripper = robot.arm("").gripper if len(robot.arms) == 1 else None
    if gripper is None:
        return
    area, text = None, None
    for over_m in OVER_M:
        area = working_area(robot, robot.arm(""), over_m=over_m) or area
        text = None if area is None else scene_yaml(robot, robot.arm(""), area)
        if text is not None:
            break
    if area is None or text is None:
        words = (
            "nowhere" if area is None else f"only from {area.near_m:.2f} to {area.far_m:.2f} m from its base"
        )
        remarks.missing.append(f"{SCENE}: the hand points straight down {words}; write a scene for it")
        return
    (folder / SCENE).write_text(text, encoding="utf-8")
    words = f"the hand points straight down {area.near_m:.2f} to {area.far_m:.2f} m from the base"
    remarks.assumed.append(f"{SCENE}: {words}; table, cube and bin are there")


def _given(options: argparse.Namespace) -> GivenRobot | None:
    from robot_description.formats.from_curobo import read_curobo
    from robot_description.formats.from_xrdf import read_xrdf

    if options.from_xrdf and options.from_curobo:
        raise ConfigError("new-robot", ["--from-xrdf: is given beside --from-curobo; give one of them"])
    if options.from_xrdf:
        return read_xrdf(options.from_xrdf)
    return read_curobo(options.from_curobo) if options.from_curobo else None


def _urdf(options: argparse.Namespace, given: GivenRobot | None) -> Path:
    for path in (options.urdf, options.also_urdf, given.urdf if given is not None else None):
        if path is not None:
            return Path(path)
    raise ConfigError("new-robot", ["URDF: none is given; name a .urdf or a .xacro"])
