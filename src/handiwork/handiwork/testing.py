"""The names that tests of your own skills import: a skill's contract, and fakes of all ports, without ROS."""

from __future__ import annotations

from handiwork_core.testing.fakes import (
    Cell,
    FakeArm,
    FakeClock,
    FakeGripper,
    FakePlanner,
    Fakes,
    FakeWorld,
    fakes,
)
from handiwork_core.testing.skill_contract import SkillContract

__all__ = [
    "Cell",
    "FakeArm",
    "FakeClock",
    "FakeGripper",
    "FakePlanner",
    "FakeWorld",
    "Fakes",
    "SkillContract",
    "fakes",
]
