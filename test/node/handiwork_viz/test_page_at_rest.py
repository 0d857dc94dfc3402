"""While nobody looks at the page it has no node; with the next browser it is back, and a goal's end is awaited."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator

import pytest
from handiwork_msgs.msg import NodeStatus
from rclpy.node import Node

from handiwork_ros.actions.skill_report import SkillReport
from handiwork_ros.rclpy_support.background_node import BackgroundNode
from handiwork_ros.rclpy_support.qos import STATUS
from handiwork_viz.view.model.goals import GoalState
from handiwork_viz.view.ros.stack_link import StackLink

GRAPH_S = 60.0


@pytest.fixture
def observer() -> Iterator[Node]:
    with BackgroundNode("observer") as background:
        yield background.node


@pytest.fixture
def link() -> Iterator[StackLink]:
    one = StackLink()
    yield one
    one.close()


def wait_until(is_true: Callable[[], bool]) -> None:
    for _ in range(int(GRAPH_S / 0.05)):
        if is_true():
            return
        threading.Event().wait(0.05)
    raise AssertionError("not within the time")


def test_the_nodes_come_with_the_first_browser_and_go_with_the_last(observer: Node, link: StackLink) -> None:
    def nodes() -> list[str]:
        return [name for name in observer.get_node_names() if name.startswith("handiwork_view")]

    assert not link.is_awake
    assert link.world() is None
    assert not link.has_simulation()
    gc.collect()
    gc.disable()  # nodes that only a collection ended would stay for as long as none comes
    try:
        for _ in range(2):
            link.wake()
            wait_until(lambda: len(nodes()) == 2)
            assert link.rest()
            wait_until(lambda: not nodes())
            assert not link.is_awake
    finally:
        gc.enable()
    assert link.pause(True) == "sim/set_paused does not answer; only a simulation serves it"
    assert link.cancel_all() == 0


def test_what_was_seen_before_is_not_shown_as_new(observer: Node, link: StackLink) -> None:
    publisher = observer.create_publisher(NodeStatus, "handiwork/status", STATUS)
    link.wake()
    link.board.status("a", "pick", GoalState.EXECUTING, 0.0)

    def is_seen() -> bool:
        publisher.publish(NodeStatus(node="planner_node", state=NodeStatus.ACTIVE))
        return "planner_node" in link.nodes

    wait_until(is_seen)
    assert link.rest()
    assert not link.nodes
    assert not link.board.all()


def test_the_end_of_a_goal_of_this_page_is_awaited_until_the_page_itself_ends(link: StackLink) -> None:
    link.wake()
    reports: list[SkillReport] = []
    sent = threading.Thread(
        target=lambda: reports.append(link.run_skill("home", {}, "", plan_only=False, label="home"))
    )
    sent.start()
    wait_until(lambda: link.awaits_goal)
    assert not link.rest()
    assert link.is_awake
    link.close()
    sent.join(GRAPH_S)
    assert "the client was closed" in reports[0].outcome.message
