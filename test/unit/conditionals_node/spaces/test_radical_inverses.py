"""The points on meshes are those of Halton's sequence, as scipy has it."""

from __future__ import annotations

import numpy as np
from scipy.stats import qmc

from conditionals_node.spaces.samples import _radical_inverses


def test_three_bases_give_the_sequence_of_scipy() -> None:
    expected = qmc.Halton(3, scramble=False).random(1001)[1:].T
    found = [_radical_inverses(1000, base) for base in (2, 3, 5)]
    assert np.allclose(found, expected, rtol=0.0, atol=1e-15)
