"""Tests that take minutes, and run when HANDIWORK_NIGHTLY is set: in the nightly workflow, not with every change."""

from __future__ import annotations

import os

import pytest

SWITCH = "HANDIWORK_NIGHTLY"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder when HANDIWORK_NIGHTLY is not set."""
    if os.environ.get(SWITCH):
        return
    for item in items:
        if "test/nightly/" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason=f"takes minutes: set {SWITCH}=1 to run it"))
