"""When the next bin is brought, and where it is put."""

from __future__ import annotations

import numpy as np

from decider_node.stacking.bin import HEIGHT_M, open_side
from decider_node.stacking.cell import STANDARD
from decider_node.stacking.feeding import PARKED, drawn_pose, is_belt_free, waiting
from handiwork_core.model.geometry import Pose
from support.cells.kinematic_cell import on_belt, state


def test_bins_wait_in_the_order_of_their_numbers_and_those_in_the_cell_do_not() -> None:
    bins = {name: state(PARKED) for name in ("bin_10", "bin_2", "bin_1")} | {
        "bin_0": state(on_belt(0.6, upside_down=True))
    }
    assert waiting(bins) == ["bin_1", "bin_2", "bin_10"]


def test_the_belt_is_free_once_its_bin_is_lifted_or_stacked() -> None:
    on_it = on_belt(1.0, upside_down=True)
    assert not is_belt_free(STANDARD, {"bin_0": state(on_it)})
    lifted = Pose.of(on_it.translation_m + (0.0, 0.0, 0.3), on_it.rotation)
    assert is_belt_free(STANDARD, {"bin_0": state(lifted)})
    assert is_belt_free(STANDARD, {"bin_0": state(STANDARD.layout.place(0)), "bin_1": state(PARKED)})


def test_bins_come_anywhere_across_the_belt_and_half_of_them_upside_down() -> None:
    rng = np.random.default_rng(0)
    poses = [drawn_pose(STANDARD, rng) for _ in range(200)]
    at = np.array([pose.translation_m for pose in poses])
    assert np.abs(at[:, 0]).max() <= STANDARD.feeder.aside and at[:, 0].std() > 0.05
    assert np.allclose(at[:, 2], STANDARD.belt.top_z + 0.5 * HEIGHT_M + 0.005)
    assert 70 < sum(open_side(pose)[2] < 0.0 for pose in poses) < 130
