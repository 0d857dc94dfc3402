"""Reads declarative XML launch files, as ``ros2 launch`` does, into typed values. Nothing is evaluated or started here.

The semantics are those of launch and launch_ros in Jazzy (ros2/launch, ros2/launch_ros, both Apache-2.0). Unsupported
elements and attributes are refused with their place, never skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.parsers import expat

from handiwork_core.config.dataclass_loader import nearest

from .element import Element, read_elements
from .model import (
    Action,
    Argument,
    Executable,
    GroupAction,
    Include,
    LaunchCondition,
    LaunchError,
    LaunchFile,
    Let,
    NodeAction,
    Parameter,
    ParameterFile,
    ProcessOptions,
    PushNamespace,
    SetEnvironment,
    SetParameter,
    SetRemap,
    Template,
)
from .text import TYPES, split_words


def parse_file(path: Path) -> LaunchFile:
    """Read one launch file.

    Args:
        path: The file.

    Raises:
        LaunchError: The file is missing, is not XML, or has something unsupported; with file and line.
    """
    try:
        root = read_elements(path)
    except OSError as error:
        raise LaunchError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    except expat.ExpatError as error:
        raise LaunchError(
            f"{path}:{error.lineno}: {expat.ErrorString(error.code)}; correct the XML there"
        ) from error
    if root.tag != "launch":
        raise root.place.error(f"the top element is <{root.tag}>; write <launch>")
    actions = tuple(_action(child) for child in root.children())
    root.close()
    return LaunchFile(path, actions)


def _action(element: Element) -> Action:
    read = _READERS.get(element.tag)
    if read is None:
        raise element.place.error(f"<{element.tag}> is not supported; {nearest(element.tag, list(_READERS))}")
    action = read(element, LaunchCondition(element.optional("if"), element.optional("unless")))
    element.close()
    return action


def _argument(element: Element, condition: LaunchCondition) -> Argument:
    choices = tuple(child.text("value") for child in element.take("choice"))
    default, description = element.optional("default"), element.text("description", "")
    return Argument(element.place, condition, element.text("name"), default, description, choices)


def _let(element: Element, condition: LaunchCondition) -> Let:
    return Let(element.place, condition, element.required("name"), element.required("value"))


def _set_env(element: Element, condition: LaunchCondition) -> SetEnvironment:
    return SetEnvironment(element.place, condition, element.required("name"), element.required("value"))


def _push_namespace(element: Element, condition: LaunchCondition) -> PushNamespace:
    return PushNamespace(element.place, condition, element.required("namespace"))


def _set_remap(element: Element, condition: LaunchCondition) -> SetRemap:
    return SetRemap(element.place, condition, element.required("from"), element.required("to"))


def _set_parameter(element: Element, condition: LaunchCondition) -> SetParameter:
    name, value = element.required("name"), element.required("value")
    return SetParameter(element.place, condition, Parameter(element.place, name, value, ""))


def _set_parameters_from_file(element: Element, condition: LaunchCondition) -> SetParameter:
    source = element.required("filename")
    return SetParameter(element.place, condition, ParameterFile(element.place, source))


def _include(element: Element, condition: LaunchCondition) -> Include:
    return Include(
        element.place, condition, element.required("file"), _pairs(element, "arg", "name", "value")
    )


def _group(element: Element, condition: LaunchCondition) -> GroupAction:
    scoped = element.boolean("scoped", True)
    return GroupAction(
        element.place, condition, scoped, tuple(_action(child) for child in element.children())
    )


def _node(element: Element, condition: LaunchCondition) -> NodeAction:
    element.text("output", "")  # all output is printed on the screen
    return NodeAction(
        place=element.place,
        condition=condition,
        options=_options(element),
        package=element.required("pkg"),
        executable=element.required("exec"),
        name=element.optional("name"),
        namespace=element.optional("namespace"),
        arguments=_words(element.optional("args")),
        ros_arguments=_words(element.optional("ros_args")),
        parameters=tuple(p for child in element.take("param") for p in _parameters(child, ())),
        remaps=_pairs(element, "remap", "from", "to"),
    )


def _executable(element: Element, condition: LaunchCondition) -> Executable:
    element.text("output", "")
    command = _words(element.required("cmd"))
    return Executable(element.place, condition, _options(element), element.optional("name"), command)


def _options(element: Element) -> ProcessOptions:
    on_exit = element.text("on_exit", "")
    if on_exit not in ("", "shutdown"):
        raise element.place.error(f"on_exit is {on_exit!r}; write shutdown, or remove it")
    return ProcessOptions(
        required=bool(on_exit),
        respawn=element.optional("respawn") or ("false",),
        respawn_delay_s=element.seconds("respawn_delay", 0.0),
        respawn_limit=int(element.seconds("respawn_max_retries", -1.0, least=-1.0)),
        sigterm_after_s=element.seconds("sigterm_timeout", 5.0),
        sigkill_after_s=element.seconds("sigkill_timeout", 5.0),
        environment=_pairs(element, "env", "name", "value"),
        cwd=element.optional("cwd"),
    )


def _parameters(element: Element, prefix: Template) -> tuple[Parameter | ParameterFile, ...]:
    """Read one ``<param>``; nested ones become parameters whose names are joined by dots."""
    source = element.optional("from") if not prefix else None
    if source is not None:
        element.close()
        return (ParameterFile(element.place, source),)
    name = (*prefix, *element.required("name"))
    value, kind, nested = element.optional("value"), element.text("type", ""), element.take("param")
    element.close()
    if (value is None) == (not nested):
        raise element.place.error(
            "a <param> has either a value or <param> elements inside; write one of them"
        )
    if kind and kind not in TYPES:
        raise element.place.error(f"type is {kind!r}; {nearest(kind, TYPES)}")
    if value is not None:
        return (Parameter(element.place, name, value, kind),)
    return tuple(p for child in nested for p in _parameters(child, (*name, ".")))


def _pairs(element: Element, tag: str, first: str, second: str) -> tuple[tuple[Template, Template], ...]:
    pairs = []
    for child in element.take(tag):
        pairs.append((child.required(first), child.required(second)))
        child.close()
    return tuple(pairs)


def _words(template: Template | None) -> tuple[Template, ...]:
    return split_words(template) if template is not None else ()


_READERS: dict[str, Callable[[Element, LaunchCondition], Action]] = {
    "arg": _argument,
    "let": _let,
    "set_env": _set_env,
    "push_ros_namespace": _push_namespace,
    "push-ros-namespace": _push_namespace,
    "set_remap": _set_remap,
    "set_parameter": _set_parameter,
    "set_parameters_from_file": _set_parameters_from_file,
    "include": _include,
    "group": _group,
    "node": _node,
    "executable": _executable,
}
