"""The variables, environment, namespace, remappings and parameters at one place of a launch file."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import LaunchError, SourceLine, Template
from .substitutions import evaluate
from .text import truth


@dataclass
class Scope:
    """The state that a scoped group restores at its end: variables, environment, namespace, remappings, parameters.

    Attributes:
        variables: Values of arguments and of ``<let>``.
        environment: Is added to that of the processes.
        namespace: Absolute namespace of the nodes; empty for the root.
        remaps: Names and their targets, of all nodes.
        parameters: Words of the command line with the parameters of all nodes.
    """

    variables: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    namespace: str = ""
    remaps: list[tuple[str, str]] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)

    def copy(self) -> Scope:
        """Return an independent scope with the same content."""
        return Scope(
            dict(self.variables), dict(self.environment), self.namespace, [*self.remaps], [*self.parameters]
        )

    def text(self, template: Template, place: SourceLine) -> str:
        """Return the value of a template.

        Args:
            template: Text and substitutions.
            place: File and line, for errors.

        Raises:
            LaunchError: See ``evaluate``.
        """
        return evaluate(template, place, self.variables, self.environment)

    def truth(self, template: Template, place: SourceLine) -> bool:
        """Return the truth of a template's value.

        Args:
            template: Text and substitutions.
            place: File and line, for errors.

        Raises:
            LaunchError: The value is neither true nor false, or see ``evaluate``.
        """
        try:
            return truth(self.text(template, place))
        except LaunchError:
            raise
        except ValueError as error:
            raise place.error(str(error)) from error

    def inner_namespace(self, inner: str) -> str:
        """Return an absolute inner namespace as it is, and a relative one behind the present one.

        Args:
            inner: The inner namespace.
        """
        if inner.startswith("/"):
            return inner.rstrip("/")
        joined = "/".join(part.strip("/") for part in (self.namespace, inner) if part.strip("/"))
        return f"/{joined}" if joined else ""
