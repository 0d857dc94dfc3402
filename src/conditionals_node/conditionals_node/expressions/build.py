"""Conditions from names, arguments and expressions, with strict checks."""

from __future__ import annotations

import itertools
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import yaml

from conditionals_node.arguments.argument_text import as_words, explicit
from conditionals_node.arguments.checks import NeedsRobot
from conditionals_node.composites import composite_hint
from conditionals_node.predicates import BUILTIN, ENTRY_POINTS
from handiwork_core.config.dataclass_loader import (
    ConfigError,
    mapping_from_yaml,
    nearest,
    parse,
)
from handiwork_core.contracts.plugins import collect
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.intake.limits import GOAL_YAML
from handiwork_core.robot.robot import Robot

from .expression import Expression, Leaf, all_true, any_true, choose
from .expression_text import Resolve, read_expression
from .tree import excess_of

MAX_PARTS = 256
"""Largest number of leaves that the lists of one call may expand to."""
FRAMES = ("world", "robot")
MOST_ABSENT = 3
"""Largest number of objects that one hint names."""


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """An expression under a unique key.

    Attributes:
        key: Unique text; that of the expression, or the name that a person gave it.
        name: Name of the predicate, or the name that a person gave it.
        args: YAML mapping of the arguments that differ from the predicate's defaults.
        expression: The tree.
        hold_s: Time that a new value must last before it counts, s.
        max_flip: Largest probability that noise turns it with which it is TRUE or FALSE; None: that of the monitor.
    """

    key: str
    name: str
    args: str
    expression: Expression
    hold_s: float = 0.0
    max_flip: float | None = None

    @property
    def predicate(self) -> Predicate:
        """The predicate of a condition that is a single one.

        Raises:
            TypeError: The condition is made of several predicates.
        """
        if not isinstance(self.expression, Leaf):
            raise TypeError(f"{self.key} is made of several predicates; look at its expression")
        return self.expression.predicate


