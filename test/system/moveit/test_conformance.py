"""The table of interfaces in the page for users of MoveIt equals what move_group has in the ROS graph."""

from __future__ import annotations

import re

import pytest
from rcl_interfaces.srv import GetParameters

from support.paths import ROOT
from support.stack.moveit_client import ACTIONS, SERVICES, MoveItClient
from support.stack.rig import Rig, wait_for

pytestmark = pytest.mark.processes
LAUNCH_ARGUMENTS = {"moveit": "true"}
PAGE = ROOT / "docs" / "how-to" / "coming-from-moveit.md"
OWN = ("/planner/", "/handiwork/", "/world/", "/rosout", "/parameter_events", "/diagnostics", "/bond")
"""Beginnings of the names that every node of Handiwork has, or that are no part of MoveIt's interface."""
FURTHER = {"joint_states", "tf", "tf_static", "robot_description_semantic", "clock"}
"""Topics of the robot; the page names the descriptions among the parameters."""


def rows() -> dict[str, str]:
    """Return first and second cell of the table of interfaces."""
    text = PAGE.read_text(encoding="utf-8").split("| interface | state |")[1].split("\n\n")[0]
    cells = [line.strip("| ").split(" | ", 1) for line in text.splitlines() if line.startswith("| ")]
    return dict(cells)  # type: ignore[arg-type]


def names(*, served: bool) -> set[str]:
    """Return the names in the rows that are served and answered, or in the others."""
    return {
        name
        for cell, state in rows().items()
        if served is not state.startswith("not ")
        for name in re.findall(r"`([a-z0-9_/]+)`", cell)
    }


def in_graph(moveit: MoveItClient) -> set[str]:
    """Return the services, actions and topics of move_group without those of every node."""
    node, found = moveit.node, set()
    for name in ("move_group", "move_group_actions"):
        kinds = (
            node.get_service_names_and_types_by_node(name, "/"),
            node.get_publisher_names_and_types_by_node(name, "/"),
            node.get_subscriber_names_and_types_by_node(name, "/"),
        )
        found |= {entry for kind in kinds for entry, _types in kind}
    return {name.split("/_action/")[0].removeprefix("/") for name in found if not name.startswith(OWN)}


def test_every_interface_of_the_page_is_in_the_graph_and_none_is_missing_there(
    rig: Rig, moveit: MoveItClient
) -> None:
    served, refused = names(served=True), names(served=False)
    wait_for("all interfaces in the graph", lambda: served <= in_graph(moveit))
    found = in_graph(moveit)
    assert not refused & found
    ours = {
        name for name in found if not name.startswith(("move_group", "safety", "fr3_arm_c", "fr3_gripper_c"))
    }
    assert ours - served - FURTHER == set(), "add these to docs/how-to/coming-from-moveit.md"
    assert served >= {*ACTIONS, *SERVICES}


def test_supervision_has_the_parameters_and_defaults_of_skill_server(rig: Rig, moveit: MoveItClient) -> None:
    keys = [f"supervision.{name}" for name in ("on", "distance", "angle", "period", "answer", "replans")]
    assert moveit.node is not None
    ours, theirs = (
        rig.stack.call(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=keys)).values
        for node in ("move_group", "skill_server")
    )
    assert ours == theirs and all(value.type for value in ours)
