"""Evaluates parsed launch files with given arguments to the processes that must run, in order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from handiwork_core.config.dataclass_loader import nearest

from .model import (
    Action,
    Argument,
    Executable,
    GroupAction,
    Include,
    LaunchCondition,
    LaunchError,
    Let,
    NodeAction,
    ParameterFile,
    ProcessOptions,
    ProcessSpec,
    PushNamespace,
    SetEnvironment,
    SourceLine,
    Template,
)
from .package_paths import executable_of
from .substitutions import evaluate
from .text import truth, typed
from .xml_reader import parse_file

MAX_DEPTH = 20
"""The largest depth of includes; more is a circle."""


@dataclass
class Scope:
    """The state that a scoped group restores at its end: variables, environment and namespace."""

    variables: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    namespace: str = ""

    def copy(self) -> Scope:
        """Return an independent scope with the same content."""
        return Scope(dict(self.variables), dict(self.environment), self.namespace)


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
    evaluator.file(path, Scope(dict(arguments)), depth=0)
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
            name = _text(action.name, action.place, scope)
            scope.variables[name] = _text(action.value, action.place, scope)
        elif isinstance(action, SetEnvironment):
            name = _text(action.name, action.place, scope)
            scope.environment[name] = _text(action.value, action.place, scope)
        elif isinstance(action, PushNamespace):
            scope.namespace = _join_namespace(scope.namespace, _text(action.namespace, action.place, scope))
        elif isinstance(action, Include):
            self._include(action, scope, depth)
        elif isinstance(action, GroupAction):
            inner = scope.copy() if action.scoped else scope
            for member in action.actions:
                self._run(member, inner, depth)
        elif isinstance(action, NodeAction):
            self.found.append(_node(action, scope))
        else:
            self.found.append(_executable(action, scope))

    def _include(self, action: Include, scope: Scope, depth: int) -> None:
        # As in ros2 launch, settings of an included file persist; a group around the include limits them.
        path = Path(_text(action.file, action.place, scope))
        for name, value in action.arguments:
            scope.variables[_text(name, action.place, scope)] = _text(value, action.place, scope)
        if not path.is_file():
            raise action.place.error(f"included file {path} does not exist; correct the path")
        self.file(path, scope, depth + 1)


def _text(template: Template, place: SourceLine, scope: Scope) -> str:
    return evaluate(template, place, scope.variables, scope.environment)


def _holds(condition: LaunchCondition, place: SourceLine, scope: Scope) -> bool:
    if condition.wanted is not None and condition.unwanted is not None:
        raise place.error("has both if and unless; write one of them")
    template = condition.wanted if condition.wanted is not None else condition.unwanted
    if template is None:
        return True
    return _truth(template, place, scope) == (condition.wanted is not None)


def _truth(template: Template, place: SourceLine, scope: Scope) -> bool:
    try:
        return truth(_text(template, place, scope))
    except LaunchError:
        raise
    except ValueError as error:
        raise place.error(str(error)) from error


def _declare(argument: Argument, scope: Scope) -> None:
    if argument.name not in scope.variables:
        if argument.default is None:
            raise argument.place.error(f"argument {argument.name!r} has no value; give {argument.name}:=...")
        scope.variables[argument.name] = _text(argument.default, argument.place, scope)
    value = scope.variables[argument.name]
    if argument.choices and value not in argument.choices:
        raise argument.place.error(
            f"argument {argument.name!r} is {value!r}; {nearest(value, argument.choices)}"
        )


def _node(node: NodeAction, scope: Scope) -> ProcessSpec:
    def text(template: Template) -> str:
        return _text(template, node.place, scope)

    package, executable = text(node.package), text(node.executable)
    try:
        program = executable_of(package, executable)
    except LaunchError as error:
        raise node.place.error(str(error)) from error
    command = [str(program), *map(text, node.arguments), "--ros-args", *map(text, node.ros_arguments)]
    if node.name is not None:
        command += ["-r", f"__node:={text(node.name)}"]
    namespace = _join_namespace(scope.namespace, text(node.namespace) if node.namespace is not None else "")
    if namespace:
        command += ["-r", f"__ns:={namespace}"]
    command += _parameter_words(node, scope)
    for source, target in node.remaps:
        command += ["-r", f"{text(source)}:={text(target)}"]
    label = text(node.name) if node.name is not None else executable
    return _spec(label, command, node.options, node.place, scope)


def _parameter_words(node: NodeAction, scope: Scope) -> list[str]:
    words: list[str] = []
    for parameter in node.parameters:
        if isinstance(parameter, ParameterFile):
            path = Path(_text(parameter.file, parameter.place, scope))
            if not path.is_file():
                raise parameter.place.error(f"parameter file {path} does not exist; correct the path")
            words += ["--params-file", str(path)]
            continue
        name = _text(parameter.name, parameter.place, scope)
        try:
            value = typed(_text(parameter.value, parameter.place, scope), parameter.type)
        except LaunchError:
            raise
        except ValueError as error:
            raise parameter.place.error(f"parameter {name!r}: {error}") from error
        # JSON is YAML in which every string is quoted, so that "1" stays text.
        words += ["-p", f"{name}:={json.dumps(value)}"]
    return words


def _executable(action: Executable, scope: Scope) -> ProcessSpec:
    command = [_text(word, action.place, scope) for word in action.command]
    if not command:
        raise action.place.error("cmd is empty; write a command")
    label = _text(action.name, action.place, scope) if action.name is not None else Path(command[0]).name
    return _spec(label, command, action.options, action.place, scope)


def _spec(
    label: str, command: list[str], options: ProcessOptions, place: SourceLine, scope: Scope
) -> ProcessSpec:
    environment = dict(scope.environment)
    for name, value in options.environment:
        environment[_text(name, place, scope)] = _text(value, place, scope)
    return ProcessSpec(
        label=label,
        command=tuple(command),
        environment=environment,
        cwd=_text(options.cwd, place, scope) if options.cwd is not None else None,
        required=options.required,
        respawn=_truth(options.respawn, place, scope),
        respawn_delay_s=options.respawn_delay_s,
        respawn_limit=options.respawn_limit,
        sigterm_after_s=options.sigterm_after_s,
        sigkill_after_s=options.sigkill_after_s,
    )


def _join_namespace(outer: str, inner: str) -> str:
    """Return an absolute inner namespace as it is, and a relative one behind the outer one."""
    if inner.startswith("/"):
        return inner.rstrip("/")
    joined = "/".join(part.strip("/") for part in (outer, inner) if part.strip("/"))
    return f"/{joined}" if joined else ""
