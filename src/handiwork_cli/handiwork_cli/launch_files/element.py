"""XML elements that know their line and find the parts that were not read."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from .model import SourceLine, Template
from .text import parse_template, truth


class Element:
    """One XML element. ``close`` refuses the attributes and elements that were not read before.

    Args:
        place: File and line.
        tag: Name of the element.
        attributes: Its attributes.
    """

    def __init__(self, place: SourceLine, tag: str, attributes: dict[str, str]) -> None:
        self.place, self.tag = place, tag
        self.inside: list[Element] = []
        self._attributes = attributes
        self._read: set[str] = set()
        self._taken: set[str] = set()

    def children(self) -> list[Element]:
        """Return all elements inside."""
        self._taken.update(child.tag for child in self.inside)
        return self.inside

    def take(self, tag: str) -> list[Element]:
        """Return the elements inside that have a tag.

        Args:
            tag: The tag.
        """
        self._taken.add(tag)
        return [child for child in self.inside if child.tag == tag]

    def optional(self, name: str) -> Template | None:
        """Return an attribute as a template; None when it is not there.

        Args:
            name: Name of the attribute.

        Raises:
            LaunchError: It has a malformed substitution.
        """
        self._read.add(name)
        if name not in self._attributes:
            return None
        try:
            return parse_template(self._attributes[name])
        except ValueError as error:
            raise self.place.error(f"{name}: {error}") from error

    def required(self, name: str) -> Template:
        """Return an attribute as a template.

        Args:
            name: Name of the attribute.

        Raises:
            LaunchError: It is missing, or has a malformed substitution.
        """
        template = self.optional(name)
        if template is None:
            raise self.place.error(f"<{self.tag}> has no {name!r}; add it")
        return template

    def text(self, name: str, default: str | None = None) -> str:
        """Return an attribute that takes no substitutions.

        Args:
            name: Name of the attribute.
            default: Its value when it is not there; None makes it required.

        Raises:
            LaunchError: It is required and missing.
        """
        self._read.add(name)
        if name not in self._attributes and default is None:
            raise self.place.error(f"<{self.tag}> has no {name!r}; add it")
        return self._attributes.get(name, default or "")

    def boolean(self, name: str, default: bool) -> bool:
        """Return an attribute that is true or false.

        Args:
            name: Name of the attribute.
            default: Its value when it is not there.

        Raises:
            LaunchError: It is neither.
        """
        try:
            return truth(self.text(name, str(default)))
        except ValueError as error:
            raise self.place.error(f"{name}: {error}") from error

    def seconds(self, name: str, default: float, least: float = 0.0) -> float:
        """Return an attribute that is a number.

        Args:
            name: Name of the attribute.
            default: Its value when it is not there, s.
            least: The smallest valid number, s.

        Raises:
            LaunchError: It is no number, or is too small.
        """
        text = self.text(name, str(default))
        try:
            number = float(text)
        except ValueError as error:
            raise self.place.error(f"{name} is {text!r}; write a number") from error
        if not number >= least:
            raise self.place.error(f"{name} is {text}; write a number of at least {least:g}")
        return number

    def close(self) -> None:
        """Refuse attributes and elements that were not read.

        Raises:
            LaunchError: There are some; the message names them and their place.
        """
        for name in self._attributes:
            if name not in self._read:
                known = ", ".join(sorted(self._read))
                raise self.place.error(f"<{self.tag}> does not take {name!r}; it takes {known}")
        for child in self.inside:
            if child.tag not in self._taken:
                raise child.place.error(f"<{child.tag}> does not belong inside <{self.tag}>; remove it")


def read_elements(path: Path) -> Element:
    """Read a file.

    Args:
        path: The file.

    Returns:
        Its top element.

    Raises:
        OSError: It cannot be read.
        ExpatError: It is not XML.
    """
    parser = expat.ParserCreate()
    top: list[Element] = []
    stack: list[Element] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        element = Element(SourceLine(path, parser.CurrentLineNumber), tag, attributes)
        (stack[-1].inside if stack else top).append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.Parse(path.read_bytes(), True)
    return top[0]
