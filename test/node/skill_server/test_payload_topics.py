"""What an arm carries is published, latched, when it changes: the tool alone, then the tool with the held object."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from geometry_msgs.msg import InertiaStamped
from rclpy.node import Node

from handiwork_core.contracts.planning import Attachment
from handiwork_core.dynamics.payload import object_mass, tool_mass
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.rclpy_support.qos import LATCHED
from skill_server.ros.payload_topics import PayloadTopics
from skill_server.state.watched_held import WatchedHeld
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS

LIMIT_S = 30.0
BOX = WorldObject("box", (Shape(ShapeKind.BOX, frozen((0.04, 0.06, 0.1)), Pose.identity()),), mass_kg=0.8)
LIGHT = WorldObject("light", BOX.shapes)
HAND_T_BOX = Pose.of((0.0, 0.01, 0.12))
FLANGE_T_HAND_RAD = -0.7853981633974483


@pytest.fixture
def made() -> Iterator[Stage]:
    with stage() as opened:
        yield opened


def newest(made: Stage, topic: str) -> list[InertiaStamped]:
    got: list[InertiaStamped] = []
    node = Node(f"reader_of_{topic.split('/')[-1]}", context=made.context)
    node.create_subscription(InertiaStamped, topic, got.append, LATCHED)
    made.add(node)
    return got


def test_a_grasp_and_a_release_change_what_the_topics_hold(made: Stage) -> None:
    robot = load_robot(ROBOTS / "fr3")
    arm, node = robot.arm(""), Node("payload", context=made.context)
    objects = {"box": BOX, "light": LIGHT}
    held = WatchedHeld(PayloadTopics(node, robot, arm, lambda: objects).show)
    made.add(node)
    payloads, loads = newest(made, "fr3_arm/payload"), newest(made, "fr3_arm/load")
    tool_kg = tool_mass(robot, arm).mass_kg
    wait_for(lambda: bool(payloads and loads), LIMIT_S)
    assert payloads[-1].header.frame_id == "fr3/fr3_link8"
    assert payloads[-1].inertia.m == pytest.approx(tool_kg) and loads[-1].inertia.m == 0.0

    held["box"] = Attachment("box", "fr3_hand", HAND_T_BOX)
    wait_for(lambda: loads[-1].inertia.m == 0.8 and payloads[-1].inertia.m > 1.0, LIMIT_S)
    assert payloads[-1].inertia.m == pytest.approx(tool_kg + 0.8)
    load = loads[-1].inertia
    turn = Pose.identity().rotation.from_rpy(0.0, 0.0, FLANGE_T_HAND_RAD)
    expected = object_mass(BOX, Pose.of((0.0, 0.0, 0.0), turn) @ HAND_T_BOX)
    np.testing.assert_allclose([load.com.x, load.com.y, load.com.z], expected.centre, atol=1e-6)
    np.testing.assert_allclose(
        [load.ixx, load.ixy, load.izz], expected.tensor()[[0, 0, 2], [0, 1, 2]], atol=1e-9
    )
    # The hand is measured again at each goal: a change below a millimetre is none, and repetitions are equal.
    held["box"] = Attachment("box", "fr3_hand", Pose.of((0.0, 0.0105, 0.12)))
    held["light"] = Attachment("light", "fr3_hand", HAND_T_BOX)
    del held["light"]
    del held["box"]
    wait_for(lambda: loads[-1].inertia.m == 0.0 and payloads[-1].inertia.m < 1.0, LIMIT_S)
    assert {round(one.inertia.m, 6) for one in loads} == {0.0, 0.8}
    assert len({(one.inertia.com.x, one.inertia.com.y) for one in loads}) == 2
