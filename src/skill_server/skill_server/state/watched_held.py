"""The objects that an arm holds, with a notice of every change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping

from handiwork_core.contracts.planning import Attachment


class WatchedHeld(MutableMapping[str, Attachment]):
    """The held objects of an arm by name, kept from run to run.

    Args:
        on_change: Called after each change with all held objects, on the thread that made it.
    """

    def __init__(self, on_change: Callable[[tuple[Attachment, ...]], None]) -> None:
        self._held, self._on_change = dict[str, Attachment](), on_change

    def __getitem__(self, name: str) -> Attachment:
        return self._held[name]

    def __setitem__(self, name: str, attachment: Attachment) -> None:
        self._held[name] = attachment
        self._on_change(tuple(self._held.values()))

    def __delitem__(self, name: str) -> None:
        del self._held[name]
        self._on_change(tuple(self._held.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._held))

    def __len__(self) -> int:
        return len(self._held)
