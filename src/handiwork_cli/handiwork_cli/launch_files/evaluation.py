"""Evaluates parsed launch files with given arguments to the processes that must run, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from handiwork_core.config.dataclass_loader import nearest

from .model import (
    Action,
    Argument,
    GroupAction,
    Include,
    LaunchCondition,
    LaunchError,
    Let,
    NodeAction,
    ProcessSpec,
    PushNamespace,
    SetEnvironment,
    SetParameter,
    SetRemap,
    SourceLine,
)
from .process_spec import executable_process, node_process, parameter_words
from .scope import Scope
from .xml_reader import parse_file

MAX_DEPTH = 20
"""The largest depth of includes; more is a circle."""

RUNNER = "is_handiwork_launch"
"""The variable by which a launch file leaves out what only ROS's launch needs, such as files in Python."""


def declared_arguments(path: Path) -> tuple[Argument, ...]:
    """Return the arguments that a file declares itself, in groups too, without those of included files.

    Args:
        path: The launch file.

    Raises:
        LaunchError: The file is faulty.
    """

    def walk(actions: tuple[Action, ...]) -> list[Argument]:
        found: list[Argument] = []
        for action in actions:
            if isinstance(action, Argument):
                found.append(action)
            elif isinstance(action, GroupAction):
                found.extend(walk(action.actions))
        return found

    return tuple(walk(parse_file(path).actions))


def plan_processes(path: Path, arguments: Mapping[str, str]) -> tuple[ProcessSpec, ...]:
    """Evaluate a launch file.

    Args:
        path: The launch file.
        arguments: Values of its arguments by name.

    Returns:
        The processes in order, with unique labels.

    Raises:
        LaunchError: An argument is unknown, a value is invalid, or a file is faulty; with file and line.
    """
    known = [argument.name for argument in declared_arguments(path)]
    for name in arguments:
        if name not in known:
            raise LaunchError(f"{path}: argument {name!r} is not declared; {nearest(name, known)}")
    evaluator = _Evaluator()
    evaluator.file(path, Scope({**arguments, RUNNER: "true"}), depth=0)
    return _unique(evaluator.found)


def _unique(specs: list[ProcessSpec]) -> tuple[ProcessSpec, ...]:
    count, seen = Counter(spec.label for spec in specs), Counter[str]()
    named = []
    for spec in specs:
        seen[spec.label] += 1
        several = count[spec.label] > 1
        named.append(replace(spec, label=f"{spec.label}-{seen[spec.label]}") if several else spec)
    return tuple(named)


class _Evaluator:
    def __init__(self) -> None:
        self.found: list[ProcessSpec] = []

    def file(self, path: Path, scope: Scope, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise LaunchError(f"{path}: more than {MAX_DEPTH} files include one another; break the circle")
        for action in parse_file(path).actions:
            self._run(action, scope, depth)

    def _run(self, action: Action, scope: Scope, depth: int) -> None:
        if not _holds(action.condition, action.place, scope):
            return
        if isinstance(action, Argument):
            _declare(action, scope)
        elif isinstance(action, Let):
            name = scope.text(action.name, action.place)
            scope.variables[name] = scope.text(action.value, action.place)
        elif isinstance(action, SetEnvironment):
            name = scope.text(action.name, action.place)
            scope.environment[name] = scope.text(action.value, action.place)
        elif isinstance(action, PushNamespace):
            scope.namespace = scope.inner_namespace(scope.text(action.namespace, action.place))
        elif isinstance(action, SetRemap):
            scope.remaps.append(
                (scope.text(action.source, action.place), scope.text(action.target, action.place))
            )
        elif isinstance(action, SetParameter):
            scope.parameters += parameter_words((action.parameter,), scope)
        elif isinstance(action, Include):
            self._include(action, scope, depth)
        elif isinstance(action, GroupAction):
            inner = scope.copy() if action.scoped else scope
            for member in action.actions:
                self._run(member, inner, depth)
        elif isinstance(action, NodeAction):
            self.found.append(node_process(action, scope))
        else:
            self.found.append(executable_process(action, scope))

    def _include(self, action: Include, scope: Scope, depth: int) -> None:
        # As in ros2 launch, settings of an included file persist; a group around the include limits them.
        path = Path(scope.text(action.file, action.place))
        for name, value in action.arguments:
            scope.variables[scope.text(name, action.place)] = scope.text(value, action.place)
        if not path.is_file():
            raise action.place.error(f"included file {path} does not exist; correct the path")
        self.file(path, scope, depth + 1)


def _holds(condition: LaunchCondition, place: SourceLine, scope: Scope) -> bool:
    if condition.wanted is not None and condition.unwanted is not None:
        raise place.error("has both if and unless; write one of them")
    template = condition.wanted if condition.wanted is not None else condition.unwanted
    if template is None:
        return True
    return scope.truth(template, place) == (condition.wanted is not None)


def _declare(argument: Argument, scope: Scope) -> None:
    if argument.name not in scope.variables:
        if argument.default is None:
            raise argument.place.error(f"argument {argument.name!r} has no value; give {argument.name}:=...")
        scope.variables[argument.name] = scope.text(argument.default, argument.place)
    value = scope.variables[argument.name]
    if argument.choices and value not in argument.choices:
        raise argument.place.error(
            f"argument {argument.name!r} is {value!r}; {nearest(value, argument.choices)}"
        )
