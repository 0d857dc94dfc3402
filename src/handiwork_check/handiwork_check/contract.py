"""The robot-and-world contract of one robot, as a table. Imports no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.robot.driver import Driver
from handiwork_core.robot.robot import (
    ArmSpec,
    BaseSpec,
    GripperSpec,
    Robot,
)

GROUPS = ("topics", "clock", "frames", "driver", "joints", "gripper", "suction", "contacts")
"""Groups of checks, which can be selected one by one; joints, gripper and suction move the robot."""


@dataclass(frozen=True, slots=True)
class TopicRule:
    """A topic of the contract.

    Attributes:
        name: Full name.
        type: Type of its messages.
        rate_hz: Messages per second of simulated or of steady time, whichever gives more; 0 for no rate.
        reliable: Its publishers must be reliable.
        latched: Its publishers must be transient local.
        single: Only one publisher is allowed.
        required: A backend without it breaks the contract.
        is_read: Its messages are received; those of drivers have types that may not be installed here.
    """

    name: str
    type: str
    rate_hz: float = 0.0
    reliable: bool = True
    latched: bool = False
    single: bool = True
    """Only one publisher is allowed."""
    required: bool = True
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class InterfaceRule:
    """An action or a service of the contract: its full name and its type."""

    name: str
    type: str


def grippers(robot: Robot) -> tuple[GripperSpec, ...]:
    """Return the grippers and suction cups of all arms.

    Args:
        robot: The robot.
    """
    return tuple(arm.gripper for arm in robot.arms.values() if arm.gripper is not None)


def topic_rules(robot: Robot, *, is_simulated: bool) -> tuple[TopicRule, ...]:
    """Return the rules of all topics; a real robot may lack those of the world.

    Args:
        robot: The robot.
        is_simulated: The backend is a simulator.
    """
    rules = [
        TopicRule("/joint_states", "sensor_msgs/msg/JointState", 100.0),
        TopicRule("/clock", "rosgraph_msgs/msg/Clock", 100.0, reliable=False, required=is_simulated),
        TopicRule("/tf", "tf2_msgs/msg/TFMessage", 10.0, single=False),
        TopicRule("/tf_static", "tf2_msgs/msg/TFMessage", latched=True, single=False),
        TopicRule("/robot_description", "std_msgs/msg/String", latched=True),
        TopicRule("/world/objects", "handiwork_msgs/msg/WorldObjects", latched=True, required=is_simulated),
        TopicRule("/world/object_states", "handiwork_msgs/msg/ObjectStates", 50.0, required=is_simulated),
        TopicRule("/world/contacts", "handiwork_msgs/msg/Contacts", 50.0, required=is_simulated),
    ]
    for tool in grippers(robot):
        if tool.suction is not None:
            name = f"/{tool.name}_controller/suction_state"
            rules.append(TopicRule(name, "handiwork_msgs/msg/SuctionState", 50.0))
    for arm in robot.arms.values():
        if arm.driver is not None:
            rules += _driver_rules(arm.driver, is_simulated=is_simulated)
    return tuple(rules)


def _driver_rules(driver: Driver, *, is_simulated: bool) -> list[TopicRule]:
    """Return the rules of what a driver reports; a simulation of its arm has nothing to report."""
    rules = [
        TopicRule(
            _full(driver.topic(signal.topic)),
            signal.type,
            latched=signal.latched,
            required=not is_simulated,
            is_read=False,
        )
        for signal in driver.signals
    ]
    if driver.speed_scaling:
        name = _full(driver.topic(driver.speed_scaling))
        rules.append(
            TopicRule(name, "std_msgs/msg/Float64", reliable=False, required=not is_simulated, is_read=False)
        )
    return rules


def _full(name: str) -> str:
    return f"/{name.removeprefix('/')}"


def action_rules(robot: Robot) -> tuple[InterfaceRule, ...]:
    """Return the rules of the actions of arms, a mobile base and grippers.

    Args:
        robot: The robot.
    """
    movers: list[ArmSpec | BaseSpec] = list(robot.arms.values())
    if robot.commanded_base is not None:
        movers.append(robot.commanded_base)
    rules = [
        InterfaceRule(
            f"{_full(m.controller)}/follow_joint_trajectory",
            "control_msgs/action/FollowJointTrajectory",
        )
        for m in movers
    ]
    if robot.navigation is not None:
        rules.append(InterfaceRule(_full(robot.navigation.action), "nav2_msgs/action/NavigateToPose"))
    rules += [
        InterfaceRule(_full(tool.action_name), f"control_msgs/action/{tool.action_type.value}")
        for tool in grippers(robot)
        if tool.suction is None
    ]
    return tuple(rules)


def service_rules(robot: Robot) -> tuple[InterfaceRule, ...]:
    """Return the rules of the services of suction cups.

    Args:
        robot: The robot.
    """
    return tuple(
        InterfaceRule(f"/{tool.name}_controller/set_suction", "handiwork_msgs/srv/SetSuction")
        for tool in grippers(robot)
        if tool.suction is not None
    )
