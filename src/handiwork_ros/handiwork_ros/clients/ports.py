"""The ports of ``handiwork_core.contracts.ports`` over ROS, in one place to import from."""

from handiwork_ros.ports.arm_and_gripper import ArmClient, GripperClient
from handiwork_ros.ports.planner import PlannerClient
from handiwork_ros.ports.robot_watch import RobotWatch
from handiwork_ros.ports.suction import SuctionClient, tool_client
from handiwork_ros.rclpy_support.ros_clock import RosClock

__all__ = [
    "ArmClient",
    "GripperClient",
    "PlannerClient",
    "RobotWatch",
    "RosClock",
    "SuctionClient",
    "tool_client",
]
