"""The obstacles that fit in one launch on a GPU; no GPU is needed to count them."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.robot_files.loader import load_robot
from planner_node.engines.curobo.model.buffers import BufferSizes
from planner_node.engines.curobo.model.spheres import HELD_SPHERES
from planner_node.engines.curobo.solvers.batch_solvers import has_threads
from planner_node.engines.curobo_batch import LANES
from support.paths import ROBOTS

FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_batch_of_the_usual_size_fits_for_every_robot(folder: Path) -> None:
    spheres = sum(len(link.radii) for link in load_robot(folder).spheres) + HELD_SPHERES
    assert has_threads(LANES, spheres, BufferSizes())
    assert not has_threads(16 * LANES, spheres, BufferSizes())
