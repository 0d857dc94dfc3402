"""The processes that the actions ``node`` and ``executable`` of a launch file start."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from .model import (
    Executable,
    LaunchError,
    NodeAction,
    Parameter,
    ParameterFile,
    ProcessOptions,
    ProcessSpec,
    SourceLine,
    Template,
)
from .package_paths import executable_of
from .scope import Scope
from .text import typed


def node_process(node: NodeAction, scope: Scope) -> ProcessSpec:
    """Return the process of a ROS node.

    Args:
        node: The action.
        scope: The variables, environment and namespace at its place.

    Raises:
        LaunchError: The executable is not found, or a text or value is invalid; with file and line.
    """

    def text(template: Template) -> str:
        return scope.text(template, node.place)

    package, executable = text(node.package), text(node.executable)
    try:
        program = executable_of(package, executable)
    except LaunchError as error:
        raise node.place.error(str(error)) from error
    command = [str(program), *map(text, node.arguments), "--ros-args", *map(text, node.ros_arguments)]
    if node.name is not None:
        command += ["-r", f"__node:={text(node.name)}"]
    namespace = scope.inner_namespace(text(node.namespace) if node.namespace is not None else "")
    if namespace:
        command += ["-r", f"__ns:={namespace}"]
    command += [*scope.parameters, *parameter_words(node.parameters, scope)]
    # As in launch_ros: the first rule for a name counts, so those of <set_remap> count more than the node's own.
    for source, target in [*scope.remaps, *((text(a), text(b)) for a, b in node.remaps)]:
        command += ["-r", f"{source}:={target}"]
    label = text(node.name) if node.name is not None else executable
    return _spec(label, command, node.options, node.place, scope)


def parameter_words(parameters: Sequence[Parameter | ParameterFile], scope: Scope) -> list[str]:
    """Return parameters as words of the command line of a node.

    Args:
        parameters: The parameters and parameter files.
        scope: The variables at their place.

    Raises:
        LaunchError: A file does not exist, or a text or value is invalid; with file and line.
    """
    words: list[str] = []
    for parameter in parameters:
        if isinstance(parameter, ParameterFile):
            path = Path(scope.text(parameter.file, parameter.place))
            if not path.is_file():
                raise parameter.place.error(f"parameter file {path} does not exist; correct the path")
            words += ["--params-file", str(path)]
            continue
        name = scope.text(parameter.name, parameter.place)
        try:
            value = typed(scope.text(parameter.value, parameter.place), parameter.type)
        except LaunchError:
            raise
        except ValueError as error:
            raise parameter.place.error(f"parameter {name!r}: {error}") from error
        # JSON is YAML in which every string is quoted, so that "1" stays text.
        words += ["-p", f"{name}:={json.dumps(value)}"]
    return words


def executable_process(action: Executable, scope: Scope) -> ProcessSpec:
    """Return the process of any other program.

    Args:
        action: The action.
        scope: The variables and environment at its place.

    Raises:
        LaunchError: The command is empty, or a text is invalid; with file and line.
    """
    command = [scope.text(word, action.place) for word in action.command]
    if not command:
        raise action.place.error("cmd is empty; write a command")
    label = scope.text(action.name, action.place) if action.name is not None else Path(command[0]).name
    return _spec(label, command, action.options, action.place, scope)


def _spec(
    label: str, command: list[str], options: ProcessOptions, place: SourceLine, scope: Scope
) -> ProcessSpec:
    environment = dict(scope.environment)
    for name, value in options.environment:
        environment[scope.text(name, place)] = scope.text(value, place)
    return ProcessSpec(
        label=label,
        command=tuple(command),
        environment=environment,
        cwd=scope.text(options.cwd, place) if options.cwd is not None else None,
        required=options.required,
        respawn=scope.truth(options.respawn, place),
        respawn_delay_s=options.respawn_delay_s,
        respawn_limit=options.respawn_limit,
        sigterm_after_s=options.sigterm_after_s,
        sigkill_after_s=options.sigkill_after_s,
    )
