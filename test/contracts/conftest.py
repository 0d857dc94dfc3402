"""Leaves most of the longest test of every skill to ``make test``."""

from __future__ import annotations

import pytest

from handiwork_core.model.outcome import Code

LONGEST = "test_stop_at_every_port_call"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A skill that stops at every call for one reason stops for the others; ``make test`` has them all."""
    for item in items:
        is_longest = isinstance(item, pytest.Function) and item.originalname == LONGEST
        if is_longest and item.callspec.params["reason"] is not Code.CANCELED:
            item.add_marker(pytest.mark.slow)
