"""Checks parameters with several faults at once: the fields that can be read are judged as well."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.outcome import Code, Outcome

from .parsing import object_fields, parameters_from

P = TypeVar("P")
Judge = Callable[[Any], Outcome]
BLANKS: tuple[tuple[type, object], ...] = ((str, ""), (int, 0), (float, 0.0), (bool, False))


def judged_parameters(skill: Skill[P], data: Mapping[str, Any], arm: str, source: str, judge: Judge) -> P:
    """Parse parameters; where that finds faults, report also those that ``judge`` finds in the other fields.

    Args:
        skill: Skill whose parameters are parsed.
        data: Fields, or keys of the SimBox format, with their values.
        arm: Arm that was named outside of the parameters; empty for none.
        source: Name of the mapping in error messages.
        judge: Check of the parameters.

    Returns:
        The parameters, which ``judge`` has not checked.

    Raises:
        ConfigError: Lists every fault with its key and the correction.
    """
    try:
        return parameters_from(skill, data, arm, source)
    except ConfigError as error:
        named = [
            field for field in object_fields(skill) if any(f.startswith("objects: ") for f in error.faults)
        ]
        named_faults = [f for f in error.faults if f not in {f"{field}: missing; add it" for field in named}]
        bad = {*named, *(_field(fault) for fault in error.faults)}
        raise ConfigError(source, [*named_faults, *_of_the_rest(skill, data, arm, bad, judge)]) from error


def in_words(verdict: Outcome) -> list[str]:
    """Describe every fault as ``field: fault; correction (code)``.

    Args:
        verdict: Outcome of a check.

    Returns:
        One text for each fault; empty for none.
    """
    if verdict.ok:
        return []
    return [f"{one.field_name}: {one.message} ({one.code.name})".lstrip(": ") for one in verdict.all]


def apart_from(verdict: Outcome, bad: set[str]) -> tuple[Outcome, ...]:
    """Return the faults that do not follow from fields with an earlier fault, which now have their defaults.

    Args:
        verdict: Outcome of a check.
        bad: Names of the fields with an earlier fault.

    Returns:
        The other faults; empty for none.
    """
    return tuple(
        one
        for one in verdict.all
        if not one.ok and _field(one.field_name) not in bad and not _compares(one, bad)
    )


def _compares(fault: Outcome, bad: set[str]) -> bool:
    return fault.code is Code.CONTRADICTION and any(re.search(rf"\b{name}\b", fault.message) for name in bad)


def _of_the_rest(
    skill: Skill[P], data: Mapping[str, Any], arm: str, bad: set[str], judge: Judge
) -> list[str]:
    hints = typing.get_type_hints(skill.params_type)
    rest: dict[str, Any] = {key: value for key, value in data.items() if key not in bad}
    for field in dataclasses.fields(skill.params_type):  # type: ignore[arg-type]
        is_needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if is_needed and field.name in bad:
            rest[field.name] = _blank(hints[field.name])
    try:
        verdict = judge(parameters_from(skill, rest, "" if "arm" in bad else arm, ""))
    except Exception:  # noqa: BLE001 - the known faults are reported; a skill may fail on a stand-in
        return []
    return [word for one in apart_from(verdict, bad) for word in in_words(one)]


def _field(fault: str) -> str:
    return re.split(r"[.\[:]", fault, maxsplit=1)[0]


def _blank(hint: object) -> object:
    """Return a stand-in for a value that must be given."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return [] if Ellipsis in args else [_blank(arg) for arg in args]
    if origin in (types.UnionType, typing.Union):
        return _blank(args[0])
    return next((blank for kind, blank in BLANKS if hint is kind), None)
