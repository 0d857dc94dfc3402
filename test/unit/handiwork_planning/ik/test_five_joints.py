"""Plans of an arm with five joints: what it can have is reached, and a refusal says which turn it lacks."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import PlanRequest, PoseGoals
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import link_poses
from handiwork_planning.cpu_engine import CpuEngine
from support.five_joint_arm import five_joint_arm
from support.planning.demo_world import box, world_of

BASE = Pose.of((0.4, -0.2, 0.1), Rotation.from_rpy(0.0, 0.0, 0.9))
Q = (0.4, 0.3, 0.9, 0.6, -0.5)


def test_a_refusal_names_the_turn_and_an_orientation_that_is_possible() -> None:
    robot = five_joint_arm()
    arm = robot.arm("")
    engine = CpuEngine(robot, BASE, lambda _share, _text: None)
    engine.update_world(world_of(("cube", (box((0.05, 0.05, 0.05)),), Pose.of((3.0, 0.0, 0.0)))))

    def planned(pose: Pose) -> tuple[Code, str]:
        result = engine.plan(PlanRequest("arm", arm.home_q, PoseGoals((pose,))), lambda: False)
        return result.code, result.message

    hand = BASE @ link_poses(robot, dict(zip(arm.joint_names, Q, strict=True)), ("hand",))["hand"]
    assert planned(hand) == (Code.OK, "")
    sideways = link_poses(robot, dict(zip(arm.joint_names, (*Q[:4], 0.0), strict=True)), ("hand",))["hand"]
    code, message = planned(BASE @ sideways @ Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(0.3, 0.0, 0.0)))
    assert code is Code.NO_IK
    assert "with 5 joints the hand cannot turn freely about its x axis there" in message
    numbers = [float(word) for word in message.split("(")[1].split(")")[0].split(",")]
    place = Pose.of((BASE @ sideways).translation_m, BASE.rotation @ Rotation.from_wxyz(np.array(numbers)))
    assert planned(place)[0] is Code.OK
    engine.close()
