"""``handiwork new-skill NAME``: a package with a skill of the user's own that works, and its test."""

from __future__ import annotations

import argparse
import re
import sys
from importlib.resources import files
from pathlib import Path
from string import Template

FILES = {
    "setup.py": "setup.py",
    "setup.cfg": "setup.cfg",
    "package.xml": "package.xml",
    "README.md": "README.md",
    "{package}/__init__.py": "init.py",
    "{package}/{name}.py": "skill.py",
    "test/test_{name}.py": "test.py",
}
"""The file to write -> its template."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("new-skill", help="write a package with a skill of your own, and its test")
    parser.add_argument("name", help="name of the skill, for example wave")
    parser.add_argument("--package", help="name of the package; without it skill_<name>")
    parser.add_argument(
        "--into", type=Path, default=Path(), help="folder in which the package's folder is made"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the package.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 exactly when the package was written.
    """
    name, package = options.name, options.package or f"skill_{options.name}"
    for what, word in (("NAME", name), ("--package", package)):
        if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", word):
            text = (
                f"{what}: is {word!r}; use lower case letters, digits and single underscores, a letter first"
            )
            print(f"handiwork new-skill: {text}", file=sys.stderr)
            return 2
    if name == package:
        print("handiwork new-skill: --package: is the skill's name; choose another one", file=sys.stderr)
        return 2
    folder = options.into / package
    if folder.exists():
        print(f"handiwork new-skill: {folder} exists already; remove it or use --into", file=sys.stderr)
        return 2
    write_package(folder, name, package)
    print(f"{folder} is written; next: cd {folder} && pip install -e . && python -m pytest")
    return 0


def write_package(folder: Path, name: str, package: str) -> None:
    """Write all files of the package into a new folder.

    Args:
        folder: The folder.
        name: Name of the skill.
        package: Name of the package.
    """
    words = {"name": name, "package": package, "class_name": "".join(p.capitalize() for p in name.split("_"))}
    templates = files("handiwork_cli") / "templates" / "skill"
    for target, source in FILES.items():
        path = folder / target.format(**words)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (templates / f"{source}.txt").read_text(encoding="utf-8")
        path.write_text(Template(text).substitute(words), encoding="utf-8")
    (folder / "resource").mkdir()
    (folder / "resource" / package).touch()
