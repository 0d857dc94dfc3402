"""Conversions of messages to values and back, and every refusal of a message."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    Attachment,
    CandidateVerdict,
    PlanResult,
    SceneQuery,
)
from handiwork_core.contracts.predicate import Evidence, Finding, Truth
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    WorldObject,
)
from handiwork_core.scene.mesh import closed_mesh, signed_volume
from handiwork_ros import conversions as to

POSE = Pose.of((0.1, -0.2, 0.3), Rotation.from_rpy(0.4, -0.5, 0.6))
TIGHT = {"within_m": 1e-12, "within_rad": 1e-6}


def path() -> Trajectory:
    q = np.arange(6.0).reshape(3, 2)
    return Trajectory(("a", "b"), np.array([0.0, 0.25, 1.0]), q, q * 0.1, q * 0.01)


def test_a_pose_keeps_its_place_and_puts_w_last() -> None:
    msg = to.pose_to_msg(Pose.of((1.0, 2.0, 3.0), Rotation.from_wxyz((0.8, 0.6, 0.0, 0.0))))
    assert (msg.orientation.w, msg.orientation.x) == pytest.approx((0.8, 0.6))
    assert to.pose_from_msg(to.pose_to_msg(POSE)).almost_equal(POSE, **TIGHT)
    assert to.transform_from_msg(to.transform_to_msg(POSE)).almost_equal(POSE, **TIGHT)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda m: setattr(m.orientation, "w", 0.0), "goal.orientation"),
        (lambda m: setattr(m.orientation, "w", 1.1), "goal.orientation"),
        (lambda m: setattr(m.orientation, "x", math.nan), "goal.orientation"),
        (lambda m: setattr(m.position, "z", math.inf), "goal.position"),
    ],
)
def test_a_bad_pose_is_refused_by_its_field(change: object, field: str) -> None:
    msg = to.pose_to_msg(Pose.identity())
    change(msg)  # type: ignore[operator]
    with pytest.raises(to.BadMessage) as refusal:
        to.pose_from_msg(msg, "goal")
    assert refusal.value.outcome.code is Code.BAD_NUMBER
    assert refusal.value.outcome.field_name == field


def test_many_poses_are_read_as_one_by_one_and_a_bad_one_is_named() -> None:
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(20, 4))
    turns *= (1.0 + rng.uniform(-9e-4, 9e-4, (20, 1))) / np.linalg.norm(turns, axis=1, keepdims=True)
    messages = []
    for turn in turns:
        message = to.pose_to_msg(Pose.of(rng.normal(size=3)))
        o = message.orientation
        o.x, o.y, o.z, o.w = turn.tolist()
        messages.append(message)
    poses = to.poses_from_msg(messages, lambda i: f"goals[{i}]")
    for pose, message in zip(poses, messages, strict=True):
        alone = to.pose_from_msg(message)
        np.testing.assert_array_equal(pose.translation_m, alone.translation_m)
        np.testing.assert_allclose(pose.rotation.wxyz, alone.rotation.wxyz, rtol=0.0, atol=1e-15)
        assert pose.rotation.wxyz[0] >= 0.0
    assert to.poses_from_msg([], str) == ()
    for spoil in (math.nan, 1.7):
        messages[7].orientation.w = spoil
        with pytest.raises(to.BadMessage) as refusal:
            to.poses_from_msg(messages, lambda i: f"goals[{i}]")
        assert refusal.value.outcome.field_name == "goals[7].orientation"


@pytest.mark.parametrize("stamp_s", [0.0, 1.25, 12.999999999, 7.9999999999])
def test_time_survives_to_the_nanosecond(stamp_s: float) -> None:
    assert to.time_from_msg(to.time_to_msg(stamp_s)) == pytest.approx(stamp_s, abs=1e-9)


def test_a_trajectory_survives() -> None:
    back = to.trajectory_from_msg(to.trajectory_to_msg(path()))
    assert back.joint_names == ("a", "b")
    for name in ("t_s", "q", "qd", "qdd"):
        np.testing.assert_allclose(getattr(back, name), getattr(path(), name), atol=1e-9)


def test_a_trajectory_that_does_not_rise_in_time_or_lacks_joints_is_refused() -> None:
    msg = to.trajectory_to_msg(path())
    msg.points[2].time_from_start = msg.points[1].time_from_start
    with pytest.raises(to.BadMessage, match="time_from_start"):
        to.trajectory_from_msg(msg)
    msg = to.trajectory_to_msg(path())
    msg.points[1].positions = [1.0]
    with pytest.raises(to.BadMessage, match=r"positions\[1\]"):
        to.trajectory_from_msg(msg)


def test_outcome_and_finding_survive() -> None:
    outcome = Outcome(Code.NO_IK, "why", "approach", "goals[1]", BodyPair("a", "b"), 0.1, 0.2)
    assert to.outcome_from_msg(to.outcome_to_msg(outcome)) == outcome
    assert to.code_from_msg(4711) is Code.INTERNAL
    finding = Finding(Truth.TRUE, 0.02, "2 cm inside", (Evidence("depth", 0.02, "m", "cube"),))
    assert to.finding_from_msg(to.finding_to_msg(finding)) == finding


def test_the_world_survives() -> None:
    shapes = (
        Shape(ShapeKind.BOX, np.array([0.1, 0.2, 0.3]), POSE),
        Shape(ShapeKind.CONVEX, np.zeros(0), POSE, np.arange(12.0).reshape(4, 3)),
    )
    back = to.world_objects_from_msg(
        to.world_objects_to_msg([WorldObject("bin", shapes, True, 0.5)], 3, 1.0)
    )["bin"]
    assert (back.is_static, back.mass_kg) == (True, 0.5)
    np.testing.assert_allclose(back.shapes[0].size, shapes[0].size)
    np.testing.assert_allclose(back.shapes[1].vertices, shapes[1].vertices)  # type: ignore[arg-type]
    state = ObjectState(POSE, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), 2.5)
    seen = to.object_states_from_msg(to.object_states_to_msg({"bin": state}, 3, 2.5))["bin"]
    assert seen.world_T_object.almost_equal(POSE, **TIGHT)
    np.testing.assert_allclose(seen.world_w_object, state.world_w_object)
    assert seen.stamp_s == 2.5
    contact = Contact("a", "b", np.array([0.0, 0.0, 9.0]), np.array([0.1, 0.2, 0.3]))
    touch = to.contacts_from_msg(to.contacts_to_msg([contact], 1.0))[0]
    np.testing.assert_allclose(touch.force_on_a_n, contact.force_on_a_n)
    joints = JointState(1.5, {"j": 0.3}, {"j": 0.1})
    assert to.joint_state_from_msg(to.joint_state_to_msg(joints)) == joints


def test_the_time_and_the_covariance_of_a_measurement_survive() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(6, 6))
    state = ObjectState(POSE, np.zeros(3), np.zeros(3), 2.25, frozen(factor @ factor.T))
    seen = to.object_states_from_msg(to.object_states_to_msg({"bin": state}, 3, 2.5))["bin"]
    assert seen.stamp_s == 2.25
    np.testing.assert_allclose(seen.pose_covariance, state.pose_covariance, rtol=1e-12)  # type: ignore[arg-type]
    exact = to.object_states_to_msg({"bin": ObjectState(POSE, np.zeros(3), np.zeros(3), 2.5)}, 3, 2.5)
    assert (exact.states[0].age, len(exact.states[0].pose_covariance)) == (0.0, 0)
    exact.states[0].pose_covariance = [0.0] * 36
    assert to.object_states_from_msg(exact)["bin"].pose_covariance is None


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        (0, float("nan"), "holds nan at 0; send finite"),
        (7, -1.0, r"has variance -1 at \(1, 1\); send variances"),
        (1, 5e-5, r"has 5e-05 at \(0, 1\) and 0 at \(1, 0\); send a symmetric"),
    ],
)
def test_a_bad_covariance_names_the_object_and_what_to_send(at: int, value: float, words: str) -> None:
    numbers = (1e-4 * np.eye(6)).ravel()
    numbers[at] = value
    message = to.object_states_to_msg({"cube": ObjectState(POSE, np.zeros(3), np.zeros(3), 1.0)}, 3, 1.0)
    message.states[0].pose_covariance = numbers.tolist()
    with pytest.raises(to.BadMessage, match=rf"states\[0\]\.pose_covariance of 'cube' {words}"):
        to.object_states_from_msg(message)


def test_bad_shapes_are_refused() -> None:
    good = to.shape_to_msg(Shape(ShapeKind.BOX, np.ones(3), POSE))
    good.size = [1.0, -1.0, 1.0]
    with pytest.raises(to.BadMessage, match=r"s\.size"):
        to.shape_from_msg(good, "s")
    good.kind = 77
    with pytest.raises(to.BadMessage, match=r"s\.kind is 77"):
        to.shape_from_msg(good, "s")


def test_options_and_results_survive() -> None:
    scene = SceneQuery(
        frozenset({"cube"}),
        (Attachment("cup", "hand", POSE),),
        frozenset({BodyPair("a", "b")}),
        (("finger", 0.02),),
    )
    start = JointState(0.0, {"j": 0.3})
    options = to.PlanOptions("arm", start, scene, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), 2.0, 0.5, 0.25, 7, 3)
    back = to.options_from_msg(to.options_to_msg(options))
    assert back.scene.ignored == scene.ignored
    assert back.scene.allowed == scene.allowed
    assert back.scene.gripper_m == scene.gripper_m
    assert back.scene.attached[0].link_T_object.almost_equal(POSE, **TIGHT)
    assert (back.hold_vec_weight, back.start) == (options.hold_vec_weight, start)
    assert (back.budget_s, back.velocity_scaling, back.seed, back.min_world_version) == (2.0, 0.5, 7, 3)
    result = PlanResult(Code.OK, "", path(), 1, 0.2, None, 0.0, 0.001, 0.002, 9, 5)
    seen = to.plan_result_from_msg(to.plan_result_to_msg(result))
    assert (seen.code, seen.goal_index, seen.world_version, seen.seed) == (Code.OK, 1, 9, 5)
    lie = to.plan_result_to_msg(PlanResult(Code.OK))
    assert to.plan_result_from_msg(lie).code is Code.INTERNAL
    verdict = CandidateVerdict(Code.OK, np.arange(4.0).reshape(2, 2), 1.5, waypoint=1)
    back_verdict = to.candidate_verdict_from_msg(to.candidate_verdict_to_msg(verdict), 2)
    np.testing.assert_allclose(back_verdict.q, verdict.q)
    assert back_verdict.waypoint == 1


def test_meshes_come_back_and_open_ones_are_refused() -> None:
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=np.float64)
    vertices, triangles = closed_mesh(corners, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    msg = to.shape_to_msg(Shape(ShapeKind.MESH, np.zeros(0), POSE, vertices, triangles))
    back = to.shape_from_msg(msg)
    assert back.kind is ShapeKind.MESH
    assert back.vertices is not None
    assert back.triangles is not None
    assert np.sort(np.linalg.norm(back.vertices, axis=1)).tolist() == [0.0, 1.0, 1.0, 1.0]
    assert signed_volume(back.vertices, back.triangles) == pytest.approx(1.0 / 6.0)
    for bad, text in (
        (list(msg.triangles)[:9], "at least four"),
        ([0, 1], "three for each"),
        ([0, 1, 9] * 4, "vertices from 0"),
    ):
        msg.triangles = bad
        with pytest.raises(to.BadMessage, match=text):
            to.shape_from_msg(msg)
