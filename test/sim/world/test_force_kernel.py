"""The kernel of the contact forces is loaded while the world is built, and not first when an arm moves."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

import sim_bridge.mujoco.world
from handiwork_core.model.geometry import Pose
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.layout import Scene
from support.paths import ROBOTS

NOTHING = Scene("nothing", "nothing.yaml", Pose.identity(), ())


def test_a_new_world_has_called_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Mock()
    monkeypatch.setattr(sim_bridge.mujoco.world, "net_forces", kernel)
    sim_bridge.mujoco.world.MujocoWorld(load_robot(ROBOTS / "fr3"), NOTHING)
    kernel.assert_called_once()
