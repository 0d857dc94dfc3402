"""What a declarative launch file says, as values: text with substitutions, actions, and the resulting processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


class LaunchError(ValueError):
    """A launch file, an argument or a package is wrong; the message begins with file:line where there is one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is written."""

    file: Path
    line: int

    def error(self, message: str) -> LaunchError:
        """The fault of this place."""
        return LaunchError(f"{self.file}:{self.line}: {message}")


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(name argument ...)``; an argument may hold substitutions itself."""

    name: str
    arguments: tuple[Template, ...]


Template = tuple["str | Substitution", ...]
"""Text and substitutions in order; their values are joined."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The ``if`` and ``unless`` attributes of an action; None where not written."""

    wanted: Template | None = None
    unwanted: Template | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """``<arg>`` at the top of a file: ``default`` is None for a required one; empty ``choices`` allow anything."""

    place: Place
    condition: Condition
    name: str
    default: Template | None
    description: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Let:
    """``<let>``: set a variable from here on."""

    place: Place
    condition: Condition
    name: Template
    value: Template


@dataclass(frozen=True, slots=True)
class SetEnvironment:
    """``<set_env>``: a variable of the processes started from here on, within the group."""

    place: Place
    condition: Condition
    name: Template
    value: Template


@dataclass(frozen=True, slots=True)
class PushNamespace:
    """``<push_ros_namespace>``: a prefix to the namespaces of the nodes from here on, within the group."""

    place: Place
    condition: Condition
    namespace: Template


@dataclass(frozen=True, slots=True)
class Include:
    """``<include>``: another file, with these variables set before it."""

    place: Place
    condition: Condition
    file: Template
    arguments: tuple[tuple[Template, Template], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """``<group>``: what a scoped group sets is forgotten after it."""

    place: Place
    condition: Condition
    scoped: bool
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """``<param>`` with a name: ``type`` is a type identifier of launch, empty for YAML's own rules."""

    place: Place
    name: Template
    value: Template
    type: str


@dataclass(frozen=True, slots=True)
class ParameterFile:
    """``<param from>``: a ROS parameter file."""

    place: Place
    file: Template


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """What nodes and executables share. ``required``: ``on_exit="shutdown"``, its end ends everything."""

    required: bool = False
    respawn: Template = ("false",)
    respawn_delay_s: float = 0.0
    respawn_limit: int = -1
    sigterm_after_s: float = 5.0
    sigkill_after_s: float = 5.0
    environment: tuple[tuple[Template, Template], ...] = ()
    cwd: Template | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """``<node>``; arguments are words that may hold substitutions."""

    place: Place
    condition: Condition
    options: ProcessOptions
    package: Template
    executable: Template
    name: Template | None
    namespace: Template | None
    arguments: tuple[Template, ...]
    ros_arguments: tuple[Template, ...]
    parameters: tuple[Parameter | ParameterFile, ...]
    remaps: tuple[tuple[Template, Template], ...]


@dataclass(frozen=True, slots=True)
class Executable:
    """``<executable cmd>``: any program."""

    place: Place
    condition: Condition
    options: ProcessOptions
    name: Template | None
    command: tuple[Template, ...]


Action = Argument | Let | SetEnvironment | PushNamespace | Include | Group | Node | Executable


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """One file, parsed."""

    path: Path
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """One process to run. ``label`` is unique and prefixes its output; ``environment`` is added to the runner's."""

    label: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    required: bool = False
    respawn: bool = False
    respawn_delay_s: float = 0.0
    respawn_limit: int = -1
    sigterm_after_s: float = 5.0
    sigkill_after_s: float = 5.0


def node_names(specs: Iterable[ProcessSpec]) -> tuple[str, ...]:
    """Return the full names of the nodes that processes run: namespace and label."""
    names = []
    for spec in specs:
        spaces = [word.removeprefix("__ns:=") for word in spec.command if word.startswith("__ns:=")]
        names.append(f"{(spaces or ['/'])[-1].rstrip('/')}/{spec.label}")
    return tuple(names)
