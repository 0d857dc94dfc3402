"""Actions as commands: shapes, spaces and chunks that overlap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_policy.actions.chunks import ChunkPlan
from handiwork_policy.actions.spec import ActionChunk, ActionDecoder, ActionSpace, GripperSpace
from handiwork_policy.protocol.errors import BadAnswer

FR3 = Path(__file__).resolve().parents[4] / "src/robot_description/robots/fr3"


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(FR3)


def decoder(robot: Robot, space: ActionSpace, gripper: GripperSpace = GripperSpace.WIDTH) -> ActionDecoder:
    return ActionDecoder(robot, next(iter(robot.arms.values())), space, gripper, 2)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"action": np.zeros((2, 8))}, "no 'actions'"),
        ({"actions": np.zeros((2, 7))}, r"\[steps, 8\]"),
        ({"actions": np.zeros(8)}, r"\[steps, 8\]"),
        ({"actions": np.zeros((0, 8))}, r"\[steps, 8\]"),
        ({"actions": np.zeros((3, 8))}, "3 steps, but chunk is 2"),
        ({"actions": [["a"] * 8] * 2}, "no numbers"),
        ({"actions": np.where(np.arange(16).reshape(2, 8) == 11, np.nan, 0.0)}, r"actions\[1, 3\] is nan"),
        ({"actions": np.full((2, 8), np.inf)}, r"actions\[0, 0\] is inf"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(robot: Robot, answer: dict[str, object], words: str) -> None:
    with pytest.raises(BadAnswer, match=words):
        decoder(robot, ActionSpace.JOINT_POSITION).decode(answer, np.zeros(7))


def test_metadata_of_another_policy_is_refused(robot: Robot) -> None:
    made = decoder(robot, ActionSpace.JOINT_POSITION)
    made.check_metadata({"action_dim": 8, "something": "else"})
    with pytest.raises(BadAnswer, match="action_dim is 7"):
        made.check_metadata({"action_dim": 7})


def test_shares_of_the_gripper_are_openings(robot: Robot) -> None:
    arm = next(iter(robot.arms.values()))
    assert arm.gripper is not None
    rows = {"actions": np.column_stack([np.zeros((2, 7)), [0.0, 2.0]])}
    low, high = arm.gripper.min_width_m, arm.gripper.max_width_m
    shares = decoder(robot, ActionSpace.JOINT_POSITION, GripperSpace.OPEN_SHARE).decode(rows, np.zeros(7))
    np.testing.assert_allclose(shares.width_m, [low, high])
    closed = decoder(robot, ActionSpace.JOINT_POSITION, GripperSpace.CLOSED_SHARE).decode(rows, np.zeros(7))
    np.testing.assert_allclose(closed.width_m, [high, low])


def test_poses_and_their_changes_lead_the_hand_there(robot: Robot) -> None:
    arm = next(iter(robot.arms.values()))
    kinematics, q = ArmKinematics(robot, arm), np.array(arm.home_q)
    pose = kinematics.pose_and_jacobian(q)[0]
    rows = np.zeros((2, 7))
    rows[:, 2] = -0.01
    found = decoder(robot, ActionSpace.EE_DELTA).decode({"actions": rows}, q)
    end = kinematics.pose_and_jacobian(found.q[-1])[0]
    np.testing.assert_allclose(end[:3, 3], pose[:3, 3] - [0.0, 0.0, 0.02], atol=1e-4)
    np.testing.assert_allclose(end[:3, :3], pose[:3, :3], atol=1e-3)


def chunk(*values: float) -> ActionChunk:
    return ActionChunk(np.array(values)[:, None], np.full(len(values), np.nan))


def test_actions_that_come_too_late_are_left_out() -> None:
    plan = ChunkPlan()
    assert plan.take(chunk(1.0, 2.0, 3.0, 4.0), observed=-1, step=0) == 0
    assert plan.take(chunk(20.0, 30.0, 40.0), observed=1, step=3) == 1
    command = plan.command(3)
    assert command is not None and command.q[0] == 30.0
    assert plan.command(5) is None and plan.left(3) == 2


def test_the_plan_passes_from_chunk_to_chunk_without_a_jump() -> None:
    plan = ChunkPlan(blend_steps=3)
    plan.take(chunk(*[0.0] * 8), observed=-1, step=0)
    plan.take(chunk(*[4.0] * 8), observed=1, step=2)
    found = [command.q[0] for step in range(2, 7) if (command := plan.command(step)) is not None]
    assert found == [1.0, 2.0, 3.0, 4.0, 4.0]


def test_only_as_many_actions_are_executed_as_asked() -> None:
    plan = ChunkPlan(execute_steps=2)
    plan.take(chunk(1.0, 2.0, 3.0), observed=-1, step=0)
    assert plan.left(0) == 2 and plan.command(1) is not None and plan.command(2) is None
