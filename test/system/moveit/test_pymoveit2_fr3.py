"""The examples of pymoveit2, as PyPI has them, run to their end on the FR3."""

from __future__ import annotations

import pytest

from support.stack.moveit_client import MoveItClient, example, needs_pymoveit2

pytestmark = [pytest.mark.processes, needs_pymoveit2]
LAUNCH_ARGUMENTS = {"moveit": "true"}
EXAMPLES = [
    ("doctor",),
    ("joint_goal", "joint_positions:=[0.3, -0.7, 0.1, -2.2, 0.0, 1.5, 0.7]"),
    ("pose_goal",),
    ("pose_goal", "cartesian:=True"),
    ("fk",),
    ("ik",),
    ("collision_primitive", "shape:=sphere"),
    ("collision_primitive", "action:=remove", "shape:=sphere"),
    ("collision_mesh",),
    ("allow_collisions",),
    ("clear_planning_scene",),
    ("gripper", "action:=close"),
    ("gripper", "action:=open"),
    ("orientation_path_constraint",),
    ("session", "gripper:=True"),
]


@pytest.mark.parametrize("words", EXAMPLES, ids=lambda words: "-".join(words).split(":=")[0])
def test_an_example_succeeds(moveit: MoveItClient, words: tuple[str, ...]) -> None:
    assert moveit.node is not None
    done = example(*words)
    assert done.returncode == 0, done.stdout


def test_the_cancel_of_an_example_ends_its_motion(moveit: MoveItClient) -> None:
    """The example calls a motion that it has canceled failed; one that ends sooner succeeds."""
    assert moveit.node is not None
    done = example("pose_goal", "synchronous:=False", "cancel_after_secs:=0.3")
    assert done.returncode == 0 or "STATUS_CANCELED" in done.stdout, done.stdout
