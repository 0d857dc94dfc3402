"""Writes the scene of a cell: ``python -m decider_node.stacking.scene_file --cell FILE --bins 38 > scene.yaml``.

The bins wait on a table outside of the cell, from where ``bin_feeder`` puts them onto the belt.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.scene.loader import SceneObject

from .bin import HEIGHT_M
from .cell import STANDARD, StackingCell, scene
from .feeding import PARKED
from .layout_file import load_cell

STEP_M = 0.4
"""Distance of two waiting bins, m."""


def scene_text(site: StackingCell, bins: int) -> str:
    """Return the scene as YAML.

    Args:
        site: The cell.
        bins: Number of bins.
    """
    lines = [
        f"# The bin-stacking cell with {bins} bins that wait outside, for bin_feeder.",
        "# Written by `python -m decider_node.stacking.scene_file`.",
        "name: bin_stacking",
        "robot_base: {position: [0.0, 0.0, 0.0], yaw: 0.0}",
        "objects:",
        *_table(bins),
    ]
    for item in scene(site, bins, PARKED).objects:
        lines += _object(item)
    return "\n".join(lines) + "\n"


def _table(bins: int) -> list[str]:
    x, y, z = PARKED.translation_m + (0.5 * STEP_M * (bins - 1), 0.0, -0.5 * HEIGHT_M - 0.05)
    return [
        "  table:",
        "    static: true",
        f"    pose: {{position: {_numbers((x, y, z))}}}",
        f"    shapes: [{{type: box, size: {_numbers((STEP_M * bins, 0.4, 0.1))}}}]",
        "    color: [0.5, 0.5, 0.5, 1.0]",
    ]


def _object(item: SceneObject) -> Iterator[str]:
    yield f"  {item.name}:"
    if item.body.is_static:
        yield "    static: true"
    else:
        yield f"    mass: {item.body.mass_kg:g}"
    if item.belt is not None:
        yield f"    belt: {{velocity: {_numbers(item.belt.velocity)}}}"
    yield f"    pose: {_pose(item.world_T_object)}"
    yield f"    friction: {item.friction:g}"
    yield f"    color: {_numbers(item.color)}"
    yield "    shapes:"
    for shape in item.body.shapes:
        at = (
            ""
            if np.allclose(shape.object_T_shape.matrix(), np.eye(4))
            else f", pose: {_pose(shape.object_T_shape)}"
        )
        yield f"    - {{type: box, size: {_numbers(shape.size)}{at}}}"


def _pose(pose: Pose) -> str:
    turn = pose.rotation.wxyz
    tail = "" if np.allclose(np.abs(turn), (1.0, 0.0, 0.0, 0.0)) else f", quaternion_wxyz: {_numbers(turn)}"
    return f"{{position: {_numbers(pose.translation_m)}{tail}}}"


def _numbers(values: Array | tuple[float, ...]) -> str:
    return f"[{', '.join(repr(round(float(v), 9) + 0.0) for v in values)}]"


def main() -> None:
    """Print the scene."""
    parser = argparse.ArgumentParser(prog="python -m decider_node.stacking.scene_file", description=__doc__)
    parser.add_argument(
        "--cell", type=Path, help="such as config/stacking/ur5e.yaml; without it the standard cell"
    )
    parser.add_argument("--bins", type=int, help="how many; without it two more than the layout has places")
    options = parser.parse_args()
    site = STANDARD if options.cell is None else load_cell(options.cell)
    sys.stdout.write(scene_text(site, options.bins or len(site.layout) + 2))


if __name__ == "__main__":
    main()
