"""One client of MoveIt's interface for each stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.stack.rig import Rig

if TYPE_CHECKING:
    from support.stack.moveit_client import MoveItClient


@pytest.fixture(scope="module")
def moveit(running: Rig) -> MoveItClient:
    """Return a client of a move_group that is active."""
    from support.stack.moveit_client import MoveItClient

    return MoveItClient(running)
