"""Draws the curves of a recording with matplotlib, which requirements/plot.txt installs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .series import Curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_IN, HEIGHT_IN = 12.0, 2.4
LEGEND = 14
"""The greatest number of curves of a panel whose names are shown."""


class NoPlotterError(Exception):
    """matplotlib is not installed; the text is one sentence."""


def new_figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure that needs no display.

    Args:
        width_in: Its width, inches.
        height_in: Its height, inches.

    Raises:
        NoPlotterError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        text = "pictures are drawn with matplotlib: pip install -r requirements/plot.txt -c requirements/lock.txt"
        raise NoPlotterError(text) from error
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def draw(curves: Curves, path: Path, title: str) -> int:
    """Draw one panel for each kind of curve above another, with one axis of time.

    Args:
        curves: The curves.
        path: File of the picture; its ending chooses the format.
        title: Text above the picture.

    Returns:
        The number of panels; without any no file is written.

    Raises:
        NoPlotterError: matplotlib is not installed.
    """
    panels = curves.panels()
    if not panels:
        return 0
    figure = new_figure(WIDTH_IN, HEIGHT_IN * len(panels) + 0.6)
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (label, panel) in zip(rows, panels, strict=True):
        for name, curve in sorted(panel.items()):
            step = "steps-post" if label.startswith("condition") else "default"
            axes.plot(curve.times_s, curve.values, linewidth=1.0, label=name, drawstyle=step)
        axes.set_ylabel(label, fontsize=8)
        axes.grid(visible=True, linewidth=0.3)
        axes.tick_params(labelsize=8)
        if len(panel) <= LEGEND:
            axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    rows[-1].set_xlabel("time since the first message [s]", fontsize=8)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=110)
    return len(panels)
