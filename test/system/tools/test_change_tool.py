"""The tool is changed while the stack runs: the other hand picks, refusals change nothing, and killed nodes have it."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from lifecycle_msgs.srv import GetState
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter

from handiwork_cli.stack.stack import NODES
from handiwork_core.model.outcome import Code
from handiwork_ros.clients.tool_change import change_tool
from support.paths import ROBOTS
from support.stack.rig import Rig, wait_for

FR3, ROBOTIQ = ROBOTS / "fr3", ROBOTS / "fr3_robotiq"
ABOVE_TABLE = [0.0, 0.382, 0.0, -2.53, 0.0, 2.912, 0.785]
"""The open fingers of the FR3 point down and end 2 cm above the table; those of the Robotiq are 6 cm longer."""


def robots(rig: Rig) -> set[str]:
    """Return the folders that the nodes of the stack have as their robot."""
    request = GetParameters.Request(names=["robot_dir"])
    return {
        rig.stack.call(GetParameters, f"{n}/get_parameters", request).values[0].string_value for n in NODES
    }


def kill_planner(rig: Rig) -> None:
    """Kill the planner and wait until launch has started another process that is active."""
    old = rig.client.signs.pid("planner_node")
    assert old is not None
    os.kill(old, signal.SIGKILL)
    wait_for("another planner", lambda: rig.client.signs.pid("planner_node") not in (None, old), 90.0)
    rig.stack.wait_active(90.0)


@pytest.fixture(autouse=True)
def with_the_hand(running: Rig) -> None:
    """Begin each test with the robot of the launch."""
    running.stack.wait_active(60.0)
    running.reset()
    if robots(running) != {str(FR3)}:
        outcome = change_tool(FR3)
        assert outcome.ok, outcome
        running.reset()


def test_the_world_stays_and_the_other_hand_picks(running: Rig) -> None:
    assert running.client.pick("cube").ok
    assert running.client.place("cube", "bin").ok
    pids, placed = running.pids(), running.joints.next()
    outcome = change_tool(ROBOTIQ)
    assert outcome.ok, outcome
    assert robots(running) == {str(ROBOTIQ)}
    assert running.pids() == pids, "no process was started again"
    after = running.joints.next()
    assert after.stamp_s > placed.stamp_s, "the clock goes on"
    assert after.positions[:7] == pytest.approx(placed.positions[:7], abs=2e-3), "the arm is where it was"
    assert running.client.pick("can").ok
    assert running.client.place("can", "bin").ok
    kill_planner(running)
    assert robots(running) == {str(ROBOTIQ)}, "the process that launch started has the changed tool"


def test_a_held_object_is_named_and_nothing_changes(running: Rig) -> None:
    assert running.client.pick("cube").ok
    outcome = change_tool(ROBOTIQ)
    assert outcome.code is Code.CONTRADICTION
    assert "skill_server refuses the robot: 'fr3_arm' holds 'cube'; put it down first" in outcome.message
    assert "All nodes have the robot 'fr3' as before" in outcome.message
    assert robots(running) == {str(FR3)}
    assert running.client.place("cube", "bin").ok


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        (ROBOTS / "ur10_suction", "is not 'fr3' with another tool: the arms are"),
        (ROBOTS / "nowhere", "nowhere"),
    ],
)
def test_another_robot_is_refused_before_anything_stops(running: Rig, folder: Path, words: str) -> None:
    outcome = change_tool(folder)
    assert outcome.code is Code.CONTRADICTION
    assert words in outcome.message
    assert robots(running) == {str(FR3)}
    assert all(running.client.signs.is_active(name) for name in NODES)


def test_a_folder_with_the_same_name_is_refused(running: Rig, tmp_path: Path) -> None:
    """Frames of both would have the same names."""
    twin = shutil.copytree(ROBOTS, tmp_path / "robots") / "fr3"
    outcome = change_tool(twin)
    assert outcome.code is Code.CONTRADICTION
    assert "both robots have the name 'fr3'" in outcome.message
    assert robots(running) == {str(FR3)}


def test_a_link_to_the_present_robot_changes_nothing(running: Rig, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(FR3)
    outcome = change_tool(tmp_path / "linked")
    assert outcome.ok, outcome
    assert "already" in outcome.message


def test_a_tool_without_room_brings_all_nodes_back(running: Rig) -> None:
    """The simulation finds that the longer fingers would be in the table; by then others have the robot already."""
    report = running.client.run("heuristic_skill", {"mode": "abs_qpos", "value": ABOVE_TABLE})
    assert report.ok, report.outcome
    outcome = change_tool(ROBOTIQ)
    assert outcome.code is Code.CONTRADICTION
    assert "sim_bridge did not configure" in outcome.message
    assert "the tool of 'fr3_robotiq' has no room" in outcome.message
    assert robots(running) == {str(FR3)}
    running.stack.wait_active(60.0)
    assert running.joints.next().positions[:7] == pytest.approx(ABOVE_TABLE, abs=5e-3), (
        "the arm is where it was"
    )
    assert running.client.pick("cube").ok


def test_the_robot_of_a_running_node_cannot_be_set(running: Rig) -> None:
    change = [Parameter("robot_dir", value=str(ROBOTIQ)).to_parameter_msg()]
    answer = running.stack.call(
        SetParameters, "planner_node/set_parameters", SetParameters.Request(parameters=change)
    )
    assert answer.results[0].reason == (
        "parameter robot_dir: planner_node is active; deactivate and clean it up first"
    )
    state = running.stack.call(GetState, "planner_node/get_state", GetState.Request())
    assert state.current_state.label == "active"
