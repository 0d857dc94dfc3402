"""The ports of ``handiwork_core.contracts.ports`` over ROS, in one place to import from."""

from .planner_client import PlannerClient
from .robot_clients import ArmClient, GripperClient
from .robot_watch import RobotWatch
from .ros_clock import RosClock
from .suction_client import SuctionClient, tool_client

__all__ = [
    "ArmClient",
    "GripperClient",
    "PlannerClient",
    "RobotWatch",
    "RosClock",
    "SuctionClient",
    "tool_client",
]
