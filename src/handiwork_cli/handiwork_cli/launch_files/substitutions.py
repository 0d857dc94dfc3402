"""The supported substitutions of launch files, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.process.dds_profiles import ros_distro

from .model import (
    LaunchError,
    SourceLine,
    Substitution,
    Template,
)
from .package_paths import prefix_of, share_of
from .text import truth


@dataclass(frozen=True, slots=True)
class _Context:
    place: SourceLine
    variables: Mapping[str, str]
    environment: Mapping[str, str]


def evaluate(
    template: Template, place: SourceLine, variables: Mapping[str, str], environment: Mapping[str, str]
) -> str:
    """Join the values of a template's parts.

    Args:
        template: Text and substitutions.
        place: File and line, for errors.
        variables: Values of ``$(var ...)`` by name.
        environment: Values of ``$(env ...)`` by name, before those of this process.

    Raises:
        LaunchError: A substitution or variable is unknown, arguments are wrong, or an environment variable is not set.
    """
    context = _Context(place, variables, environment)
    return "".join(part if isinstance(part, str) else _value(part, context) for part in template)


def _value(substitution: Substitution, context: _Context) -> str:
    entry = _FUNCTIONS.get(substitution.name)
    if entry is None:
        known = nearest(substitution.name, list(_FUNCTIONS))
        raise context.place.error(f"$({substitution.name} ...) is not supported; {known}")
    least, most, function = entry
    if not least <= len(substitution.arguments) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        given = len(substitution.arguments)
        raise context.place.error(f"$({substitution.name} ...) has {given} arguments; give it {wanted}")
    values = [
        evaluate(argument, context.place, context.variables, context.environment)
        for argument in substitution.arguments
    ]
    try:
        return function(values, context)
    except LaunchError as error:
        raise context.place.error(str(error)) from error
    except ValueError as error:
        raise context.place.error(f"$({substitution.name} ...): {error}") from error


def _var(values: list[str], context: _Context) -> str:
    name = values[0]
    if name in context.variables:
        return context.variables[name]
    if len(values) == 2:
        return values[1]
    raise LaunchError(f"variable {name!r} is not set; {nearest(name, list(context.variables))}")


def _env(values: list[str], context: _Context) -> str:
    found = context.environment.get(values[0], os.environ.get(values[0]))
    if found is None and values[0] == "ROS_DISTRO":  # a sourced ROS sets it, the wheels do not
        found = ros_distro(os.environ)
    if found is None and len(values) == 1:
        raise LaunchError(
            f"environment variable {values[0]!r} is not set; set it, or write $(env {values[0]} default)"
        )
    return values[1] if found is None else found


def _if(values: list[str], context: _Context) -> str:
    return values[1] if truth(values[0]) else (values[2] if len(values) == 3 else "")


def _word(value: bool) -> str:
    return "true" if value else "false"


def _equal(left: str, right: str) -> bool:
    """Compare like launch: equal text, or equal numbers, or the same truth word."""
    if left == right:
        return True
    if {left.lower(), right.lower()} <= {"true", "false"}:
        return left.lower() == right.lower()
    try:
        return float(left) == float(right)
    except ValueError:
        return False


_Function = Callable[[list[str], _Context], str]
_FUNCTIONS: dict[str, tuple[int, int, _Function]] = {
    "var": (1, 2, _var),
    "env": (1, 2, _env),
    "find-pkg-share": (1, 1, lambda values, _: str(share_of(values[0]))),
    "find-pkg-prefix": (1, 1, lambda values, _: str(prefix_of(values[0]))),
    "dirname": (0, 0, lambda _, context: str(context.place.file.resolve().parent)),
    "filename": (0, 0, lambda _, context: str(context.place.file.resolve())),
    "equals": (2, 2, lambda values, _: _word(_equal(values[0], values[1]))),
    "not-equals": (2, 2, lambda values, _: _word(not _equal(values[0], values[1]))),
    "not": (1, 1, lambda values, _: _word(not truth(values[0]))),
    "and": (2, 2, lambda values, _: _word(truth(values[0]) and truth(values[1]))),
    "or": (2, 2, lambda values, _: _word(truth(values[0]) or truth(values[1]))),
    "if": (2, 3, _if),
}
