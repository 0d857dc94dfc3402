"""Previews on the real stack: nothing moves, the plan is executed as previewed, and refused where the world changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from handiwork_msgs.action import ExecutePlan, Pick
from handiwork_msgs.srv import SetObjectPose, UpdateScene
from visualization_msgs.msg import Marker, MarkerArray

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_ros.actions.skill_report import SkillReport
from handiwork_ros.conversions import pose_to_msg, world_object_to_msg
from handiwork_ros.rclpy_support.qos import LATCHED
from support.stack.rig import SLOW, Rig, wait_for

CUBE_M = np.array([0.5, 0.12, 0.0225])
"""Place of the cube in the scene file."""
STILL_RAD = 0.002
"""What a simulated joint at rest moves by, as its drive settles."""
TRACKED_RAD = 0.02
"""How far the simulated drives may be off their commands on the way."""


def preview(rig: Rig, **keys: Any) -> SkillReport:
    report = rig.client.pick("cube", plan_only=True, **keys)
    assert report.outcome.ok, report.outcome
    assert report.plan is not None
    return report


def nudge(rig: Rig, by_m: float) -> None:
    """Move the cube along x."""
    request = SetObjectPose.Request(object="cube")
    request.pose.header.frame_id = "world"
    request.pose.pose = pose_to_msg(Pose.of(CUBE_M + [by_m, 0.0, 0.0]))
    answer = rig.stack.call(SetObjectPose, "sim/set_object_pose", request)
    assert answer.outcome.code == answer.outcome.OK, answer.outcome.message


def change_scene(rig: Rig, request: UpdateScene.Request) -> None:
    answer = rig.stack.call(UpdateScene, "planner/update_scene", request)
    assert answer.outcome.code == Code.OK, answer.outcome.message


def test_a_preview_moves_nothing_and_its_plan_is_followed(rig: Rig) -> None:
    before = np.array(rig.joints.next().positions)
    # Slow, so that a busy machine delivers enough samples of the motion.
    report = rig.client.run("pick", {"object": "cube", "max_velocity_scaling_factor": 0.3}, plan_only=True)
    assert report.outcome.ok, report.outcome
    plan = report.plan
    assert plan is not None
    assert [motion.name for motion in plan.motions] == ["approach", "descend", "lift"]
    for earlier, later in zip(plan.motions, plan.motions[1:], strict=False):
        assert np.allclose(earlier.trajectory.q[-1], later.trajectory.q[0], atol=1e-9)
    assert plan.path_length_m > 0.3
    assert plan.motion_time_s == pytest.approx(sum(m.trajectory.duration_s for m in plan.motions))
    assert report.held_object == ""
    assert max(sample.speed for sample in rig.joints.samples) < JOINT_REST
    assert np.abs(np.array(rig.joints.newest.positions) - before).max() < STILL_RAD

    rig.joints.clear()
    done = rig.client.execute(plan)
    assert done.outcome.ok, done.outcome
    assert (done.planning_time_s, done.held_object) == (0.0, "cube")
    # Joints that are not the arm's are the fingers, which come last.
    arm = len(plan.motions[0].trajectory.joint_names)
    moving = [sample.positions[:arm] for sample in rig.joints.samples if sample.speed > 0.1]
    # A busy machine delivers a part of the samples only: a dozen along the path shows as much.
    assert len(moving) > 12
    off = [min(np.abs(path_q - q).max() for path_q in _paths(plan)) for q in moving]
    assert max(off) < TRACKED_RAD


def _paths(plan: Any) -> list[Any]:
    rows = []
    for motion in plan.motions:
        t = np.linspace(0.0, motion.trajectory.duration_s, 200)
        rows += [motion.trajectory.sample(float(one))[0] for one in t]
    return rows


def test_a_place_is_previewed_with_the_object_in_the_hand(rig: Rig) -> None:
    assert rig.client.pick("cube").ok
    report = rig.client.place("cube", "bin", plan_only=True)
    assert report.outcome.ok, report.outcome
    assert report.plan is not None
    assert [motion.name for motion in report.plan.motions] == ["transit", "descend", "retreat"]
    assert report.held_object == "cube"
    done = rig.client.execute(report.plan)
    assert done.outcome.ok, done.outcome
    assert done.planning_time_s == 0.0


def test_a_plan_is_refused_once_an_object_has_moved(rig: Rig) -> None:
    plan = preview(rig).plan
    assert plan is not None
    nudge(rig, 0.012)
    rig.joints.clear()
    report = rig.client.execute(plan)
    assert report.outcome.code is Code.OBJECT_MOVED
    assert report.message.startswith("'cube' moved by 12 mm since the preview; preview again")
    assert max(sample.speed for sample in rig.joints.samples) < JOINT_REST
    nudge(rig, 0.0)
    assert rig.client.execute(plan).ok


def test_a_plan_is_refused_where_the_arm_has_gone(rig: Rig) -> None:
    plan = preview(rig).plan
    assert plan is not None
    assert rig.client.run("goto_pose", {"position": [0.45, -0.2, 0.35]}).ok
    report = rig.client.execute(plan)
    assert report.outcome.code is Code.NOT_IN_PLACE
    assert "joint 'fr3_joint" in report.message


def test_a_plan_is_refused_for_a_new_obstacle_of_the_planner(rig: Rig) -> None:
    plan = preview(rig).plan
    assert plan is not None
    shape = Shape(ShapeKind.BOX, np.full(3, 0.05), Pose.identity())
    block = world_object_to_msg(WorldObject("block", (shape,)))
    change_scene(rig, UpdateScene.Request(add=[block], add_poses=[pose_to_msg(Pose.of((0.3, -0.5, 0.5)))]))
    try:
        report = rig.client.execute(plan)
    finally:
        change_scene(rig, UpdateScene.Request(remove=["block"]))
    assert report.outcome.code is Code.OBJECT_MOVED
    assert "obstacles" in report.message


def test_an_unknown_plan_is_refused_in_words(rig: Rig) -> None:
    report = rig.client.send(ExecutePlan.Goal(plan_id="pick-0")).result(20.0)
    assert (report.outcome.code, report.outcome.field_name) == (Code.BAD_GOAL, "plan_id")
    assert "'pick-0' is not known" in report.message


def test_a_preview_waits_for_no_arm_and_stops_none(rig: Rig) -> None:
    run = rig.send_until(SLOW, "approach")
    report = rig.client.send(Pick.Goal(object="cube", plan_only=True, when_busy="preempt")).result(20.0)
    assert report.outcome.code is Code.BUSY
    assert "at rest" in report.message
    assert not run.done
    run.cancel()
    assert run.result(20.0).outcome.code is Code.CANCELED


def test_an_execution_can_be_canceled(rig: Rig) -> None:
    goal = Pick.Goal(object="cube", plan_only=True, max_velocity_scaling_factor=0.1)
    plan = rig.client.send(goal).result(60.0).plan
    assert plan is not None
    stages: list[str] = []

    def note(progress: Progress) -> None:
        stages.append(progress.stage)

    run = rig.client.send(ExecutePlan.Goal(plan_id=plan.plan_id), note)
    wait_for("the approach", lambda: "approach" in stages)
    run.cancel()
    assert run.result(20.0).outcome.code is Code.CANCELED
    rig.joints.assert_rests()


def test_a_plan_is_drawn(rig: Rig) -> None:
    drawn: list[MarkerArray] = []
    rig.client.node.create_subscription(MarkerArray, "preview/markers", drawn.append, LATCHED)
    preview(rig)
    wait_for("preview/markers", lambda: bool(drawn))
    wait_for("the newest plan", lambda: len(drawn[-1].markers) > 1)
    markers = drawn[-1].markers
    assert markers[0].action == Marker.DELETEALL
    lines = [marker for marker in markers if marker.type == Marker.LINE_STRIP]
    assert [marker.ns for marker in lines] == ["approach path", "descend path", "lift path"]
    assert all(marker.header.frame_id == "world" for marker in markers[1:])
