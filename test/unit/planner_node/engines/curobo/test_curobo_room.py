"""The obstacles that fit in one launch on a GPU; no GPU is needed to count them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines.curobo.batch_core import LANE_SEEDS, SIZES, lanes_for
from planner_node.engines.curobo.model.buffers import UNUSED_MOST, BufferSizes
from planner_node.engines.curobo.solvers.batch_solvers import has_threads
from planner_node.engines.curobo.sphere_set import SphereSet
from planner_node.engines.curobo_batch import LANES
from support.paths import ROBOTS

FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_batch_of_the_usual_size_fits_for_every_robot(folder: Path) -> None:
    spheres = SphereSet(load_robot(folder), Pose.identity(), is_fine=False).count
    assert has_threads(LANES, LANE_SEEDS, spheres, BufferSizes())
    assert not has_threads(64 * LANES, LANE_SEEDS, spheres, BufferSizes())


def test_the_number_of_lanes_is_the_least_that_takes_the_batch_and_fits() -> None:
    few = BufferSizes()
    assert lanes_for(3, 200, few) == SIZES[0]
    assert lanes_for(SIZES[0] + 1, 200, few) == SIZES[1]
    assert lanes_for(100_000, 200, few) == SIZES[-1]
    assert lanes_for(100_000, 200, BufferSizes(100, 1)) == SIZES[0], "256 lanes need too many threads"
    assert lanes_for(3, 200, BufferSizes(10_000, 1)) == 0


def rows(boxes: int, solids: int) -> SimpleNamespace:
    return SimpleNamespace(boxes=[None] * boxes, solids=(None,) * solids, cells=0)


def test_room_is_exact_with_one_place_more_and_grows_only_when_needed() -> None:
    exact = BufferSizes.of(rows(7, 0))  # type: ignore[arg-type]
    assert exact == BufferSizes(8, 1) == BufferSizes()
    assert exact.for_rows(rows(8, 1)) is exact  # type: ignore[arg-type]
    assert exact.for_rows(rows(9, 0)) == BufferSizes(10, 1)  # type: ignore[arg-type]
    assert BufferSizes(20, 3).for_rows(rows(2, 5)) == BufferSizes(20, 6)  # type: ignore[arg-type]
    large = BufferSizes(8 + UNUSED_MOST, 1)
    assert not large.wastes(rows(7, 0)) and large.wastes(rows(6, 0))  # type: ignore[arg-type]
