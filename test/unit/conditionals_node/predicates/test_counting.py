"""Counts in three values: one rule for one world and for many, and the words for it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from conditionals_node.predicates.counting import Logical, counted_margin, counted_margins

MARGINS = (0.7, 0.2, 0.0, -0.3, float("nan"))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_many_worlds_get_the_margins_of_single_worlds(count: int) -> None:
    worlds = list(itertools.product(MARGINS, repeat=count))
    rows = np.array(worlds).T
    for low in range(count + 1):
        for high in range(low, count + 1):
            singly = [counted_margin(world, low, high) for world in worlds]
            np.testing.assert_array_equal(counted_margins(rows, low, high), singly)


@pytest.mark.parametrize(
    ("logical", "margins", "expected"),
    [
        (Logical.ALL, (0.4, 0.1, 0.2), 0.1),
        (Logical.ANY, (-0.4, -0.1, -0.2), -0.1),
        (Logical.CHOOSE, (0.4, 0.3, -0.1), 0.1),
        (Logical.CHOOSE, (0.4, 0.3, 0.2), -0.2),
        (Logical.CHOOSE, (0.4, -0.3, -0.2), -0.2),
    ],
)
def test_the_margin_is_that_of_the_part_that_decides(
    logical: Logical, margins: tuple[float, ...], expected: float
) -> None:
    assert counted_margin(margins, *logical.bounds(len(margins), 2)) == expected
