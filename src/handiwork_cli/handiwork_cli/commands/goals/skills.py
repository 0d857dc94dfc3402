"""``handiwork skills``: the skills; ``handiwork skills NAME``: the parameters of one, with their defaults."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
import sys
import typing


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser("skills", help="list the skills, or the parameters of one")
    parser.add_argument("name", nargs="?", help="name of a skill")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the skills, or one skill with its parameters.

    Args:
        options: Parsed command line.

    Returns:
        Exit code, 0 unless the skill is not known.
    """
    from skill_server.params.registry import UnknownSkill, load_catalog
    from skill_server.skills import BUILTIN

    catalog = load_catalog(BUILTIN)
    for name, why in catalog.broken.items():
        print(f"skill {name!r} could not be loaded: {why}", file=sys.stderr)
    if not options.name:
        for name, skill in sorted(catalog.skills.items()):
            print(f"{name:<18}{_first_line(type(skill))}")
        return 0
    try:
        skill = catalog.find(options.name)
    except UnknownSkill as error:
        print(f"handiwork skills: {error}", file=sys.stderr)
        return 1
    print(f"{skill.name}: {inspect.getdoc(type(skill))}\n\n{inspect.getdoc(skill.params_type)}\n")
    hints = typing.get_type_hints(skill.params_type)
    for field in dataclasses.fields(skill.params_type):
        print(f"  {field.name:<29} {_kind(hints[field.name]):<34} {_default(field)}")
    return 0


def _first_line(kind: type[object]) -> str:
    return (inspect.getdoc(kind) or "").splitlines()[0]


def _kind(hint: object) -> str:
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__name__
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(hint))


def _default(field: dataclasses.Field[object]) -> str:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    return repr(field.default_factory()) if field.default_factory is not dataclasses.MISSING else "required"
