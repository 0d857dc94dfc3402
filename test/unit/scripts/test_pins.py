"""The requirement lists of another ROS distribution differ in versions alone."""

from __future__ import annotations

import re
import sys

import pytest

from support.paths import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import pins

LISTS = ("run", "build", "lock")
PIN = re.compile(r"^(?P<name>[A-Za-z0-9_.-]+)(\[[a-z]+\])?==(?P<version>[^ ;]+)")


def versions(text: str) -> dict[str, str]:
    found = (PIN.match(line) for line in text.splitlines())
    return {one["name"]: one["version"] for one in found if one}


def test_jazzys_lists_are_the_files_themselves() -> None:
    assert pins.list_of("run", "jazzy") == ROOT / "requirements/run.txt"


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_kilted_has_the_same_packages_in_its_versions(name: str) -> None:
    old = (ROOT / f"requirements/{name}.txt").read_text()
    new, wanted = versions(pins.with_versions(old, pins.versions_of("kilted"))), pins.versions_of("kilted")
    assert list(new) == list(versions(old))
    for package, version in versions(old).items():
        assert new[package] == (wanted.get(package, version) if package.startswith("ros-") else version)


def test_the_extra_of_a_package_stays() -> None:
    text = "# a comment\nros-rclpy[fastrtps]==7.1.6\nnumpy==2.2.6\nros-std-msgs==5.3.6\n"
    made = pins.with_versions(text, {"ros-rclpy": "9.1.2"})
    assert made == "# a comment\nros-rclpy[fastrtps]==9.1.2\nnumpy==2.2.6\nros-std-msgs==5.3.6\n"
