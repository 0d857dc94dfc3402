"""Publishers of a topic are known by node and GID, and two that send the time at once are detected."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock as ClockMsg
from std_msgs.msg import String

from handiwork_ros.intake.topic_writers import ClockWriters, TopicWriters, publishers_of
from handiwork_ros.rclpy_support.qos import CLOCK, LATEST
from support.nodes.ros_stage import stage, wait_for

PERIOD_S = 0.01


class ClockSource(Node):
    """Publishes ``/clock`` a hundred times a second; its time does not advance, so nothing else happens."""

    def __init__(self, name: str, context: object) -> None:
        super().__init__(name, context=context, namespace="lab")
        publisher = self.create_publisher(ClockMsg, "/clock", CLOCK)
        self.create_timer(PERIOD_S, lambda: publisher.publish(ClockMsg()))


def test_publishers_come_and_go_by_name_and_gid(nothing_left_over: None) -> None:
    with stage() as made:
        node = Node("looker", context=made.context)
        made.add(node)
        writers = TopicWriters(node, ("words",))
        assert writers.of("words") == ()
        first = node.create_publisher(String, "words", LATEST)
        second = node.create_publisher(String, "words", LATEST)
        wait_for(lambda: len(writers.of("words")) == 2)
        found = writers.of("words")
        assert {one.node for one in found} == {"/looker"}
        assert len({one.gid for one in found}) == 2 and all(len(one.gid) == 32 for one in found)
        assert found == publishers_of(node, "words")
        assert "GID" in str(found[0])
        node.destroy_publisher(second)
        wait_for(lambda: len(writers.of("words")) == 1)
        node.destroy_publisher(first)


def test_two_sources_of_the_time_are_noticed_and_one_is_not(nothing_left_over: None) -> None:
    with stage() as made:
        node = Node(
            "looker", context=made.context, parameter_overrides=[Parameter("use_sim_time", value=True)]
        )
        made.add(node)
        writers, one = ClockWriters(node), ClockSource("clock_1", made.context)
        made.add(one)
        wait_for(lambda: writers._writers._current is not None and writers._writers._current.number > 200)
        assert not writers.are_several()
        made.add(ClockSource("clock_2", made.context))
        wait_for(writers.are_several)
