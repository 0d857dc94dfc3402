"""The mobile FR3 with a base that a navigation server drives: navigate, cancel, errors by name, and a killed server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from handiwork_msgs.action import RunSkill

from handiwork_cli.stack.stack import Stack
from handiwork_core.model.outcome import Code
from support.navigated import navigated_folder
from support.paths import ROOT
from support.stack.rig import Rig, send_until, wait_for

pytest.importorskip("nav2_msgs", reason="the interface of nav2 is not built: run `make setup-nav2`")
READY = "ready\n"
"""What the stand-in writes once it serves."""

FAR = {"x": 0.9, "y": 0.0, "yaw": 0.0, "tolerance_m": 0.02, "tolerance_rad": 0.03}
PATIENCE_S = 90.0


class Server:
    """The process of the stand-in for nav2."""

    def __init__(self, *words: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "test")}
        command = [sys.executable, "-m", "support.nodes.nav2_stand_in", *words]
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Server:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == READY
        return self

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._process.kill()
        self._process.communicate(timeout=30.0)

    def __exit__(self, *_error: object) -> None:
        self.kill()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Start the stack with the changed robot."""
    robot = navigated_folder(tmp_path_factory.mktemp("navigated"))
    arguments = {"robot": "fr3_mobile", "robot_dir": str(robot), "scene": "mobile", "real_time_factor": "2"}
    with Stack(arguments) as stack:
        stack.wait_active()
        yield Rig(stack)


def goal(**values: Any) -> RunSkill.Goal:
    import yaml

    return RunSkill.Goal(skill="navigate", parameters=yaml.safe_dump(values))


def test_the_base_drives_by_nav2_to_a_pose_in_the_world(rig: Rig) -> None:
    with Server():
        report = rig.client.run("navigate", FAR)
        assert report.ok, report.outcome
        assert report.outcome.position_error_m < 0.02
        turned = rig.client.run("mobile_rotate", {"target": 0.4, "tolerance_rad": 0.03})
        assert turned.ok, turned.outcome
        back = rig.client.run("mobile_translate", {"target": [-0.3, 0.0], "tolerance_m": 0.02})
        assert back.ok, back.outcome
    rig.joints.assert_rests()


def test_a_canceled_goal_ends_when_the_base_is_at_rest(rig: Rig) -> None:
    with Server():
        run = send_until(rig.client.send, goal(**FAR), "navigate")
        rig.joints.wait_moving(0.1)
        run.cancel()
        outcome = run.result(PATIENCE_S).outcome
        assert outcome.code is Code.CANCELED, outcome
        rig.joints.assert_rests()
        again = rig.client.run("navigate", FAR)
        assert again.ok, again.outcome


def test_an_error_of_nav2_is_named(rig: Rig) -> None:
    with Server("failing"):
        outcome = rig.client.run("navigate", FAR).outcome
    assert outcome.code is Code.PATH_BLOCKED, outcome
    assert "ComputePathToPose NO_VALID_PATH (208): no valid path found" in outcome.message
    rig.joints.assert_rests()


def test_a_server_that_is_killed_on_the_way_is_one_clear_error(rig: Rig) -> None:
    with Server() as server:
        run = send_until(rig.client.send, goal(**FAR), "navigate")
        rig.joints.wait_moving(0.1)
        server.kill()
        outcome = run.result(PATIENCE_S).outcome
    assert outcome.code is Code.UNRESPONSIVE, outcome
    assert "navigate_to_pose is lost" in outcome.message
    rig.joints.assert_rests()
    with Server():
        again = rig.client.run("navigate", {**FAR, "x": 0.3})
        assert again.ok, again.outcome


def test_without_a_server_the_remedy_is_named(rig: Rig) -> None:
    begun_s = time.monotonic()
    wait_for("the end of the last server", lambda: not served(rig), PATIENCE_S)
    outcome = rig.client.run("navigate", FAR).outcome
    assert outcome.code is Code.CONTROLLER_REFUSED, (outcome, time.monotonic() - begun_s)
    # The graph of the skill server may list the last server a while longer than that of the client.
    remedies = "no node serves the action 'navigate_to_pose'; start nav2", "is nav2 running?"
    assert any(remedy in outcome.message for remedy in remedies), outcome.message


def served(rig: Rig) -> bool:
    """Return whether the ROS graph still lists a server, as it does for a while after a kill."""
    return rig.client.node.count_publishers("navigate_to_pose/_action/status") > 0
