"""The applications of decider networks, with contacts: two bins stacked, two cubes sorted, whatever is done to them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for benchmarks, which is no package of src/

from benchmarks import sorting
from benchmarks.stacking.disturbances import Disturbance, Kind
from benchmarks.stacking.episode import Episode

from decider_node.stacking.layout import Layout

TWO = Layout((0.64,), (-0.31,), 2, -0.59)


@pytest.mark.parametrize("kind", [Kind.NONE, Kind.SUCTION_LOST])
def test_two_bins_are_stacked_upside_down(kind: Kind) -> None:
    episode = Episode(TWO, seed=0)
    disturb = Disturbance(kind, 0, len(TWO))
    leaves = set()

    def watch(episode: Episode) -> None:
        disturb(episode)
        leaves.add(episode.network.descent.path[-1].name)

    result = episode.run(watch)
    assert disturb.done
    assert result.good, result
    assert {"pick_bin", "flip_bin", "place_bin"} <= leaves


def test_cubes_are_taken_from_the_running_belt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "CUBES", 2)
    assert sorting.run(0)[:2] == (2, 2)
