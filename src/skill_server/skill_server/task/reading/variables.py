"""Variables of a task: ``$name`` and ``${name}`` in its texts are replaced by values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handiwork_core.config.dataclass_loader import nearest, shown
from handiwork_core.intake.limits import GOAL_TEXT

from .file_format import AddMessage

SIGN = re.compile(r"\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
NAME = re.compile(r"[A-Za-z_]\w{0,79}")


@dataclass
class Scope:
    """The variables that a part of a task may use.

    Attributes:
        values: Values by name.
        used: Names that some text uses; shared by all scopes of a task.
        literal: True where ``$`` has no meaning as long as there is no variable.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    literal: bool = False

    def bound(self, name: str, value: object) -> Scope:
        """Return this scope with one more variable.

        Args:
            name: Name of the variable.
            value: Its value.
        """
        return Scope({**self.values, name: value}, self.used, self.literal)

    def filled(self, data: object, path: str, fault: AddMessage) -> Any:  # noqa: ANN401 - any YAML value
        """Return a value with the values of the variables in it.

        A text that is one variable alone becomes the value with its type; in a longer text the value is written out.
        ``$$`` stands for one ``$``.

        Args:
            data: A YAML value.
            path: Its place in the file.
            fault: Receives each variable that is not known.

        Returns:
            The value; the data itself where it uses no variable.
        """
        if self.literal and not self.values:
            return data
        if isinstance(data, str):
            return self._text(data, path, fault) if "$" in data else data
        if isinstance(data, list):
            return [self.filled(one, f"{path}[{i}]", fault) for i, one in enumerate(data)]
        if isinstance(data, Mapping):
            return {key: self.filled(one, f"{path}.{str(key)[:80]}", fault) for key, one in data.items()}
        return data

    def _text(self, text: str, path: str, fault: AddMessage) -> object:
        names = [a or b for a, b in SIGN.findall(text) if a or b]
        self.used.update(names)
        unknown = [name for name in names if name not in self.values]
        for name in dict.fromkeys(unknown):
            known = nearest(name, list(self.values)) if self.values else "declare it under variables"
            fault(path, f"uses ${name[:80]}, which is no variable here; {known}, or write $$ for a plain $")
        if unknown:
            return text
        match = SIGN.fullmatch(text)
        if match is not None and names:
            return self.values[names[0]]
        words = {name: _word(self.values[name]) for name in names}
        size = len(SIGN.sub("", text)) + sum(len(words[name]) for name in names)
        if size > GOAL_TEXT:
            fault(path, f"has {size} characters with its variables; write at most {GOAL_TEXT}")
            return text
        return SIGN.sub(lambda m: words[m[1] or m[2]] if m[1] or m[2] else "$", text)


def read_variables(data: object, path: str, fault: AddMessage) -> dict[str, Any]:
    """Read the mapping ``variables``.

    Args:
        data: Value of the key.
        path: Its place in the file.
        fault: Receives every fault.

    Returns:
        Values by name: texts, numbers, booleans and lists of them.
    """
    if not isinstance(data, Mapping) or not data:
        fault(path, f"is {shown(data)}; write {{name: value}}, or leave it out")
        return {}
    found: dict[str, Any] = {}
    for name, value in data.items():
        where = f"{path}.{str(name)[:80]}"
        if check_name(name, where, fault):
            if not _is_plain(value):
                fault(where, f"is {shown(value)}; write a text, a number, a boolean or a list of these")
            found[name] = value
    return found


def check_name(name: object, path: str, fault: AddMessage) -> bool:
    """Return True for a text that can name a variable or a barrier; report another one.

    Args:
        name: The text.
        path: Its place in the file.
        fault: Receives the fault.
    """
    if isinstance(name, str) and NAME.fullmatch(name):
        return True
    fault(path, f"is {shown(name)}, which is no name; use letters, digits and _, and no digit first")
    return False


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(_is_plain(one) for one in value)
    return isinstance(value, (str, int, float, bool))


def _word(value: object) -> str:
    """Write a value as the language of conditions and YAML have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_word, value))}]"
    return str(value)
