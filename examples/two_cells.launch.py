"""Two stacks in one launch file: ``ros2 launch examples/two_cells.launch.py``, on an installation of ROS 2.

Each robot works in a cell and a namespace of its own. Further arguments of ``bringup.launch.xml``, such as
``scene_file`` and ``robot_dir``, are given in the same way; ``ros2 launch handiwork_bringup bringup.launch.xml
--show-args`` lists them.
"""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

CELLS = {"left": "fr3", "right": "fr3_robotiq"}
"""Robot of each namespace."""


def cell(namespace: str, robot: str) -> GroupAction:
    """Return the whole stack of one cell; the group keeps its arguments from the next one.

    Args:
        namespace: Of all its topics, services and actions.
        robot: A robot of ``robot_description``.
    """
    bringup = PathJoinSubstitution([FindPackageShare("handiwork_bringup"), "launch", "bringup.launch.xml"])
    arguments = {
        "namespace": namespace,
        "robot": robot,
        "scene": LaunchConfiguration("scene"),
    }
    return GroupAction(
        [IncludeLaunchDescription(AnyLaunchDescriptionSource(bringup), launch_arguments=arguments.items())]
    )


def generate_launch_description() -> LaunchDescription:
    """Return a stack for each cell."""
    scene = DeclareLaunchArgument("scene", default_value="tabletop", description="Scene of both cells.")
    return LaunchDescription([scene, *(cell(*item) for item in CELLS.items())])
