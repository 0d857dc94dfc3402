"""The buttons of the page in a real browser: preview, cancel, pause, step, stop, the mouse, and the page's end."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from handiwork_msgs.action import Pick
from handiwork_msgs.msg import ObjectStates
from rcl_interfaces.srv import GetParameters
from std_msgs.msg import String

from decider_node.network.network import Network
from decider_node.network.priority import Option, Selector
from decider_node.network.text_view import draw
from handiwork_cli.stack.stack import Stack
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST
from support.stack.browser import Tab, browser, chromium, page_process
from support.stack.rig import Rig, wait_for

pytestmark = pytest.mark.timeout(1800)
Opener = Callable[..., Tab]
Served = tuple[str, subprocess.Popen[str]]
CRAWL = Pick.Goal(object="cube", max_velocity_scaling_factor=0.02)
"""A goal that still runs when the slowest browser has drawn it."""
MOVING = 2.0 * JOINT_REST
"""Speed of the fastest joint from which on that goal moves the arm, rad/s."""
SLOW_S = 240.0
"""Longest wait for what the browser shows, which it draws by software."""
DRAG = (0.0, -0.12, 0.05)
"""How far the mouse draws the can, m."""
MOVED_M = 0.05
GOOD_TASK = """
seed: 3
skills:
  - fr3:
      - fr3_arm: [{name: pick, object: cube}]
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Rig]:
    chromium()  # before the stack starts
    # Half of the real pace: a goal of half a minute was over before two tabs without a GPU had pressed its Cancel.
    with Stack({"real_time_factor": "0.5"}) as stack:
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
    with closing(open_tab(served[0])) as second:
        handle = rig.client.send(CRAWL)
        rig.joints.wait_moving(speed=MOVING, timeout_s=SLOW_S)
        for one in (tab, second):
            one.open("Run")
            one.wait_text(r"EXECUTING pick")
        second.press("Cancel")
        for one in (tab, second):
            one.wait_text(r"CANCELED pick")
        assert handle.result(SLOW_S).outcome.code is Code.CANCELED
        rig.joints.assert_rests()


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
    handle = rig.client.send(CRAWL)
    rig.joints.wait_moving(speed=MOVING, timeout_s=SLOW_S)
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


def test_randomise_reset_and_speed(rig: Rig, tab: Tab) -> None:
    places: dict[str, Array] = {}

    def note(message: ObjectStates) -> None:
        for state in message.states:
            p = state.pose.position
            places[state.name] = np.array([p.x, p.y, p.z])

    def speed() -> float:
        request = GetParameters.Request(names=["real_time_factor"])
        answer = rig.stack.call(GetParameters, "sim_bridge/get_parameters", request)
        return float(answer.values[0].double_value)

    sub = rig.client.node.create_subscription(ObjectStates, "world/object_states", note, LATEST)
    wait_for("poses of objects", lambda: "cube" in places, SLOW_S)
    begun = places["cube"]
    tab.open("Simulation")
    tab.press("Randomise")
    wait_for("a scattered cube", lambda: np.linalg.norm(places["cube"] - begun).item() > 0.01, SLOW_S)
    tab.press("Reset")
    wait_for("a cube in its place", lambda: np.linalg.norm(places["cube"] - begun).item() < 0.005, SLOW_S)
    for words, factor in (("2 x", 2.0), ("0.5 x", 0.5)):
        tab.choose("speed", words)
        wait_for(f"a speed of {words}", lambda factor=factor: speed() == factor, SLOW_S)
    rig.client.node.destroy_subscription(sub)


def test_a_task_file_is_checked_and_run(rig: Rig, tab: Tab, tmp_path: Path) -> None:
    for name, text in (("good", GOOD_TASK), ("bad", GOOD_TASK.replace("cube", "cbue"))):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    tab.open("Task")
    tab.give_file("Open a file of this computer", tmp_path / "bad.yaml")
    tab.press("Check")
    tab.wait_text(r"cbue")
    tab.give_file("Open a file of this computer", tmp_path / "good.yaml")
    tab.press("Check")
    tab.wait_text(r"every step is valid")
    rig.joints.assert_rests()
    tab.press("Run task")
    tab.open("Run")
    tab.wait_text(r"SUCCEEDED task good\.yaml")


def test_the_decider_network_shows_its_active_path(rig: Rig, tab: Tab) -> None:
    network = Network(Selector("sort", [Option[None]("busy"), Option[None]("rest")]), None)
    network.tick(0.0)
    publisher = rig.client.node.create_publisher(String, "decider/network", LATCHED)
    publisher.publish(String(data=draw(network)))
    tab.open("Decider")
    tab.wait_text(r"^> +busy")
    coloured = tab.page.locator("pre span").all_inner_texts()
    assert [one.split() for one in coloured] == [[">", "sort"], [">", "busy"]]
    assert re.search(r"^\s+rest$", tab.text(), re.MULTILINE)
    tab.open("Conditions")
    rig.client.node.destroy_publisher(publisher)


def test_a_failure_is_shown_and_played_again(rig: Rig, open_tab: Opener) -> None:
    handle = rig.client.send(CRAWL)
    rig.joints.wait_moving(speed=MOVING, timeout_s=SLOW_S)
    handle.cancel()
    bundle = Path(handle.result(SLOW_S).bundle)
    wait_for(f"the bundle {bundle}", bundle.is_file, SLOW_S)
    with (
        page_process("replay", str(bundle), "--view") as (address, _),
        closing(open_tab(address, "Play")) as shown,
    ):
        shown.wait_text(r"ended with CANCELED")
        shown.wait_text(r"the same outcome")
        shown.press_and_receive("Play", r"\d\.\d\d s: fr3_arm follows a motion")
        assert shown.foreign == []


def test_the_end_of_the_page_leaves_the_goal_alone(rig: Rig, tab: Tab, served: Served) -> None:
    tab.pick("cube")
    rig.joints.wait_moving(speed=MOVING, timeout_s=SLOW_S)
    served[1].send_signal(signal.SIGKILL)
    served[1].wait(30)
    assert rig.stack.settled("object_grabbed", "{object: cube}", SLOW_S)[0]
