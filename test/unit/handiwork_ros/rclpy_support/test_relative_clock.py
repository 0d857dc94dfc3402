"""The clock of a node is that of its namespace, unless the process names another."""

from __future__ import annotations

import pytest

from handiwork_ros.rclpy_support.relative_clock import clock_arguments


@pytest.mark.parametrize("rule", ["/clock:=/clock", "clock:=/clock", "rostopic:///clock:=/sim/clock"])
def test_rule_of_the_process_counts_more(rule: str) -> None:
    assert clock_arguments(["node", "--ros-args", "-r", rule]) == []


def test_clock_is_relative_otherwise() -> None:
    assert clock_arguments(["node", "--ros-args", "-r", "my_clock:=x"]) == [
        "--ros-args",
        "-r",
        "/clock:=clock",
    ]
