"""The layouts of RViz and Foxglove name topics that the stack publishes, and refer to panels that are there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml

from handiwork_cli.commands.stack.security import TABLE
from handiwork_cli.security.interfaces import load_table, nodes_of
from handiwork_cli.stack.demo_cells import robot_of
from support.paths import ROOT

VIEWERS = ROOT / "config" / "viewers"
OF_MOVEIT = {"/display_planned_path"}


def published() -> set[str]:
    nodes = nodes_of(load_table(ROOT / TABLE), robot_of("fr3"))
    return {topic for node in nodes for topic in node.interfaces.publishes}


def topics_in(value: Any) -> Iterator[str]:
    """Yield every text that begins with a slash, up to the field."""
    if isinstance(value, str) and value.startswith("/"):
        yield value.split(".")[0]
    elif isinstance(value, dict):
        yield from topics_in(list(value.values()))
        yield from topics_in(list(value))
    elif isinstance(value, list):
        for one in value:
            yield from topics_in(one)


def test_rviz_shows_robot_frames_and_markers() -> None:
    config = yaml.safe_load((VIEWERS / "handiwork.rviz").read_text())
    shown = config["Visualization Manager"]["Displays"]
    kinds = {one["Class"] for one in shown if one["Enabled"]}
    assert {f"rviz_default_plugins/{name}" for name in ("RobotModel", "TF", "MarkerArray")} <= kinds
    assert set(topics_in(shown)) - OF_MOVEIT <= published()


def test_foxglove_shows_panels_that_are_there() -> None:
    layout = json.loads((VIEWERS / "foxglove_layout.json").read_text())
    assert set(topics_in(layout["configById"])) <= published() | {"/rosout"}

    def panels(node: Any) -> set[str]:
        return {node} if isinstance(node, str) else panels(node["first"]) | panels(node["second"])

    assert panels(layout["layout"]) == set(layout["configById"])
