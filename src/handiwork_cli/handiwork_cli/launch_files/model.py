"""The content of a launch file as values: text with substitutions, actions, and the resulting processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


class LaunchError(ValueError):
    """A launch file, an argument or a package is wrong; the message begins with file:line when there is one."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file."""

    file: Path
    line: int

    def error(self, message: str) -> LaunchError:
        """Return the error for a fault at this place.

        Args:
            message: The fault.
        """
        return LaunchError(f"{self.file}:{self.line}: {message}")


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(name argument ...)``; an argument may contain substitutions."""

    name: str
    arguments: tuple[Template, ...]


Template = tuple["str | Substitution", ...]
"""Text and substitutions in order; their values are joined."""


@dataclass(frozen=True, slots=True)
class LaunchCondition:
    """The ``if`` and ``unless`` attributes of an action; None when they are not there."""

    wanted: Template | None = None
    unwanted: Template | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """``<arg>`` at the top of a file.

    Attributes:
        place: File and line.
        condition: Its ``if`` and ``unless``.
        name: Name of the argument.
        default: Its default; None for a required argument.
        description: Text for users.
        choices: Valid values; empty allows any.
    """

    place: SourceLine
    condition: LaunchCondition
    name: str
    default: Template | None
    description: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Let:
    """``<let>``: sets a variable from here on."""

    place: SourceLine
    condition: LaunchCondition
    name: Template
    value: Template


@dataclass(frozen=True, slots=True)
class SetEnvironment:
    """``<set_env>``: sets an environment variable of the processes from here on, within the group."""

    place: SourceLine
    condition: LaunchCondition
    name: Template
    value: Template


@dataclass(frozen=True, slots=True)
class PushNamespace:
    """``<push_ros_namespace>``: a prefix of the namespaces of the nodes from here on, within the group."""

    place: SourceLine
    condition: LaunchCondition
    namespace: Template


@dataclass(frozen=True, slots=True)
class SetRemap:
    """``<set_remap>``: a remapping of the names of the nodes from here on, within the group."""

    place: SourceLine
    condition: LaunchCondition
    source: Template
    target: Template


@dataclass(frozen=True, slots=True)
class SetParameter:
    """``<set_parameter>``: a parameter of the nodes from here on, within the group; those of the node count more."""

    place: SourceLine
    condition: LaunchCondition
    parameter: Parameter | ParameterFile


@dataclass(frozen=True, slots=True)
class Include:
    """``<include>``: another file, with these variables set before it."""

    place: SourceLine
    condition: LaunchCondition
    file: Template
    arguments: tuple[tuple[Template, Template], ...]


@dataclass(frozen=True, slots=True)
class GroupAction:
    """``<group>``: a scoped group restores variables, environment and namespace at its end."""

    place: SourceLine
    condition: LaunchCondition
    scoped: bool
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """``<param>`` with a name.

    Attributes:
        place: File and line.
        name: Name of the parameter.
        value: Its value.
        type: Type identifier of launch; empty for the rules of YAML.
    """

    place: SourceLine
    name: Template
    value: Template
    type: str


@dataclass(frozen=True, slots=True)
class ParameterFile:
    """``<param from>``: a ROS parameter file."""

    place: SourceLine
    file: Template


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """The options that nodes and executables share.

    Attributes:
        required: Whether the end of the process ends all (``on_exit="shutdown"``).
        respawn: Whether the process is started again after its end.
        respawn_delay_s: Time before that, s.
        respawn_limit: Largest number of restarts; negative for no limit.
        sigterm_after_s: Time from SIGINT to SIGTERM, s.
        sigkill_after_s: Time from SIGTERM to SIGKILL, s.
        environment: Names and values that are added to the environment.
        cwd: Working directory; None for that of the runner.
    """

    required: bool = False
    respawn: Template = ("false",)
    respawn_delay_s: float = 0.0
    respawn_limit: int = -1
    sigterm_after_s: float = 5.0
    sigkill_after_s: float = 5.0
    environment: tuple[tuple[Template, Template], ...] = ()
    cwd: Template | None = None


@dataclass(frozen=True, slots=True)
class NodeAction:
    """``<node>``; arguments are words that may contain substitutions."""

    place: SourceLine
    condition: LaunchCondition
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

    place: SourceLine
    condition: LaunchCondition
    options: ProcessOptions
    name: Template | None
    command: tuple[Template, ...]


Action = (
    Argument
    | Let
    | SetEnvironment
    | PushNamespace
    | SetRemap
    | SetParameter
    | Include
    | GroupAction
    | NodeAction
    | Executable
)


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """One file, parsed."""

    path: Path
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """One process to run.

    Attributes:
        label: Unique name, which prefixes its output.
        command: Program and arguments.
        environment: Is added to the runner's environment.
        cwd: Working directory; None for that of the runner.
        required: Whether its end ends all.
        respawn: Whether it is started again after its end.
        respawn_delay_s: Time before that, s.
        respawn_limit: Largest number of restarts; negative for no limit.
        sigterm_after_s: Time from SIGINT to SIGTERM, s.
        sigkill_after_s: Time from SIGTERM to SIGKILL, s.
    """

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
    """Return the full names of the nodes that processes run: namespace and label.

    Args:
        specs: The processes.
    """
    names = []
    for spec in specs:
        spaces = [word.removeprefix("__ns:=") for word in spec.command if word.startswith("__ns:=")]
        names.append(f"{(spaces or ['/'])[-1].rstrip('/')}/{spec.label}")
    return tuple(names)
