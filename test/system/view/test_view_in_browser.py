"""The page in a real browser: goals are sent, shown and cancelled from it, and an object is dragged."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from handiwork_msgs.msg import ObjectStates

from handiwork_ros.rclpy_support.qos import LATEST
from support.stack.browser import Tab, browser, chromium, page_process
from support.stack.rig import Rig, wait_for

SLOW_S = 120.0
"""Longest wait for what the browser shows, which it draws by software."""


@pytest.fixture(scope="module", autouse=True)
def _program() -> None:
    chromium()


@pytest.fixture(scope="module")
def served(running: Rig) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    with page_process() as found:
        yield found


@pytest.fixture(scope="module")
def open_tab() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def tab(served: tuple[str, Any], open_tab: Any) -> Tab:
    return open_tab(served[0])


def pick_cube(tab: Tab) -> None:
    tab.open("Run")
    tab.choose("skill", "pick")
    tab.choose("object", "cube")
    tab.press("Run")


def test_run_moves_the_cube_and_turns_the_verdict(rig: Rig, tab: Tab) -> None:
    tab.wait_text(r"^FALSE object_grabbed\(object=cube\)")
    tab.moved()
    pick_cube(tab)
    tab.wait_text(r"SUCCEEDED pick cube")
    tab.wait_text(r"^TRUE object_grabbed\(object=cube\)")
    assert {"/world/cube", "/robot/fr3_hand"} <= tab.moved()
    text = tab.text()
    assert "approach" in text and "picked 'cube'" in text
    assert tab.foreign == []  # everything is served by the page itself


def test_two_tabs_agree_and_cancel_ends_the_motion(
    rig: Rig, tab: Tab, served: tuple[str, Any], open_tab: Any
) -> None:
    second = open_tab(served[0])
    tab.open("Simulation")
    tab.choose("speed", "0.25 x")
    pick_cube(tab)
    rig.joints.wait_moving()
    second.wait_text(r"EXECUTING pick cube")
    second.press("Cancel")
    tab.wait_text(r"CANCELED pick cube")
    rig.joints.assert_rests()
    tab.open("Simulation")
    tab.choose("speed", "2 x")
    second.page.close()


def test_the_mouse_moves_an_object(rig: Rig, tab: Tab) -> None:
    places: dict[str, Any] = {}

    def note(message: ObjectStates) -> None:
        for state in message.states:
            p = state.pose.position
            places[state.name] = np.array([p.x, p.y, p.z])

    sub = rig.client.node.create_subscription(ObjectStates, "world/object_states", note, LATEST)
    wait_for("poses of objects", lambda: "can" in places)
    begun = places["can"]
    tab.page.wait_for_timeout(1000)  # the browser draws the reset scene
    tab.drag(tab.pixel_of(begun), tab.pixel_of(begun + np.array([0.0, -0.12, 0.05])))
    wait_for("a can that was moved", lambda: bool(np.linalg.norm((places["can"] - begun)[:2]) > 0.05), SLOW_S)
    rig.client.node.destroy_subscription(sub)


def test_the_end_of_the_page_leaves_the_goal_alone(rig: Rig, tab: Tab, served: tuple[str, Any]) -> None:
    pick_cube(tab)
    rig.joints.wait_moving()
    served[1].send_signal(signal.SIGKILL)
    served[1].wait(30)
    held = "{object: cube}"
    assert rig.stack.settled("object_grabbed", held, SLOW_S)[0]
