"""The curves of a recording as a page in the browser: one chart for each kind, which the mouse magnifies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_viz.view.ros.page.server import serve

from .series import Curve, Curves, Panel

if TYPE_CHECKING:
    import viser

MOST_POINTS = 2000
"""The most points of a curve that the browser gets."""
PANEL_PX, CHART_PX = 1000, 260
COLOURS = (
    "#1971c2", "#e8590c", "#2f9e44", "#c2255c", "#6741d9", "#0c8599", "#f08c00", "#495057", "#9c36b5", "#5c940d",
)  # fmt: skip


class PlotPage:
    """Serves the charts of a recording until ``close``.

    Attributes:
        server: The page's server.
        charts: The charts.

    Args:
        curves: The curves.
        title: Name of the recording.
        host: Address to serve at.
        port: Port to serve at; the next free one where it is taken.

    Raises:
        PageNotGuarded: The installed viser cannot be guarded.
        ImportError: viser is not installed.
    """

    def __init__(self, curves: Curves, title: str, host: str, port: int) -> None:
        self.server: viser.ViserServer = serve(host, port, "")
        self.server.gui.main_panel.set_width(PANEL_PX)
        self.server.gui.add_markdown(f"**{title}**: {curves.messages} messages")
        self.charts = [self._add_chart(label, panel) for label, panel in curves.panels()]

    @property
    def port(self) -> int:
        """The page's port."""
        return int(self.server.get_port())

    def close(self) -> None:
        """End the page."""
        self.server.stop()

    def _add_chart(self, label: str, panel: Panel) -> viser.GuiUplotHandle:
        import viser.uplot as uplot

        names = sorted(panel)
        series = [
            uplot.Series(label=name, stroke=COLOURS[i % len(COLOURS)], width=1.5, spanGaps=True)
            for i, name in enumerate(names)
        ]
        return self.server.gui.add_uplot(
            aligned([panel[name] for name in names]),
            (uplot.Series(label="time [s]"), *series),
            title=label,
            scales={"x": uplot.Scale(time=False)},
            legend=uplot.Legend(show=True),
            cursor=uplot.Cursor(show=True),
            height=CHART_PX,
        )


def aligned(curves: list[Curve]) -> tuple[Array, ...]:
    """Return curves over one common axis of time: each has its newest value at each time, and nan before its first.

    Args:
        curves: The curves, each in the order of time.

    Returns:
        Times, (n,), s, and the values of each curve, (n,).
    """
    times_s = np.unique(np.concatenate([one.times_s for one in curves]))
    every = max(1, math.ceil(len(times_s) / MOST_POINTS))
    # The last time stays: it shows how the recording ends.
    times_s = times_s[np.unique(np.append(np.arange(0, len(times_s), every), len(times_s) - 1))]
    rows = []
    for one in curves:
        newest = np.searchsorted(np.asarray(one.times_s), times_s, side="right") - 1
        values = np.asarray(one.values, dtype=np.float64)
        rows.append(np.where(newest >= 0, values[np.maximum(newest, 0)], np.nan))
    return times_s, *rows
