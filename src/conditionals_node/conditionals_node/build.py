"""From a name and a mapping of arguments to a predicate, strictly."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from handiwork_core.config import ConfigError, load, nearest, parse
from handiwork_core.predicate import Predicate
from handiwork_core.registry import collect
from handiwork_core.robot import Robot

from .predicates import BUILTIN, ENTRY_POINTS
from .predicates.checks import NeedsRobot


@dataclass(frozen=True, slots=True)
class ConditionSpec:
    """One entry of a conditions file. ``hold_s``: how long a new value must last before it counts [s]."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    hold_s: float = 0.0

    def __post_init__(self) -> None:
        if self.hold_s < 0.0:
            raise ValueError(f"hold_s {self.hold_s} must not be negative")


@dataclass(frozen=True, slots=True)
class ConditionsFile:
    """The conditions that are watched from the start."""

    conditions: tuple[ConditionSpec, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """A predicate under its unique ``key``; ``args`` is a YAML mapping of what differs from the defaults."""

    key: str
    name: str
    args: str
    predicate: Predicate
    hold_s: float = 0.0


class Builder:
    """Knows all predicates, built-in and plugged in, and the robot that fills in left out arguments."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self.kinds: dict[str, type[Predicate]] = collect(BUILTIN, ENTRY_POINTS)

    def build(self, name: str, args: Mapping[str, Any], hold_s: float = 0.0) -> Condition:
        """Make one condition.

        Raises:
            ConfigError: no such predicate, or unknown, missing or wrong arguments; keys are ``name`` and ``args``.
        """
        if name not in self.kinds:
            fault = f"name: no predicate {name!r}; {nearest(name, list(self.kinds))}"
            raise ConfigError(f"condition {name!r}", [fault])
        predicate: Predicate = parse(self.kinds[name], args, f"args of {name}")
        given = explicit(predicate)
        key = f"{name}({', '.join(f'{k}={_short(v)}' for k, v in given.items())})"
        text = yaml.safe_dump(given, default_flow_style=True, sort_keys=False, width=10_000).strip()
        if isinstance(predicate, NeedsRobot):
            try:
                predicate = predicate.for_robot(self._robot)
            except ValueError as error:
                raise ConfigError(f"args of {name}", [str(error)]) from error
        return Condition(key, name, text, predicate, hold_s)

    def build_text(self, name: str, args: str) -> Condition:
        """``build`` with the arguments as a YAML mapping; empty text is none.

        Raises:
            ConfigError: see ``build``; also for text that is no YAML mapping.
        """
        try:
            data = yaml.safe_load(args) if args.strip() else {}
        except yaml.YAMLError as error:
            fault = f"args: {args!r} is not YAML; write a mapping such as {{object: cube}}"
            raise ConfigError(f"condition {name!r}", [fault]) from error
        if not isinstance(data, dict):
            fault = f"args: is {args!r}; write a mapping such as {{object: cube}}"
            raise ConfigError(f"condition {name!r}", [fault])
        return self.build(name, data)

    def load(self, path: Path) -> list[Condition]:
        """All conditions of a file.

        Raises:
            ConfigError: with every fault of every entry.
        """
        faults: list[str] = []
        found = [self._entry(i, spec, faults) for i, spec in enumerate(load(ConditionsFile, path).conditions)]
        if faults:
            raise ConfigError(str(path), faults)
        return [condition for condition in found if condition is not None]

    def _entry(self, index: int, spec: ConditionSpec, faults: list[str]) -> Condition | None:
        try:
            return self.build(spec.name, spec.args, spec.hold_s)
        except ConfigError as error:
            faults += [f"conditions[{index}].{fault}" for fault in error.faults]
            return None


def explicit(predicate: Predicate) -> dict[str, object]:
    """Arguments that differ from their defaults, as YAML would write them."""
    if not dataclasses.is_dataclass(predicate):
        raise TypeError(f"predicate {predicate!r} is no dataclass; make it one")
    found = {}
    for item in dataclasses.fields(predicate):
        value = getattr(predicate, item.name)
        if value != item.default:
            found[item.name] = _plain(value)
    return found


def _plain(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _short(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)
