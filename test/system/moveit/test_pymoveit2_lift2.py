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
    done = example(name, GROUP)
    assert done.returncode == 0, done.stdout
