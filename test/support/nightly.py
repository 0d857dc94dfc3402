"""Long series of tests, of which one part runs with every change and the rest at night."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_nightly(values: Iterable[Any], *always: Any) -> list[Any]:
    """Mark the values of a parameter for the nightly run.

    Args:
        values: The values.
        always: Those of them that run with every change.

    Returns:
        The values for ``pytest.mark.parametrize``.
    """
    return [value if value in always else pytest.param(value, marks=pytest.mark.nightly) for value in values]
