"""Interfaces rebuilt from field lists equal the upstream ones; otherwise native nodes could not communicate."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

UPSTREAM = {
    "control_msgs/action/FollowJointTrajectory": "738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6",
    "control_msgs/action/GripperCommand": "e17c0e644eccf14bea84a0a93e0977182872c2eb7873ca6694900059b46dbc84",
    "control_msgs/action/ParallelGripperCommand": "adfd3c1ebe8abc38ebcc0e454b6423d291d4010dd5697d14eca5b9be4726ae18",
    "control_msgs/msg/JointTolerance": "c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648",
    "control_msgs/msg/JointComponentTolerance": "739ea7566931944d33830fa10f1bf5e7a7fbdc3172bce7a7eaac642bd6e3ffa4",
    "control_msgs/msg/JointTrajectoryControllerState": (
        "51d8dd89cc624cbe9daaeeb4d80d6de9b86168ffdc3be41fefc0953e3c26e480"
    ),
    "tf2_msgs/msg/TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "tf2_msgs/msg/TF2Error": "db2485e7d6a0ec75bf087e058ee45df682acc3a621ca7780503d10aac141809a",
    "tf2_msgs/srv/FrameGraph": "0d1fbc6222c018ba5f33822904a2fdd4063705289956d3fdde07cd8c50fe8067",
    "tf2_msgs/action/LookupTransform": "0b8adf6bc0b5958879e3265b41a457e03558fe523890a81252c70eba97a82c5d",
}
"""RIHS01 hashes of ROS 2 Jazzy: tf2_msgs of ros2/geometry2, control_msgs 5.8.0 of ros-controls/control_msgs."""


def description_file(interface: str) -> Path:
    """Return the type description that is installed for an interface: the wheels' environment, or a sourced ROS."""
    prefixes = [sys.prefix, *os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    files = [Path(prefix) / "share" / f"{interface}.json" for prefix in prefixes if prefix]
    found = [path for path in files if path.is_file()]
    assert found, f"{interface} is installed nowhere: none of {', '.join(map(str, files))} exists"
    return found[0]


def installed_hash(interface: str) -> str:
    """Return the hash that the installed package's generator wrote down for an interface."""
    description = json.loads(description_file(interface).read_text(encoding="utf-8"))
    hashes = {entry["type_name"]: entry["hash_string"] for entry in description["type_hashes"]}
    return str(hashes[interface])


@pytest.mark.parametrize("interface", UPSTREAM)
def test_installed_type_hash_is_upstreams(interface: str) -> None:
    assert installed_hash(interface) == f"RIHS01_{UPSTREAM[interface]}"


def test_the_middleware_announces_upstreams_type_hash() -> None:
    import rclpy

    from tf2_msgs.msg import TFMessage

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("type_hash_probe", context=context)
    try:
        node.create_publisher(TFMessage, "type_hash_probe", 1)
        (publisher,) = node.get_publishers_info_by_topic("type_hash_probe")
        assert str(publisher.topic_type_hash).endswith(UPSTREAM["tf2_msgs/msg/TFMessage"])
    finally:
        node.destroy_node()
        context.shutdown()
