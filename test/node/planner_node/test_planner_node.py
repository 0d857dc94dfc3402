"""The planning services over a real node, with an engine whose duration and answers the test controls."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np
import pytest
from handiwork_msgs import srv
from lifecycle_msgs.msg import Transition
from rclpy.node import Node
from rclpy.parameter import Parameter

from handiwork_core.contracts.planning import (
    PathRest,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
    Verdict,
)
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    Shape,
    ShapeKind,
    WorldObject,
)
from handiwork_ros import conversions as to
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from planner_node.node import PlannerNode
from planner_node.pipeline.engine_worker import QUEUE_LIMIT
from support.nodes.planner_bench import ARM, ROBOT, ROBOT_DIR, Bench, SlowEngine, joint_request, never
from support.nodes.ros_stage import stage, wait_for


def test_the_engine_loads_while_nobody_has_found_the_base_of_the_robot(nothing_left_over: None) -> None:
    """Discovery takes seconds after a restart, and the engine loads meanwhile."""
    SlowEngine.preloaded.clear()
    with stage() as made:
        given = [Parameter("robot_dir", value=str(ROBOT_DIR))]
        planner = PlannerNode(lambda: {"slow": SlowEngine}, context=made.context, parameter_overrides=given)
        made.add(planner)
        assert SlowEngine.preloaded.wait(60.0)
        wait_for(lambda: "waiting for frame" in planner.status_text)
        assert not planner.is_active
        planner.begin_shutdown()
        wait_for(planner.is_idle)
        planner.end_shutdown()


def test_a_plan_comes_back_with_its_world_and_seed(bench: Bench) -> None:
    result = bench.client.plan(joint_request(), should_stop=never)
    assert result.code is Code.OK, result.message
    assert (result.world_version, result.seed) == (4, 3)
    np.testing.assert_allclose(result.trajectory.q[-1], ARM.home_q + 0.1)  # type: ignore[union-attr]
    verdict = bench.client.validate(ARM.name, result.trajectory, SceneQuery(), should_stop=never)  # type: ignore[arg-type]
    assert verdict.code is Code.OK, verdict.message


def test_the_rest_of_a_motion_is_judged_in_a_world_that_is_new_enough(bench: Bench) -> None:
    t = np.linspace(0.0, 1.0, 11)
    q = np.repeat(ARM.home_q[None], 11, axis=0)
    path = Trajectory(ARM.joint_names, t, q, q * 0.0, q * 0.0)

    def judged(rest: PathRest) -> Verdict:
        return bench.client.validate_rest(ARM.name, path, SceneQuery(), rest, should_stop=never)

    verdict = judged(PathRest(0.35, frozenset({"cube"}), 4, 1.0))
    assert verdict.code is Code.OK, verdict.message
    assert verdict.message == "0.00 ['cube'] 8", "what is behind the arm is not even sent"
    newer = judged(PathRest(0.35, frozenset({"cube"}), 5, 1.0))
    assert newer.code is Code.STALE_WORLD and "is at version 4" in newer.message
    later = judged(PathRest(0.35, frozenset({"cube"}), 4, 1.5))
    assert later.code is Code.STALE_WORLD and "min_states_stamp is 1.500" in later.message
    request = srv.ValidateTrajectory.Request(
        under_way=True, from_time=-1.0, trajectory=to.trajectory_to_msg(path)
    )
    answer = bench.ask(srv.ValidateTrajectory, "validate_trajectory", request)
    assert answer.outcome.code == Code.BAD_NUMBER and answer.outcome.field == "from_time"


def test_life_signs_go_on_during_a_long_plan(bench: Bench) -> None:
    SlowEngine.gate.clear()
    results: list[PlanResult] = []
    worker = threading.Thread(
        target=lambda: results.append(bench.client.plan(joint_request(), should_stop=never))
    )
    worker.start()
    assert SlowEngine.entered.wait(60.0)
    begun = time.monotonic()
    wait_for(lambda: bench.signs.sign("planner_node").heard_s > begun + 2.0)  # type: ignore[union-attr]
    assert not results
    SlowEngine.gate.set()
    worker.join(60.0)
    assert results[0].code is Code.OK


def test_a_planner_with_a_full_queue_is_asked_again_while_there_is_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    SlowEngine.gate.clear()
    taken, results = list[bool](), list[Code]()
    worker = bench.planner._worker
    assert worker is not None
    submit = worker.submit

    def recorded_submit(job: Any) -> bool:
        taken.append(submit(job))
        return taken[-1]

    monkeypatch.setattr(worker, "submit", recorded_submit)
    asked = [
        threading.Thread(
            target=lambda: results.append(bench.client.plan(joint_request(), should_stop=never).code)
        )
        for _ in range(QUEUE_LIMIT + 1)
    ]
    for thread in asked:
        thread.start()
    wait_for(lambda: taken.count(True) == QUEUE_LIMIT and False in taken)
    SlowEngine.gate.set()
    for thread in asked:
        thread.join(60.0)
    assert results == [Code.OK] * (QUEUE_LIMIT + 1)


def test_a_failing_engine_is_internal_and_the_node_lives_on(bench: Bench) -> None:
    goal = PoseGoals((Pose.of((0.4, 0.0, 0.4)),))
    broken = PlanRequest(ARM.name, ARM.home_q, goal)
    result = bench.client.plan(broken, should_stop=never)
    assert result.code is Code.INTERNAL
    assert "planted" in result.message
    assert bench.client.plan(joint_request(), should_stop=never).code is Code.OK


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"velocity_scaling": 1.5}, Code.BAD_NUMBER, "max_velocity_scaling_factor"),
        ({"budget_s": -1.0}, Code.BAD_NUMBER, "allowed_planning_time"),
        ({"scene": SceneQuery(ignored=frozenset({"cub"}))}, Code.UNKNOWN_OBJECT, "'cube'"),
        ({"hold_vec_weight": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)}, Code.UNSUPPORTED, "hold_vec_weight"),
    ],
)
def test_bad_requests_are_refused_by_name(bench: Bench, changes: Any, code: Code, words: str) -> None:
    result = bench.client.plan(joint_request(**changes), should_stop=never)
    assert result.code is code, result.message
    assert words in result.message
    assert not SlowEngine.entered.is_set()


def test_nan_zero_quaternion_and_unknown_frame_are_refused(bench: Bench) -> None:
    request = srv.PlanToPoses.Request()
    request.goals.header.frame_id = "wrold"
    request.goals.poses = [to.pose_to_msg(Pose.identity())]
    answer = bench.ask(srv.PlanToPoses, "plan_to_poses", request).result.outcome
    assert (answer.code, "wrold" in answer.message) == (Code.UNKNOWN_FRAME, True), answer.message
    request.goals.header.frame_id = "world"
    request.goals.poses[0].position.x = math.nan
    answer = bench.ask(srv.PlanToPoses, "plan_to_poses", request).result.outcome
    assert (answer.code, answer.field) == (Code.BAD_NUMBER, "goals[0].position")


def test_scene_updates_are_all_or_nothing(bench: Bench) -> None:
    wall = to.world_object_to_msg(
        WorldObject("wall", (Shape(ShapeKind.SPHERE, np.ones(1), Pose.identity()),))
    )
    pose = to.pose_to_msg(Pose.of((0.5, 0.0, 2.0)))
    bad = bench.ask(
        srv.UpdateScene, "update_scene", srv.UpdateScene.Request(add=[wall], add_poses=[pose], remove=["x"])
    )
    assert bad.outcome.code == Code.UNKNOWN_OBJECT
    good = bench.ask(srv.UpdateScene, "update_scene", srv.UpdateScene.Request(add=[wall], add_poses=[pose]))
    assert (good.outcome.code, good.world_version) == (Code.OK, 5)
    seen = bench.ask(srv.Explain, "explain", srv.Explain.Request())
    assert seen.outcome.message == "['cube', 'wall']"
    assert seen.world_version == 5
    with stage() as on:
        node = Node("supervisor", context=on.context)
        source = RosWorldSource(node, ROBOT, Subscriptions(planner=True))
        on.add(node)
        wait_for(lambda: set(source.snapshot().planner_objects) == {"wall"})
        (shape,) = source.snapshot().planner_objects["wall"].shapes
        assert shape.object_T_shape.translation_m.tolist() == [0.5, 0.0, 2.0]
        before = source.snapshot().planner_version
        bench.ask(srv.UpdateScene, "update_scene", srv.UpdateScene.Request(remove=["wall"]))
        wait_for(lambda: source.snapshot().planner_version == before + 1)
        assert not source.snapshot().planner_objects
        attach = srv.AttachObject.Request(use_current_pose=False)
        attach.attachment.object, attach.attachment.link = "cube", ARM.ee_link
        bench.ask(srv.AttachObject, "attach_object", attach)
        wait_for(lambda: source.snapshot().planner_version == before + 2)
        wait_for(lambda: source.snapshot().planner_attached.keys() == {"cube"})
        assert source.snapshot().planner_attached["cube"][0] == ARM.ee_link
        bench.ask(srv.DetachObject, "detach_object", srv.DetachObject.Request(object="cube"))
        wait_for(lambda: source.snapshot().planner_version == before + 3)
        wait_for(lambda: not source.snapshot().planner_attached)


def test_attached_objects_are_refused_by_an_engine_that_cannot(bench: Bench) -> None:
    request = srv.AttachObject.Request(use_current_pose=False)
    request.attachment.object, request.attachment.link = "cube", ARM.ee_link
    assert bench.ask(srv.AttachObject, "attach_object", request).outcome.code == Code.OK
    assert "attached" in bench.client.plan(joint_request(), should_stop=never).message
    assert (
        bench.ask(srv.DetachObject, "detach_object", srv.DetachObject.Request(object="cube")).outcome.code
        == Code.OK
    )
    assert bench.client.plan(joint_request(), should_stop=never).code is Code.OK


def test_a_deactivated_planner_says_so(bench: Bench) -> None:
    bench.stage.executor.create_task(bench.planner.change_state, Transition.TRANSITION_DEACTIVATE)
    wait_for(lambda: not bench.planner.is_active)
    assert bench.client.plan(joint_request(), should_stop=never).code is Code.NOT_ACTIVE


def test_a_silent_planner_is_lost_and_a_stop_ends_the_call(bench: Bench) -> None:
    SlowEngine.gate.clear()
    stop_at = time.monotonic() + 0.3
    assert (
        bench.client.plan(joint_request(), should_stop=lambda: time.monotonic() > stop_at).code
        is Code.CANCELED
    )
    SlowEngine.entered.clear()
    silence = threading.Timer(0.3, bench.planner._beat.cancel)
    silence.start()
    begun = time.monotonic()
    result = bench.client.plan(joint_request(budget_s=60.0), should_stop=never)
    assert result.code is Code.PLANNER_LOST
    assert time.monotonic() - begun < 10.0


def test_an_engine_that_is_not_installed_ends_the_start(nothing_left_over: None) -> None:
    with stage() as made:
        overrides = [Parameter("robot_dir", value=str(ROBOT_DIR)), Parameter("engine", value="curobo")]
        planner = PlannerNode(
            lambda: {"slow": SlowEngine}, context=made.context, parameter_overrides=overrides
        )
        made.add(planner)
        wait_for(lambda: planner.exit_code == 2)
        assert "curobo" in planner.status_text
        planner.begin_shutdown()
        planner.end_shutdown()
