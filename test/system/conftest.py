"""One bring-up of the whole stack for each test module, and the world put back before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handiwork_cli.stack.stack import Stack
from support.stack.rig import Rig


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """Start the stack with the module's ``LAUNCH_ARGUMENTS``; it must have ended in order when the module ends."""
    arguments = {"real_time_factor": "2", **getattr(request.module, "LAUNCH_ARGUMENTS", {})}
    with Stack(arguments) as stack:
        stack.wait_active()
        yield Rig(stack)


@pytest.fixture
def rig(running: Rig) -> Rig:
    """Wait for active nodes, reset the world, and clear the recordings."""
    running.stack.wait_active(60.0)
    running.reset()
    return running
