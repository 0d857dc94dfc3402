"""The points within reach of centres, against all distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from robot_description.spheres.within_reach import within_reach


@pytest.mark.parametrize(
    ("centers", "points", "least"), [(0, 5, 0.1), (40, 1, 0.5), (300, 700, 0.05), (3, 9000, 2.0)]
)
def test_they_are_those_of_all_distances(centers: int, points: int, least: float) -> None:
    rng = np.random.default_rng(centers)
    middles, rows = rng.random((centers, 3)), rng.random((points, 3)) * (1.0, 3.0, 0.5)
    reach = least + 0.2 * rng.random(centers)
    ends, items = within_reach(middles, reach, rows)
    wanted = cdist(middles, rows) <= reach[:, None]
    assert ends[0] == 0
    assert len(ends) == centers + 1
    for i in range(centers):
        assert sorted(items[ends[i] : ends[i + 1]]) == np.flatnonzero(wanted[i]).tolist()
