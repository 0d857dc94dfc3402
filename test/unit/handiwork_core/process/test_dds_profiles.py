"""Which variable and which files a version of Fast DDS reads."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from handiwork_core.process import dds_profiles
from handiwork_core.process.dds_profiles import (
    NEW_VARIABLE,
    OLD_VARIABLE,
    has_own_profile,
    profile_file,
    profile_variable,
    ros_distro,
)
from support.paths import ROOT

PROFILES = ROOT / "config" / "dds"
JAZZY, KILTED = {"ROS_DISTRO": "jazzy"}, {"ROS_DISTRO": "kilted"}


def test_each_distribution_gets_the_variable_and_the_files_that_it_reads() -> None:
    assert profile_variable(JAZZY) == OLD_VARIABLE
    assert profile_variable(KILTED) == profile_variable({"ROS_DISTRO": "lyrical"}) == NEW_VARIABLE
    for name in ("localhost", "fast", "lossy"):
        for environment in (JAZZY, KILTED):
            assert (PROFILES / profile_file(name, environment)).is_file()
    assert profile_file("fast", JAZZY) != profile_file("fast", KILTED)


@pytest.mark.parametrize(
    ("version", "distro"), [("7.1.6", "jazzy"), ("9.1.2", "kilted"), ("10.0.0", "kilted")]
)
def test_the_wheels_tell_their_distribution(
    monkeypatch: pytest.MonkeyPatch, version: str, distro: str
) -> None:
    monkeypatch.setattr(dds_profiles, "version", lambda _name: version)
    assert ros_distro({}) == distro
    assert ros_distro({"ROS_DISTRO": "rolling"}) == "rolling"


@pytest.mark.parametrize("distro", [JAZZY, KILTED])
def test_a_profile_of_ones_own_counts_if_this_version_reads_its_variable(distro: dict[str, str]) -> None:
    assert not has_own_profile(distro)
    assert has_own_profile({**distro, OLD_VARIABLE: "/a.xml"})
    assert has_own_profile({**distro, NEW_VARIABLE: "/a.xml"}) == (distro == KILTED)


@pytest.mark.parametrize("name", ["fast", "lossy"])
def test_the_profiles_of_both_versions_say_the_same(name: str) -> None:
    def rows(environment: dict[str, str]) -> list[tuple[str, str]]:
        root = ElementTree.parse(PROFILES / profile_file(name, environment)).getroot()
        return [
            (one.tag.replace("heartbeat_period", "heartbeatPeriod"), (one.text or "").strip())
            for one in root.iter()
        ]

    assert rows(JAZZY) == rows(KILTED)
