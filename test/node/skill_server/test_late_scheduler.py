"""A skill server whose executor is late takes older poses of objects than one that is in time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from handiwork_core.model.outcome import Code
from support.nodes.bare_stack import Stack, until

TIMEOUT_S = 2.0
"""The default of the parameter world_timeout_s."""
DELAY_S = 2.4
"""The limit becomes three times as long at most."""


@pytest.fixture
def stack() -> Iterator[Stack]:
    """Yield a stack whose world has appeared, and sends no poses any more."""
    made = Stack()
    try:
        until(lambda: made.client.signs.sign("skill_server") is not None)
        made.world.appear()
        assert made.client.wait_ready(30.0)
        made.world.has_states = False
        yield made
    finally:
        made.close()


def test_old_poses_are_refused_unless_the_scheduler_was_late(stack: Stack) -> None:
    until(lambda: stack.server._world.state_age_s() > 3.0 * TIMEOUT_S)
    assert stack.client.pick("no_such_object", timeout_s=60.0).outcome.code is Code.STALE_WORLD
    stack.world.has_states = True
    until(lambda: stack.server._world.state_age_s() < TIMEOUT_S)
    stack.world.has_states = False
    # A turn of the executor that came so late; its effect lasts ten seconds.
    stack.server._delay.tick(time.monotonic() + DELAY_S)
    until(lambda: stack.server._world.state_age_s() > 1.1 * TIMEOUT_S)
    assert stack.client.pick("no_such_object", timeout_s=60.0).outcome.code is Code.UNKNOWN_OBJECT
