"""A drawing of the network while an episode runs."""

from __future__ import annotations

import sys

from decider_node.network.text_view import draw

from .episode import Episode

VIEW_S = 0.5


def view(episode: Episode) -> str:
    """Return the network with its active path, and the logical state.

    Args:
        episode: The episode.
    """
    state = f"t {episode.time_s:6.1f} s   {episode.context.status}"
    return f"{state}\n{draw(episode.network)}"


class LiveView:
    """Draws twice per simulated second, over the last picture."""

    def __init__(self) -> None:
        self._next_s, self._lines = 0.0, 0

    def __call__(self, episode: Episode) -> None:
        """Draw, if it is time.

        Args:
            episode: The episode.
        """
        if episode.time_s < self._next_s:
            return
        self._next_s = episode.time_s + VIEW_S
        text = view(episode)
        back = f"\033[{self._lines}F\033[J" if self._lines and sys.stdout.isatty() else ""
        print(f"{back}{text}", flush=True)
        self._lines = text.count("\n") + 1
