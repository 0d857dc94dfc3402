"""One picture with moments of several episodes: what a data set looks like at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.episodes.episode import EpisodeMeta

from .render import RenderOrder, Still, stills

COLUMNS = 5
EDGE_PX, TEXT_PX = 4, 12
SUCCESS, FAILURE = (47, 158, 68), (224, 49, 49)
MOMENTS = (0.25, 0.9)
"""Shares of an episode between which its moment is drawn."""
FORMATS = (".png", ".jpg", ".webp")


def check_sheet(path: Path) -> None:
    """Refuse a file that no sheet can be written to.

    Args:
        path: The file.

    Raises:
        ConfigError: Its format is not known, or its folder is missing.
    """
    if path.suffix not in FORMATS:
        raise ConfigError("sheet", [f"{path.name!r}: is no picture; end it in {', '.join(FORMATS)}"])
    if not path.parent.is_dir():
        raise ConfigError("sheet", [f"{path.parent}: is no folder; make it first"])


def draw_sheet(order: RenderOrder, numbers: Sequence[int], count: int) -> Pictures.Image:
    """Draw a random moment of each of some random episodes with the first camera, framed by their verdicts.

    Args:
        order: Files, cameras and the seed of the choice.
        numbers: Numbers of the episodes to choose from.
        count: Number of pictures; all episodes where there are fewer.

    Returns:
        The sheet: green frames for successes, red for failures, with the number of each episode.

    Raises:
        ConfigError: A file is wrong, or nothing draws on this machine.
        EpisodeError: An episode is damaged.
    """
    rng = np.random.default_rng([order.seed, 31])
    chosen = sorted(rng.choice(np.asarray(numbers), min(count, len(numbers)), replace=False).tolist())
    moments = [(number, rng.uniform(*MOMENTS)) for number in chosen]
    return _grid([_tile(one) for one in stills(order, moments)])


def _tile(still: Still) -> Pictures.Image:
    tile, meta = Pictures.fromarray(still.picture), still.meta
    colour = SUCCESS if meta.success else FAILURE
    pen, font = ImageDraw.Draw(tile), ImageFont.load_default(TEXT_PX)
    pen.rectangle((0, 0, tile.width - 1, tile.height - 1), outline=colour, width=EDGE_PX)
    label = " ".join((str(meta.episode), *_fault(meta)))
    box = pen.textbbox((EDGE_PX + 2, EDGE_PX), label, font=font)
    pen.rectangle((EDGE_PX, EDGE_PX, box[2] + 2, box[3] + 2), fill=colour)
    pen.text((EDGE_PX + 2, EDGE_PX), label, fill=(255, 255, 255), font=font)
    return tile


def _fault(meta: EpisodeMeta) -> tuple[str, ...]:
    if meta.success:
        return ()
    return ("skills OK, verdict not" if meta.ok else meta.code,)


def _grid(tiles: Sequence[Pictures.Image]) -> Pictures.Image:
    wide = min(COLUMNS, len(tiles))
    width, height = max(one.width for one in tiles), max(one.height for one in tiles)
    sheet = Pictures.new("RGB", (wide * width, -(-len(tiles) // wide) * height), (255, 255, 255))
    for i, tile in enumerate(tiles):
        sheet.paste(tile, (i % wide * width, i // wide * height))
    return sheet
