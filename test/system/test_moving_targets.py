"""A cube is put elsewhere while the real stack picks it: it is followed, and a goal that follows nothing ends."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from handiwork_msgs.action import Pick
from handiwork_msgs.srv import SetObjectPose

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_ros.clients.skill_client import SkillReport
from handiwork_ros.conversions import pose_to_msg
from support.stack.rig import Rig

CUBE_M = np.array([0.5, 0.12, 0.0225])
"""Place of the cube in the scene file."""
SLOW = {"approach": 0.3, "descend": 0.1}
"""The share of full speed by stage: the cube is moved before the stage ends, also on a busy machine."""


def nudge(rig: Rig, by_m: tuple[float, float]) -> None:
    request = SetObjectPose.Request(object="cube")
    request.pose.header.frame_id = "world"
    request.pose.pose = pose_to_msg(Pose.of(CUBE_M + [*by_m, 0.0]))
    answer = rig.stack.call(SetObjectPose, "sim/set_object_pose", request)
    assert answer.outcome.code == answer.outcome.OK, answer.outcome.message


def picked(rig: Rig, stage: str, by_m: tuple[float, float], **fields: float) -> SkillReport:
    """Pick the cube, which is put elsewhere once a stage has begun."""
    begun = threading.Event()

    def note(progress: Progress) -> None:
        if progress.stage == stage:
            begun.set()

    goal = Pick.Goal(object="cube", max_velocity_scaling_factor=SLOW[stage], **fields)
    run = rig.client.send(goal, note)
    assert begun.wait(60.0)
    nudge(rig, by_m)
    report = run.result(120.0)
    rig.joints.assert_rests()
    return report


@pytest.mark.parametrize("stage", ["approach", "descend"])
def test_a_cube_that_is_put_elsewhere_is_picked_there(rig: Rig, stage: str) -> None:
    report = picked(rig, stage, (0.0, 0.06) if stage == "approach" else (0.0, 0.012))
    assert report.ok, report.outcome
    assert [timing.name for timing in report.stages].count("approach") >= 2


def test_a_goal_that_follows_nothing_ends_before_it_touches_anything(rig: Rig) -> None:
    report = picked(rig, "approach", (0.0, 0.06), follow_speed=0.0)
    assert report.outcome.code is Code.OBJECT_MOVED, report.outcome
    assert report.outcome.field_name == "object"
