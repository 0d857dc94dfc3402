"""Regions as markers."""

from __future__ import annotations

import math

import pytest
from visualization_msgs.msg import Marker

from decider_node.ros.region_markers import region_markers
from decider_node.stacking.cell import STANDARD, regions


def test_every_region_is_drawn_where_and_as_large_as_it_is() -> None:
    found = region_markers(regions(STANDARD), frozenset({"low_middle"}), 12.5)
    by_name = {name: [m for m in found if m.ns == name] for name in regions(STANDARD)}
    (ball,) = by_name["over_shelf"]
    assert ball.type == Marker.SPHERE and ball.scale.x == ball.scale.z == pytest.approx(0.38)
    _, pose = regions(STANDARD)["over_shelf"]
    assert [ball.pose.position.x, ball.pose.position.y, ball.pose.position.z] == pose.translation_m.tolist()
    kinds = sorted(m.type for m in by_name["low_middle"])
    assert kinds == sorted([Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE])
    ends = [m.pose.position.z for m in by_name["low_middle"] if m.type == Marker.SPHERE]
    assert math.isclose(max(ends) - min(ends), 0.2)
    assert ball.color.a > max(m.color.a for m in by_name["low_middle"])
    assert {(m.header.frame_id, m.header.stamp.sec) for m in found} == {("world", 12)}
