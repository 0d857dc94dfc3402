"""``control_msgs/action/GripperCommand`` of every gripper, beside the ``ParallelGripperCommand`` of its controller."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from control_msgs.action import GripperCommand
from handiwork_core.contracts.skill import Token
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.robot.groups import Group
from moveit_facade.ros.planning import MotionPlanning

from .controlled_motion import ControlledMotion, motion_error
from .goal_frame import GoalFrame

REACHED_M = 0.002
"""Distance of the pads from the wanted opening up to which it is reached, m."""
ONLY = "gripper_action_controller/gripper_cmd"
"""Name of the action of a robot's only gripper, as in MoveIt's configurations."""


def action_names(groups: dict[str, Group]) -> dict[str, Group]:
    """Return the names of the actions: one for each gripper, and the usual one for an only gripper.

    Args:
        groups: The planning groups of the robot.
    """
    grippers = [group for group in groups.values() if not group.is_arm]
    names = {f"{group.name}_action_controller/gripper_cmd": group for group in grippers}
    if len(grippers) == 1:
        names[ONLY] = grippers[0]
    # A driver may serve one of these names itself; clients reach it then without move_group.
    drivers = {group.gripper.action_name.removeprefix("/") for group in grippers if group.gripper is not None}
    return {name: group for name, group in names.items() if name not in drivers}


class GripperActions:
    """Moves grippers.

    Args:
        frame: Serves the actions.
        planning: Reads the measured joints.
        motion: Executes.
    """

    def __init__(self, frame: GoalFrame, planning: MotionPlanning, motion: ControlledMotion) -> None:
        self._planning, self._motion = planning, motion
        for name, group in action_names(planning.groups).items():
            frame.serve(GripperCommand, name, partial(self._move, group), _no_field)

    async def _move(self, group: Group, handle: Any, token: Token, result: Any) -> None:
        command, gripper = handle.request.command, group.gripper
        assert gripper is not None
        if not math.isfinite(command.position) or not command.max_effort >= 0.0:
            text = f"command is {command.position} with max_effort {command.max_effort}; send finite numbers"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        wanted, force_n = float(command.position), float(command.max_effort)
        outcome = await self._motion.move_gripper(group, wanted, force_n, token)
        position = self._planning.reader.measured().positions[gripper.joint]
        gap_m = abs(gripper.width(position) - gripper.width(wanted))
        result.position, result.effort = position, force_n
        result.reached_goal = outcome.ok and gap_m <= REACHED_M
        result.stalled = outcome.ok and not result.reached_goal
        if not outcome.ok:
            raise motion_error(outcome)


def _no_field(_result: Any, _error: RequestError) -> None:
    """The result of ``GripperCommand`` has no field for a reason; the log has it."""
