"""The actions that command grippers: ``ParallelGripperCommand`` of Jazzy's controllers, and ``GripperCommand``."""

from __future__ import annotations

from typing import Any

from control_msgs.action import GripperCommand, ParallelGripperCommand
from handiwork_core.robot.robot import GripperAction, GripperSpec

TYPES = {GripperAction.PARALLEL: ParallelGripperCommand, GripperAction.SINGLE: GripperCommand}


def gripper_action(spec: GripperSpec) -> Any:
    """Return the type of the action of a gripper.

    Args:
        spec: The gripper.
    """
    return TYPES[spec.action_type]


def gripper_goal(spec: GripperSpec, position: float, force_n: float, speed: float = 0.0) -> Any:
    """Return a goal for the action of a gripper.

    Args:
        spec: The gripper.
        position: Position of its joint, m or rad.
        force_n: Largest force of a finger, N.
        speed: Speed of the joint, m/s or rad/s; 0 leaves it to the gripper. ``GripperCommand`` has none.
    """
    goal = gripper_action(spec).Goal()
    if spec.action_type is GripperAction.SINGLE:
        goal.command.position, goal.command.max_effort = position, force_n
        return goal
    goal.command.name, goal.command.position, goal.command.effort = [spec.joint], [position], [force_n]
    goal.command.velocity = [speed] if speed > 0.0 else []
    return goal


def gripper_result(spec: GripperSpec, position: float, *, stalled: bool, reached: bool) -> Any:
    """Return a result of the action of a gripper.

    Args:
        spec: The gripper.
        position: Measured position of its joint, m or rad.
        stalled: It stands still short of the goal.
        reached: It is at the goal.
    """
    result = gripper_action(spec).Result(stalled=stalled, reached_goal=reached)
    if spec.action_type is GripperAction.SINGLE:
        result.position = position
    else:
        result.state.name, result.state.position = [spec.joint], [position]
    return result
