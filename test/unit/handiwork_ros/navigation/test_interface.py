"""Without nav2_msgs a robot whose base nav2 drives is refused at the start, in one sentence."""

from __future__ import annotations

import sys

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_ros.navigation.client import navigate_to_pose


def test_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nav2_msgs", None)
    monkeypatch.setitem(sys.modules, "nav2_msgs.action", None)
    with pytest.raises(ConfigError) as refused:
        navigate_to_pose()
    (fault,) = refused.value.faults
    assert "make setup-nav2" in fault
    assert "ros-jazzy-nav2-msgs" in fault
