"""The bring-up script's node over ROS, with a session that only records the requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from geometry_msgs.msg import TransformStamped, TwistStamped
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from handiwork_core import isaac_wire as wire
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import Contact
from isaac_bridge.isaac_app.ros.bridge_topics import BridgeTopics
from support.nodes.ros_stage import Stage, stage, wait_for
from tf2_msgs.msg import TFMessage


class KeptSession:
    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.time_s = 0.0
        self.index = SimpleNamespace(grippers={"cup": "/cup"})
        self.app = SimpleNamespace(time_s=lambda: self.time_s)

    def reset(self) -> None:
        self.asked.append("reset")

    def pause(self, *, paused: bool) -> None:
        self.asked.append(("pause", paused))

    def step(self) -> str:
        return "the physics runs; pause it first"

    def place(self, name: str, pose: Pose) -> str:
        self.asked.append((name, pose.translation_m.tolist()))
        return ""

    def run_belt(self, name: str, velocity: tuple[float, float, float]) -> str:
        self.asked.append((name, velocity))
        return ""

    def switch(self, gripper: str, *, close: bool) -> None:
        self.asked.append((gripper, close))

    def cups(self) -> dict[str, wire.CupState]:
        return {"cup": wire.CupState(True, True, ("box",))}

    def contacts(self) -> tuple[Contact, ...]:
        return (Contact("box", "table", frozen((0.0, 0.0, 2.0)), frozen((0.1, 0.2, 0.3))),)


@contextmanager
def speaking() -> Iterator[tuple[Stage, KeptSession, Node]]:
    """Run the script's loop in a thread, with advancing time, and a user."""
    session, over = KeptSession(), threading.Event()
    topics = BridgeTopics(session)  # type: ignore[arg-type]

    def run() -> None:
        while not over.wait(0.002):
            session.time_s += 0.02
            topics.between_frames()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        with stage() as on:
            user = Node("user", context=on.context)
            on.add(user)
            yield on, session, user
    finally:
        over.set()
        thread.join()
        topics.close()


def ask(on: Stage, user: Node, kind: Any, name: str, request: Any) -> Any:
    client, answers = user.create_client(kind, name), list[Any]()
    wait_for(client.service_is_ready)
    on.executor.create_task(
        lambda: client.call_async(request).add_done_callback(lambda future: answers.append(future.result()))
    )
    wait_for(lambda: bool(answers))
    return answers[0]


def test_services_reach_the_session() -> None:
    with speaking() as (on, session, user):
        assert ask(on, user, Trigger, wire.RESET, Trigger.Request()).success
        assert ask(on, user, SetBool, wire.PAUSE, SetBool.Request(data=True)).success
        refused = ask(on, user, Trigger, wire.STEP, Trigger.Request())
        assert (refused.success, refused.message) == (False, "the physics runs; pause it first")
        assert ask(on, user, SetBool, wire.suction_service("cup"), SetBool.Request(data=True)).success
        assert session.asked == ["reset", ("pause", True), ("cup", True)]


def test_contacts_and_cups_are_what_the_adapter_reads() -> None:
    with speaking() as (_, session, user):
        received: dict[str, str] = {}
        for topic in (wire.CONTACTS, wire.SUCTION_STATE):
            user.create_subscription(String, topic, lambda m, key=topic: received.update({key: m.data}), 1)
        wait_for(lambda: len(received) == 2)
        stamp_s, (contact,) = wire.contacts_of(received[wire.CONTACTS])
        assert 0.0 < stamp_s <= session.time_s
        assert (contact.a, contact.b) == ("box", "table")
        assert contact.force_on_a_n.tolist() == pytest.approx([0.0, 0.0, 2.0])
        assert wire.cups_of(received[wire.SUCTION_STATE])[1] == session.cups()


def test_belts_run_as_commanded() -> None:
    with speaking() as (on, session, user):
        sender = user.create_publisher(TwistStamped, wire.BELT_VELOCITY, 10)
        wait_for(lambda: sender.get_subscription_count() == 1)
        message = TwistStamped()
        message.header.frame_id, message.twist.linear.y = "belt", 0.25
        on.executor.create_task(lambda: sender.publish(message))
        wait_for(lambda: session.asked == [("belt", (0.0, 0.25, 0.0))])


def test_objects_are_put_where_they_are_sent() -> None:
    with speaking() as (on, session, user):
        sender = user.create_publisher(TFMessage, wire.SET_POSES, 10)
        wait_for(lambda: sender.get_subscription_count() == 1)
        bad, good = TransformStamped(child_frame_id="bad"), TransformStamped(child_frame_id="box")
        bad.transform.rotation.w = 3.0
        good.transform.translation.x = 0.5
        on.executor.create_task(lambda: sender.publish(TFMessage(transforms=[bad, good])))
        wait_for(lambda: session.asked == [("box", [0.5, 0.0, 0.0])])