class Builder:
    """Builds conditions from all predicates, built-in and plugged in.

    Args:
        robot: Fills in the arguments that are left out.
        known: Returns the names of the bodies in the world; None while these are not known: frames are not checked
            then.
    """

    def __init__(self, robot: Robot, known: Callable[[], Collection[str] | None] = lambda: None) -> None:
        self._robot, self._known = robot, known
        self.kinds: dict[str, type[Predicate]] = collect(BUILTIN, ENTRY_POINTS)

    def absent(self, expressions: Iterable[Expression]) -> str:
        """Return a hint on the objects of expressions that are not in the world.

        Args:
            expressions: The expressions.

        Returns:
            One sentence; empty if all are there, or while the world is not known.
        """
        known = self._known()
        if known is None:
            return ""
        predicates = [leaf.predicate for expression in expressions for leaf in expression.leaves()]
        named = dict.fromkeys(name for predicate in predicates for name in predicate.subjects())
        missing = [name for name in named if name not in (*FRAMES, *known)][:MOST_ABSENT]
        hints = [f"no object {name!r} is in the world, {nearest(name, [*known])}" for name in missing]
        return f"{'; '.join(hints)} Until it comes, its conditions are UNKNOWN" if hints else ""

    def build(self, name: str, args: Mapping[str, Any], hold_s: float = 0.0) -> Condition:
        """Build a condition of one predicate; lists for single objects are joined by ``logical`` and ``K``.

        Args:
            name: Name of the predicate.
            args: Its arguments by name.
            hold_s: Time that a new value must last before it counts, s.

        Returns:
            The condition.

        Raises:
            ConfigError: There is no such predicate, or arguments are unknown, missing or wrong; the faults begin
                with ``name`` or an argument.
        """
        expression = self.combined(name, args)
        text = expression.args if isinstance(expression, Leaf) else yaml_text(dict(args))
        return Condition(expression.key, name, text, expression, hold_s)

    def build_text(self, name: str, args: str, hold_s: float = 0.0) -> Condition:
        """Build a condition of one predicate from arguments in YAML.

        Args:
            name: Name of the predicate.
            args: A YAML mapping; empty text means no arguments.
            hold_s: Time that a new value must last before it counts, s.

        Returns:
            The condition.

        Raises:
            ConfigError: See ``build``; also for text that is no YAML mapping.
        """
        try:
            data = mapping_from_yaml(args, f"condition {name[:80]!r}", GOAL_YAML)
        except ConfigError as error:
            faults = [f"args: {args[:80]!r} is not YAML: {fault}" for fault in error.faults]
            raise ConfigError(error.source, faults) from error
        return self.build(name, data, hold_s)

    def build_expression(self, label: str, text: str, resolve: Resolve, hold_s: float = 0.0) -> Condition:
        """Build a condition of an expression.

        Args:
            label: Name of the condition; empty: it goes under its own text.
            text: The expression.
            resolve: Returns the expression behind a name.
            hold_s: Time that a new value must last before it counts, s.

        Returns:
            The condition.

        Raises:
            ConfigError: The label is not free, or the expression is wrong or too large; lists every fault with its
                column.
        """
        if label and (not label.isidentifier() or label in self.kinds):
            fault = f"name: {label!r} cannot be a name; use letters, digits and _, and none of a predicate"
            raise ConfigError(f"condition {label!r}", [fault])
        expression = read_expression(text, self, resolve)
        if fault := excess_of(expression):
            raise ConfigError("condition", [f"expression: {fault}"])
        return Condition(label or expression.key, label, "", expression, hold_s)

    def combined(self, name: str, args: Mapping[str, Any]) -> Expression:
        """Build one leaf for each listed object, and join them by ``logical`` and ``K``.

        Args:
            name: Name of the predicate. One that takes ``logical`` and ``K`` itself gets them.
            args: Its arguments by name, ``logical`` and ``K`` among them.

        Returns:
            The tree; a single leaf without lists.

        Raises:
            ConfigError: See ``build``.
        """
        own = {field.name for field in fields(self._kind(name))}  # type: ignore[arg-type]  # predicates are dataclasses
        logical = "all" if "logical" in own else args.get("logical", "all")
        k = 1 if "K" in own else args.get("K", 1)
        taken = {"logical", "K"} - own
        parts = self.parts(name, {key: value for key, value in args.items() if key not in taken})
        if type(k) is not int or not 0 <= k <= len(parts):
            fault = f"K: is {k!r}; with {len(parts)} objects write 0 to {len(parts)}"
            raise ConfigError(f"args of {name}", [fault])
        if logical == "choose":
            return choose(k, parts)
        if logical not in ("all", "any"):
            fault = f"logical: is {logical!r}; {nearest(str(logical), ['all', 'any', 'choose'])}"
            raise ConfigError(f"args of {name}", [fault])
        return all_true(parts) if logical == "all" else any_true(parts)

    def parts(self, name: str, args: Mapping[str, Any], *, split: bool = False) -> list[Leaf]:
        """Build one leaf for each entry of a list that is given in place of one object.

        Args:
            name: Name of the predicate.
            args: Its arguments by name. Several lists make all combinations.
            split: True to expand also the lists that the predicate would take itself.

        Returns:
            The leaves, in the order of the lists.

        Raises:
            ConfigError: See ``build``; also for an empty list, and for more than ``MAX_PARTS`` leaves.
        """
        hints = typing.get_type_hints(self._kind(name))
        spread = [key for key, value in args.items() if _spreads(hints.get(key), value, split)]
        empty = [key for key in spread if not args[key]]
        if empty:
            raise ConfigError(
                f"args of {name}", [f"{key}: is an empty list; name an object" for key in empty]
            )
        choices = list(itertools.islice(itertools.product(*(args[key] for key in spread)), MAX_PARTS + 1))
        if len(choices) > MAX_PARTS:
            raise ConfigError(
                f"args of {name}", [f"{spread[0]}: stands for more than {MAX_PARTS}; write fewer"]
            )
        return [self._leaf(name, {**args, **dict(zip(spread, choice, strict=True))}) for choice in choices]

    def _kind(self, name: str) -> type[Predicate]:
        if name not in self.kinds:
            hint = composite_hint(name) or nearest(name, list(self.kinds))
            fault = f"name: no predicate {name!r}; {hint}"
            raise ConfigError(f"condition {name!r}", [fault])
        return self.kinds[name]

    def _leaf(self, name: str, args: Mapping[str, Any]) -> Leaf:
        predicate: Predicate = parse(self._kind(name), args, f"args of {name}")
        given = explicit(predicate)
        self._check_frames(name, predicate)
        key = f"{name}({', '.join(f'{k}={as_words(v)}' for k, v in given.items())})"
        if isinstance(predicate, NeedsRobot):
            try:
                predicate = predicate.for_robot(self._robot)
            except ValueError as error:
                raise ConfigError(f"args of {name}", [str(error)]) from error
        return Leaf(key, name, yaml_text(given), predicate)

    def _check_frames(self, name: str, predicate: Predicate) -> None:
        known = self._known()
        wrong = [
            frame for frame in predicate.frames() if known is not None and frame not in (*FRAMES, *known)
        ]
        if wrong:
            faults = [
                f"frame_of_reference: no frame {frame!r}; {nearest(frame, [*FRAMES, *(known or ())])}"
                for frame in wrong
            ]
            raise ConfigError(f"args of {name}", faults)


def yaml_text(args: Mapping[str, object]) -> str:
    """Return arguments on one line of YAML.

    Args:
        args: Arguments by name.
    """
    return yaml.safe_dump(dict(args), default_flow_style=True, sort_keys=False, width=10_000).strip()


def _spreads(hint: object, value: object, split: bool) -> bool:
    """Return True for a list of texts where a single text is expected."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        return False
    return hint is str or (split and str in typing.get_args(hint))
