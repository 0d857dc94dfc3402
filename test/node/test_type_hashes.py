"""Interfaces rebuilt from field lists equal the upstream ones; otherwise native nodes could not communicate."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

UPSTREAM = {
    "control_msgs/action/FollowJointTrajectory": "738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6",
    "control_msgs/action/GripperCommand": "e17c0e644eccf14bea84a0a93e0977182872c2eb7873ca6694900059b46dbc84",
    "control_msgs/action/ParallelGripperCommand": "adfd3c1ebe8abc38ebcc0e454b6423d291d4010dd5697d14eca5b9be4726ae18",
    "control_msgs/msg/JointJog": "ba249455a20f70168a1acb7bf43b776b72ff1f7eb5fc4cfea443f749e963c6e7",
    "control_msgs/msg/JointTolerance": "c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648",
    "control_msgs/msg/JointComponentTolerance": "739ea7566931944d33830fa10f1bf5e7a7fbdc3172bce7a7eaac642bd6e3ffa4",
    "control_msgs/msg/JointTrajectoryControllerState": (
        "51d8dd89cc624cbe9daaeeb4d80d6de9b86168ffdc3be41fefc0953e3c26e480"
    ),
    "tf2_msgs/msg/TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "tf2_msgs/msg/TF2Error": "db2485e7d6a0ec75bf087e058ee45df682acc3a621ca7780503d10aac141809a",
    "tf2_msgs/srv/FrameGraph": "0d1fbc6222c018ba5f33822904a2fdd4063705289956d3fdde07cd8c50fe8067",
    "tf2_msgs/action/LookupTransform": "0b8adf6bc0b5958879e3265b41a457e03558fe523890a81252c70eba97a82c5d",
    "vision_msgs/msg/Detection3DArray": "793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018",
    "vision_msgs/msg/Detection3D": "ddd703be132ab0b69d33121f1bb034132bfbb3b0ac5f9fb1516005ba1c8a265b",
    "vision_msgs/msg/ObjectHypothesisWithPose": (
        "41c12344c0396c48b81df12467c192d99b2a0eb1463c5c37194e4223251c80bc"
    ),
    "vision_msgs/msg/BoundingBox3D": "bbb73a65c163d7f9bb29009c7bde9f7faa576bd2d23299c4511d19230dab4698",
}
"""RIHS01 hashes of ROS 2 Jazzy: tf2_msgs of ros2/geometry2, control_msgs 5.8.0 of ros-controls/control_msgs.

Those of vision_msgs are computed from the fields of its release 4.1.1, ros-perception/vision_msgs.
"""

MOVEIT = {
    "moveit_msgs/action/MoveGroup": "8c41d70908a2d26b564ddac31e9710f697a753bbd2a4d229542f76271daefc0b",
    "moveit_msgs/action/ExecuteTrajectory": "e1ed3386f275fc8cea91cc78701074f892e78e583be2f8063eea5616dd1065fc",
    "moveit_msgs/srv/GetMotionPlan": "0e118e1d8d53d5fea8eea309fc06a58239fa0e617864127e7de8399ab7335b27",
    "moveit_msgs/srv/GetCartesianPath": "b19f501df5d378141d918199894c3ad24533e76021a880b15dc5d62fec8d7b1a",
    "moveit_msgs/srv/GetPositionIK": "054ed6f6f71a09b01b5246c5d80beb4dacc6f444f58df039849c76292933e9e3",
    "moveit_msgs/srv/GetPositionFK": "2f16ec361a135d84b85a29385abeb9eeb025e39c09038bd6b2826645edc7edad",
    "moveit_msgs/srv/GetStateValidity": "e9fcd24ae0fd8c2f16d4afe397efaf03427d1f899fe91ecf6cb7f7f1c6ca8720",
    "moveit_msgs/srv/GetPlanningScene": "7ed7e96238b902174d985b0eb739ea08c95377e8e46a6a9014c22497faf79cd2",
    "moveit_msgs/srv/ApplyPlanningScene": "8e6134783db0987c0acedbfd2f16f608a8f7a54e83a7bbb372e851af419f4d72",
    "moveit_msgs/srv/QueryPlannerInterfaces": "c7550fca36d2ac8b3463b25c723baaf7ecd313d659d23d519c021b519e07b431",
    "moveit_msgs/srv/GetPlannerParams": "770299091d17ec6f49840b0c5f9fee51a51508c0d5c4b5b561ec3b878fbbfa42",
    "moveit_msgs/srv/SetPlannerParams": "ad1d0693c449aaa77e5b55619af75e1b34bdcac05acbfcbcffd62819f9ac817d",
    "moveit_msgs/msg/CollisionObject": "74b0acd6d56be032bf4f764b2c2633f50588b5fb2bd71e97206c59052747cf7e",
    "moveit_msgs/msg/AttachedCollisionObject": "7fdfe7951a33a857f20fc42c9ed410a38d06dd0c209ac774ecea746dc487dc41",
    "moveit_msgs/msg/DisplayTrajectory": "dd351cbd6d9986eb019306910ec09236a136a02dbc0b3465707cb62f2d56e22b",
    "moveit_task_constructor_msgs/action/ExecuteTaskSolution": (
        "67e039d9b8ce7154b303755f666d3a983ba74f40b0a3626b1a7e7f033a8a3095"
    ),
    "octomap_msgs/msg/OctomapWithPose": "e65f8760aa96a2acef86b6d206175cfc78420082b6159dd3fa6ebf93f5f81979",
    "object_recognition_msgs/msg/ObjectType": "5eb3ee3976403366d7c50d7dbee8bec96b3bced1e752674a7194a35841632134",
}
"""The same of the untrimmed files of moveit_msgs 2.6.0, octomap_msgs 2.0.0, object_recognition_msgs 2.0.0 and
moveit_task_constructor_msgs 0.1.5."""


NAV2 = {
    "nav2_msgs/action/NavigateToPose": "a56dba8a3234a1215e610180dc703ae25bbf406dded8b54887891c9732857eab",
}
"""The same of the untrimmed file of nav2_msgs 1.3.13, which is Jazzy's, and of 1.4.2, which is Kilted's."""


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


@pytest.mark.parametrize("interface", MOVEIT)
def test_the_type_hash_of_an_interface_of_moveit_is_upstreams(interface: str) -> None:
    if importlib.util.find_spec("moveit_msgs") is None:
        pytest.skip("the interfaces of MoveIt are not built: run `make setup-moveit`")
    assert installed_hash(interface) == f"RIHS01_{MOVEIT[interface]}"


@pytest.mark.parametrize("interface", NAV2)
def test_the_type_hash_of_an_interface_of_nav2_is_upstreams(interface: str) -> None:
    if importlib.util.find_spec("nav2_msgs") is None:
        pytest.skip("the interface of nav2 is not built: run `make setup-nav2`")
    assert installed_hash(interface) == f"RIHS01_{NAV2[interface]}"


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
