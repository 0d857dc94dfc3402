"""Random numbers whose state is an array, so that a search can stop and go on without changing its result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel

State = NDArray[np.uint64]


def as_bits(seed: int) -> np.uint64:
    """Return the lowest 64 bits of a seed.

    Args:
        seed: A number of any size and sign.
    """
    return np.uint64(seed & 0xFFFFFFFFFFFFFFFF)


def new_state(seed: int) -> State:
    """Return the state (1,) for a seed.

    Args:
        seed: A number of any size and sign.
    """
    return np.array([as_bits(seed)])


@kernel
def uniform(state: State) -> float:
    """Return the next number in [0, 1). SplitMix64 (Steele, Lea, Flood 2014).

    Args:
        state: The state, (1,); it is advanced.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)  # type: ignore[return-value]
