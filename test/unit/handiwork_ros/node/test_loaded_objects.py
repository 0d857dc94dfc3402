"""The memory of an active process is tidied once a period, however few objects its work makes."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator

import pytest

from handiwork_ros.node.loaded_objects import COLLECT_PERIOD_S, LoadedObjects


class Goal:
    """Part of itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.job = self


@pytest.fixture
def active() -> Iterator[LoadedObjects]:
    """Return loaded objects of an active node; nothing is collected unless they ask for it."""
    loaded = LoadedObjects()
    gc.disable()
    loaded.follow(is_active=True)
    try:
        yield loaded
    finally:
        loaded.follow(is_active=False)
        gc.enable()


def test_garbage_is_collected_once_a_period(active: LoadedObjects) -> None:
    active.tidy(100.0)
    goal = weakref.ref(Goal())
    active.tidy(100.0 + 0.9 * COLLECT_PERIOD_S)
    assert goal() is not None
    active.tidy(100.0 + COLLECT_PERIOD_S)
    assert goal() is None


def test_nothing_is_collected_while_the_node_is_not_active(active: LoadedObjects) -> None:
    active.follow(is_active=False)
    goal = weakref.ref(Goal())
    active.tidy(100.0)
    assert goal() is not None


def test_blocks_on_free_lists_are_given_back(active: LoadedObjects) -> None:
    active.tidy(100.0)
    before = sys.getallocatedblocks()
    for _ in range(1_500):
        tuple(i for i in (1, 2, 3))
    if sys.getallocatedblocks() - before < 1_000:
        pytest.skip("this Python puts no tuples of generators on a free list")
    active.tidy(100.0 + COLLECT_PERIOD_S)
    assert sys.getallocatedblocks() - before < 100
