"""The ported sample of the page "Coming from Isaac Cortex" does what the page says."""

from __future__ import annotations

import runpy
from typing import Any

import numpy as np
import pytest

from support.paths import ROOT


@pytest.fixture
def sample() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / "cortex_peck.py"))


def test_it_pecks_away_from_the_blocks(sample: dict[str, Any]) -> None:
    tool, lowest = sample["PointTool"](), []
    network = sample["make_network"](tool)
    for tick in range(500):
        network.tick(0.02 * tick)
        tool.move()
        if tool.tip[2] < 0.02:
            lowest.append(np.linalg.norm((tool.tip - tool.seen[0])[:2]))
    assert network.context.pecks >= 5 and min(lowest) > sample["CLEAR_M"]


def test_it_lifts_at_once_when_a_block_comes_to_the_chosen_point(sample: dict[str, Any]) -> None:
    tool = sample["PointTool"]()
    network = sample["make_network"](tool)
    for tick in range(500):
        network.tick(0.02 * tick)
        tool.move()
        if tool.tip[2] < 0.1 and tool.target[2] < 0.02:
            break
    tool.seen = [network.context.target.copy()]
    pecks, height = network.context.pecks, tool.tip[2]
    network.tick(100.0)
    tool.move()
    assert tool.tip[2] > height and network.context.pecks == pecks
