"""Unique names of prims from our names, with the characters that OpenUSD allows."""

from __future__ import annotations

import re


class PrimNames:
    """The names below one prim.

    Args:
        below: The prim's path, for messages.
        taken: Names that are in use there already.
    """

    def __init__(self, below: str, taken: tuple[str, ...] = ()) -> None:
        self._below = below
        self._owners = {name: name for name in taken}

    def take(self, name: str) -> str:
        """Return the prim's name for one of our names; letters, digits and _ stay as they are.

        Args:
            name: Our name.

        Raises:
            ValueError: Another name has the same prim.
        """
        made = re.sub(r"\W", "_", name, flags=re.ASCII)
        if not made or made[0].isdigit():
            made = f"_{made}"
        if made in self._owners:
            other = self._owners[made]
            raise ValueError(
                f"{name!r} and {other!r} would both be the prim {self._below}/{made}; rename one of them"
            )
        self._owners[made] = name
        return made
