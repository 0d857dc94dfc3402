"""Truth values of many verdicts as arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from handiwork_core.contracts.predicate import Truth

Truths: TypeAlias = NDArray[np.int8]
"""One value of ``Truth`` for each verdict, (n,)."""
Mask: TypeAlias = NDArray[np.bool_]
"""One yes or no for each, (n,)."""
TRUE, FALSE, UNKNOWN = int(Truth.TRUE), int(Truth.FALSE), int(Truth.UNKNOWN)
