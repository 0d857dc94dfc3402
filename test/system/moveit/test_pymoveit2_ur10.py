"""The examples of pymoveit2, as PyPI has them, run to their end on the UR10."""

from __future__ import annotations

import pytest

from support.stack.moveit_client import MoveItClient, example, needs_pymoveit2

pytestmark = [pytest.mark.processes, needs_pymoveit2]
LAUNCH_ARGUMENTS = {"moveit": "true", "robot": "ur10_suction", "scene": "ur10_suction_table"}
GROUP = "group_name:=ur10_arm"
EXAMPLES = ("joint_goal", "pose_goal", "fk", "ik", "orientation_path_constraint")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_succeeds(moveit: MoveItClient, name: str) -> None:
    assert moveit.node is not None
    done = example(name, GROUP)
    assert done.returncode == 0, done.stdout
