"""The examples of pymoveit2, as PyPI has them, run to their end on the left arm of the Lift-2."""

from __future__ import annotations

import pytest

from support.stack.moveit_client import MoveItClient, example, needs_pymoveit2

pytestmark = [pytest.mark.processes, needs_pymoveit2]
LAUNCH_ARGUMENTS = {
    "moveit": "true",
    "robot": "lift2",
    "scene": "lift2_two_arms",
    "conditions": "conditions_two_arms",
}
GROUP = "group_name:=left_arm"
EXAMPLES = ("joint_goal", "pose_goal", "fk", "ik", "orientation_path_constraint")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_succeeds(moveit: MoveItClient, name: str) -> None:
    assert moveit.node is not None
    # Half a radian, the default turn of the held example, leads into the robot's own body.
    done = example(name, GROUP, "goal_joint_offset:=0.1")
    assert done.returncode == 0, done.stdout
