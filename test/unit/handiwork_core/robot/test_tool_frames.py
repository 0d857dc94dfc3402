"""Links and named frames for which goals may be given: rigid with the hand, or refused with the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot, ToolFrame
from handiwork_core.robot.tool_frames import ee_T_tool, tool_names
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS


@pytest.fixture
def tooled() -> Robot:
    """Return the FR3 with a camera on its flange, and a frame on its elbow."""
    robot = load_robot(ROBOTS / "fr3")
    camera = ToolFrame("fr3_link8", Pose.of((0.05, 0.0, 0.02), Rotation.from_rpy(0.0, 0.0, 1.0)))
    return replace(robot, tool_frames={"camera": camera, "elbow": ToolFrame("fr3_link4", Pose.identity())})


@pytest.mark.parametrize("name", ["camera", "fr3_hand_tcp", "fr3/fr3_link7", "fr3_hand"])
def test_a_rigid_frame_is_where_forward_kinematics_have_it_in_any_posture(tooled: Robot, name: str) -> None:
    arm = tooled.arm("")
    found = ee_T_tool(tooled, arm, name)
    rng = np.random.default_rng(0)
    for _ in range(5):
        poses = link_poses(tooled, dict(zip(arm.joint_names, rng.uniform(-1.0, 1.0, 7), strict=True)))
        frame = tooled.tool_frames.get(name)
        link = frame.link if frame else name.removeprefix("fr3/")
        there = poses[link] @ (frame.link_T_tool if frame else Pose.identity())
        assert (poses[arm.ee_link] @ found).almost_equal(there, within_m=1e-12, within_rad=1e-6)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "fr3_link4",
            "fr3_link4 is before joint fr3_joint5, so that a goal for it leaves the joints behind it open",
        ),
        ("elbow", "fr3_link4 is before joint fr3_joint5"),
        ("fr3_leftfinger", "fr3_leftfinger moves against the hand by joint fr3_finger_joint1; use one of"),
        ("camra", "is 'camra', which is not known; did you mean 'camera'"),
    ],
)
def test_a_frame_that_is_not_rigid_is_refused_with_the_reason(tooled: Robot, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ee_T_tool(tooled, tooled.arm(""), name)


def test_only_rigid_names_are_offered(tooled: Robot) -> None:
    assert tool_names(tooled, tooled.arm("")) == [
        "camera",
        "fr3_link7",
        "fr3_link8",
        "fr3_hand",
        "fr3_hand_tcp",
    ]
