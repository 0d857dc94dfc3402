"""The variables, environment and namespace at one place of a launch file."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import LaunchError, SourceLine, Template
from .substitutions import evaluate
from .text import truth


@dataclass
class Scope:
    """The state that a scoped group restores at its end: variables, environment and namespace."""

    variables: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    namespace: str = ""

    def copy(self) -> Scope:
        """Return an independent scope with the same content."""
        return Scope(dict(self.variables), dict(self.environment), self.namespace)

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
