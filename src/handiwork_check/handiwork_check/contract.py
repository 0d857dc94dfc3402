"""The robot-and-world contract of one robot, as a table. Knows no ROS."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.robot.robot import (
    ArmSpec,
    BaseSpec,
    GripperSpec,
    Robot,
)

GROUPS = ("topics", "clock", "frames", "joints", "gripper", "suction", "contacts")
"""What can be checked, one by one; joints, gripper and suction move the robot."""


@dataclass(frozen=True, slots=True)
class TopicRule:
    """``rate_hz``: per second of simulated or of steady time, whichever is more; 0 for none."""

    name: str
    type: str
    rate_hz: float = 0.0
    reliable: bool = True
    latched: bool = False
    single: bool = True
    """One publisher only."""
    required: bool = True


@dataclass(frozen=True, slots=True)
class DoorRule:
    """An action or a service."""

    name: str
    type: str


def grippers(robot: Robot) -> tuple[GripperSpec, ...]:
    """The grippers and cups of all arms."""
    return tuple(arm.gripper for arm in robot.arms.values() if arm.gripper is not None)


def topic_rules(robot: Robot, *, is_simulated: bool) -> tuple[TopicRule, ...]:
    """Topics; a real robot may lack the world's."""
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
    return tuple(rules)


def action_rules(robot: Robot) -> tuple[DoorRule, ...]:
    """Actions of arms, a mobile base and grippers."""
    movers: list[ArmSpec | BaseSpec] = list(robot.arms.values())
    if robot.base is not None:
        movers.append(robot.base)
    rules = [
        DoorRule(f"/{m.controller}/follow_joint_trajectory", "control_msgs/action/FollowJointTrajectory")
        for m in movers
    ]
    rules += [
        DoorRule(f"/{tool.name}_controller/gripper_cmd", "control_msgs/action/ParallelGripperCommand")
        for tool in grippers(robot)
        if tool.suction is None
    ]
    return tuple(rules)


def service_rules(robot: Robot) -> tuple[DoorRule, ...]:
    """Services of suction cups."""
    return tuple(
        DoorRule(f"/{tool.name}_controller/set_suction", "handiwork_msgs/srv/SetSuction")
        for tool in grippers(robot)
        if tool.suction is not None
    )
