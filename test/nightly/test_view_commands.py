"""The buttons of the page in a real browser: preview, cancel, pause, step, stop, the mouse, and the page's end."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from handiwork_msgs.msg import ObjectStates

from handiwork_cli.stack.stack import Stack
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_ros.rclpy_support.qos import LATEST
from support.stack.browser import Tab, browser, chromium, page_process
from support.stack.rig import SLOW, Rig, wait_for

pytestmark = pytest.mark.timeout(1800)
Opener = Callable[[str], Tab]
Served = tuple[str, subprocess.Popen[str]]
SLOW_S = 120.0
"""Longest wait for what the browser shows, which it draws by software."""
DRAG = (0.0, -0.12, 0.05)
"""How far the mouse draws the can, m."""
MOVED_M = 0.05


@pytest.fixture(scope="module")
def running() -> Iterator[Rig]:
    chromium()  # before the stack starts
    with Stack({"real_time_factor": "2"}) as stack:
        stack.wait_active()
        yield Rig(stack)


@pytest.fixture
def rig(running: Rig) -> Rig:
    running.stack.wait_active(60.0)
    running.reset()
    return running


@pytest.fixture(scope="module")
def served(running: Rig) -> Iterator[Served]:
    with page_process() as found:
        yield found


@pytest.fixture(scope="module")
def open_tab() -> Iterator[Opener]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def tab(served: Served, open_tab: Opener) -> Tab:
    return open_tab(served[0])


def test_a_preview_moves_nothing_until_it_is_executed(rig: Rig, tab: Tab) -> None:
    tab.pick("cube", "Preview")
    tab.wait_text(r"SUCCEEDED preview of pick cube")
    tab.button("Execute the preview").wait_for()
    rig.joints.assert_rests()
    assert rig.joints.greatest_change() < 0.01
    tab.press("Execute the preview")
    tab.wait_text(r"SUCCEEDED pick as previewed")
    tab.wait_text(r"^TRUE object_grabbed\(object=cube\)")


def test_two_tabs_agree_and_one_cancels_the_goal_of_another_program(
    rig: Rig, tab: Tab, served: Served, open_tab: Opener
) -> None:
    second = open_tab(served[0])
    handle = rig.client.send(SLOW)
    rig.joints.wait_moving(timeout_s=SLOW_S)
    for one in (tab, second):
        one.open("Run")
        one.wait_text(r"EXECUTING pick")
    second.press("Cancel")
    for one in (tab, second):
        one.wait_text(r"CANCELED pick")
    assert handle.result(SLOW_S).outcome.code is Code.CANCELED
    rig.joints.assert_rests()
    second.page.close()


def test_pause_step_and_continue(rig: Rig, tab: Tab) -> None:
    tab.open("Simulation")
    tab.press("Pause")
    tab.wait_text(r"Simulation: paused")
    paused_s = rig.joints.newest.stamp_s
    tab.press("Step")
    wait_for("a step", lambda: rig.joints.newest.stamp_s > paused_s + 0.09, SLOW_S)
    tab.wait_text(r"Simulation: paused")
    assert rig.joints.newest.stamp_s == pytest.approx(paused_s + 0.1, abs=0.01)
    tab.press("Continue")
    wait_for("the world's time", lambda: rig.joints.newest.stamp_s > paused_s + 1.0, SLOW_S)


def test_stop_all_ends_the_goal_and_recover_lets_the_next_one_run(rig: Rig, tab: Tab) -> None:
    handle = rig.client.send(SLOW)
    rig.joints.wait_moving(timeout_s=SLOW_S)
    tab.open("Run")
    tab.wait_text(r"EXECUTING pick")
    tab.press("Stop all")
    assert not handle.result(SLOW_S).outcome.ok
    rig.joints.assert_rests()
    tab.open("Simulation")
    tab.press("Recover after Stop all")
    tab.drawn()
    tab.pick("cube")
    tab.wait_text(r"SUCCEEDED pick cube")


def test_the_mouse_moves_an_object(rig: Rig, tab: Tab) -> None:
    places: dict[str, Array] = {}

    def note(message: ObjectStates) -> None:
        for state in message.states:
            p = state.pose.position
            places[state.name] = np.array([p.x, p.y, p.z])

    sub = rig.client.node.create_subscription(ObjectStates, "world/object_states", note, LATEST)
    wait_for("poses of objects", lambda: "can" in places, SLOW_S)
    begun = places["can"]
    tab.page.wait_for_timeout(1000)  # the page hears of the reset
    tab.drawn(4)
    tab.drag(tab.pixel_of(begun), tab.pixel_of(begun + np.array(DRAG)))
    wait_for(
        "a can that was moved", lambda: np.linalg.norm((places["can"] - begun)[:2]).item() > MOVED_M, SLOW_S
    )
    rig.client.node.destroy_subscription(sub)


def test_the_end_of_the_page_leaves_the_goal_alone(rig: Rig, tab: Tab, served: Served) -> None:
    tab.pick("cube")
    rig.joints.wait_moving(timeout_s=SLOW_S)
    served[1].send_signal(signal.SIGKILL)
    served[1].wait(30)
    assert rig.stack.settled("object_grabbed", "{object: cube}", SLOW_S)[0]
